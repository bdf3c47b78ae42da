"""Fingerprint the source files of a retriever, to detect answers made by other code.

Python loads a module once per session. If its file is edited later, the old code still runs and
keeps the old fingerprint.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from uuid import uuid4

DIGITS = 16
LARGEST = 10_000_000
"""Largest file, in bytes, to hash; a larger one is identified by size and date."""
OURSELVES = __name__.partition(".")[0]
INSTALLED = ("site-packages", "dist-packages")
STANDARD = Path(ast.__file__).resolve().parent

_LOADED: dict[str, tuple[Any, str]] = {}
"""The fingerprint of each module when it was loaded, and its spec, which every load replaces."""


class StaleCodeWarning(UserWarning):
    """The file of a retriever was edited after it was imported."""


@dataclass(frozen=True)
class LocalFile:
    """A source file of the user's project."""

    name: str
    """Its path, relative to the folder that imports start in."""
    path: Path
    module: ModuleType | None
    """None if nothing has imported it yet."""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the source as loaded, or of the file if it is not loaded."""
        if self.module is None:
            return digest(self.path)
        spec = getattr(self.module, "__spec__", None)
        seen = _LOADED.get(self.module.__name__)
        if seen is None or seen[0] is not spec:
            # Seen for the first time: its functions show whether it was edited since loading.
            same = _are_in_file(_functions(self.module), self.module, self.path)
            seen = (spec, digest(self.path) if same else _unknown())
            _LOADED[self.module.__name__] = seen
        return seen[1]

    @property
    def is_stale(self) -> bool:
        """Whether the file was changed since it was loaded."""
        return self.fingerprint != digest(self.path)


def code_of(value: Any, module: ModuleType | None = None) -> dict[str, str]:
    """Map each source file of a retriever to its fingerprint.

    These are the file of the function (or of the ``module`` that holds an object) and the local
    files it imports. A function without a file, as in a notebook, is identified by its own source,
    that of the functions it calls, and the local files it uses.
    """
    function = _function(value)
    own = module or sys.modules.get(getattr(function, "__module__", None) or "")
    file = file_of(own)
    found: dict[str, str] = {}
    files: dict[str, LocalFile] = {}
    if own is not None and file is not None:
        files = {one.name: one for one in local_files(own, file)}
        if (package := _installed_package(file)) is not None and package.is_dir():
            found[package.name] = _digest_of_folder(package)
    else:
        for one in _called(function, set()):
            found[one.__qualname__] = digest(_source(one))
            files |= {used.name: used for used in _used_beside(one)}
    stale = [one.name for one in files.values() if one.is_stale]
    if own and file and not stale and not _are_in_file([function], own, file):
        # The file was reloaded, but the function is from before.
        found[function.__qualname__] = _unknown()
        stale = [file.name]
    if stale:
        several = len(stale) > 1
        warnings.warn(
            f"{', '.join(stale)} {'have' if several else 'has'} changed since "
            f"{'they were' if several else 'it was'} imported, and the code of before is asked; "
            "restart Python, or name the retriever as a text such as "
            '"search:search", which is always loaded as it is now.',
            StaleCodeWarning,
            stacklevel=2,
        )
    return found | {name: files[name].fingerprint for name in sorted(files)}


def code_of_files(words: Iterable[str]) -> dict[str, str]:
    """Fingerprint each word of a command that names a file."""
    return {word: digest(Path(word)) for word in words if Path(word).is_file()}


def reload_stale(files: list[LocalFile], but: ModuleType | None = None) -> None:
    """Reload all files, except ``but``, if one was edited since it was loaded."""
    if any(one.is_stale for one in files):
        for one in files:
            if one.module is not None and one.module is not but:
                forget_bytecode(one.path)
                importlib.reload(one.module)


def forget_bytecode(path: Path) -> None:
    """Force a recompile: Python detects edits only by size and by time in whole seconds."""
    with suppress(OSError, NotImplementedError):
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def local_files(module: ModuleType, file: Path) -> list[LocalFile]:
    """The file of a module and all its imports from the same project, dependencies first."""
    package = module.__name__ if module.__package__ else ""
    depth = package.count(".") + (file.name == "__init__.py")
    root = file.parents[min(depth, len(file.parents) - 1)]
    if _installed_package(file) is not None:
        # To follow the imports of a library would take half a minute.
        return [LocalFile(file.relative_to(root).as_posix(), file, module)]
    if root.is_relative_to(STANDARD):
        return []
    found: list[LocalFile] = []
    begun: set[Path] = set()

    def visit(path: Path, one: ModuleType | None) -> None:
        name = path.relative_to(root).as_posix()
        if path in begun or name.startswith(f"{OURSELVES}/"):
            return
        begun.add(path)
        for imported in _imported_names(path, ".".join(path.relative_to(root).parts[:-1])):
            place = file_named(imported, root)
            if place is not None:
                loaded = sys.modules.get(imported)
                visit(place, loaded if file_of(loaded) == place else None)
        found.append(LocalFile(name, path, one))

    visit(file, module)
    return found


def _installed_package(file: Path) -> Path | None:
    """What a file belongs to below site-packages: a package's folder, or itself."""
    for folder in file.parents:
        if folder.name in INSTALLED:
            return folder / file.relative_to(folder).parts[0]
    return None


def _digest_of_folder(folder: Path) -> str:
    """The fingerprint of all source files below a folder, with their names."""
    every = sorted(folder.rglob("*.py"))
    return digest("".join(f"{one.relative_to(folder)} {digest(one)}\n" for one in every).encode())


def file_of(module: ModuleType | None) -> Path | None:
    """The source file of a module, if it has one."""
    name = getattr(module, "__file__", None)
    return Path(name).resolve() if isinstance(name, str) and name.endswith(".py") else None


def file_named(name: str, root: Path) -> Path | None:
    """The file of the module with this name below a folder."""
    place = root.joinpath(*name.split("."))
    return next((p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None)


def digest(content: bytes | Path) -> str:
    """The fingerprint of some bytes or of a file."""
    if isinstance(content, Path):
        about = content.stat()
        large = f"{about.st_size} {about.st_mtime_ns}".encode()
        content = large if about.st_size > LARGEST else content.read_bytes()
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def _unknown() -> str:
    """A unique fingerprint for code whose source is gone, so that its answers are not reused."""
    return uuid4().hex[:DIGITS]


def _imported_names(path: Path, package: str) -> list[str]:
    """The modules named in the import statements of a file."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, OSError):
        return []
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                # A name after `import` may be a module too.
                names |= dict.fromkeys((base, *(f"{base}.{one.name}" for one in node.names)))
    return list(names)


def _functions(module: ModuleType) -> list[Any]:
    """The functions and methods of a module."""
    holders = [module, *(one for one in vars(module).values() if isinstance(one, type))]
    found = (one for holder in holders for one in list(vars(holder).values()))
    known = (one for one in found if isinstance(one, FunctionType))
    return [one for one in known if one.__module__ == module.__name__]


def _are_in_file(functions: list[Any], module: ModuleType, path: Path) -> bool:
    """Whether the functions of a module still match its file."""
    if type(getattr(module, "__loader__", None)) is not SourceFileLoader:
        return True  # A loader that rewrites code, such as pytest's, cannot be compared.
    codes = [
        one.__code__
        for one in functions
        if isinstance(one, FunctionType)
        # Not functions made by a decorator or exec, which may claim to be from this file.
        if Path(one.__code__.co_filename).name == path.name and "<locals>" not in one.__qualname__
    ]
    try:
        left = [compile(path.read_bytes(), str(path), "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError):
        return False
    written: set[CodeType] = set()
    while left:
        inner = [one for one in left.pop().co_consts if isinstance(one, CodeType)]
        left += inner
        written.update(inner)
    return written.issuperset(codes)


def _function(value: Any) -> Any:
    """Unwrap partials, decorators and callable objects to the function itself."""
    while isinstance(value, partial):
        value = value.func
    value = inspect.unwrap(value) if callable(value) else value
    value = getattr(value, "__func__", value)
    return value if hasattr(value, "__qualname__") else type(value)


def _called(function: Any, seen: set[int]) -> Iterator[Any]:
    """A function, and the functions from the same place that it names."""
    seen.add(id(function))
    yield function
    for other in _named_in(function):
        is_here = inspect.isfunction(other) and other.__module__ == function.__module__
        if is_here and id(other) not in seen:
            yield from _called(other, seen)


def _used_beside(function: Any) -> Iterator[LocalFile]:
    """The files in the working folder that a function without a file uses."""
    for value in _named_in(function):
        home = getattr(value, "__module__", None)
        module = value if isinstance(value, ModuleType) else sys.modules.get(home or "")
        file = file_of(module)
        if module is not None and file is not None and file.is_relative_to(Path.cwd()):
            yield from local_files(module, file)


def _named_in(function: Any) -> Iterator[Any]:
    known = getattr(function, "__globals__", {})
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    return (known[name] for name in names if name in known)


def _source(function: Any) -> bytes:
    try:
        return inspect.getsource(function).encode()
    except (OSError, TypeError):
        return _instructions(getattr(function, "__code__", None)).encode()


def _instructions(code: Any) -> str:
    """The bytecode of a function without source, as text that is stable between sessions."""
    if not isinstance(code, CodeType):
        # The order of a set changes between sessions.
        return repr(sorted(map(repr, code)) if isinstance(code, frozenset) else code)
    return repr((code.co_code, code.co_names, [_instructions(one) for one in code.co_consts]))
