"""The code behind a retriever as fingerprints, so that answers of other code are known as such.

Python loads a module once in a session. Where its file is edited afterwards, what runs is no longer
what the file says, and a fingerprint of the file would vouch for code that gave no answer.
"""

import ast
import hashlib
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

DIGITS = 16
LARGEST = 10_000_000
"""Bytes of a file that is read for its fingerprint; of a larger one size and date must do."""
OURSELVES = __name__.partition(".")[0]
INSTALLED = ("site-packages", "dist-packages")
STANDARD = Path(ast.__file__).resolve().parent
"""The standard library, which is nobody's project."""

_SEEN: dict[str, tuple[Any, str]] = {}
"""The modules looked at so far: how each was found, new with every load, and its file then."""


class StaleCodeWarning(UserWarning):
    """The file of a retriever was edited after it was imported."""


@dataclass(frozen=True)
class ProjectFile:
    """One file of a project."""

    name: str
    """Its path, short."""
    path: Path
    module: ModuleType | None
    """None where nothing has imported it so far."""
    needs: tuple[str, ...]
    """The names of the parts that it imports."""

    @property
    def is_stale(self) -> bool:
        """Whether the file was changed since the module was loaded from it."""
        return self.module is not None and _is_stale(self.module, self.path)

    @property
    def fingerprint(self) -> str:
        """That of the file, or of what runs where that is something else."""
        if self.module is None or not self.is_stale:
            return digest(self.path)
        return digest(b"loaded" + b"".join(_loaded(self.module, self.path)))


def code_of(value: Any, module: ModuleType | None = None) -> dict[str, str]:
    """Each file that the retriever is written in, with its fingerprint.

    These are the file of the function (or of ``module``, in which an object was found), and the
    files of the same project that it imports. A function without a file, as in a notebook, is
    known by its own source, that of the functions it calls, and the files beside it that it uses.
    Where a file was edited after it was imported, what was imported runs: that is said, and has
    a fingerprint of its own.
    """
    function = _function(value)
    own = module or sys.modules.get(getattr(function, "__module__", None) or "")
    file = file_of(own)
    if own is None or file is None:
        called = list(_called(function, set()))
        parts = _beside(called)
        sources = {one.__qualname__: digest(_source(one)) for one in called}
    else:
        parts, sources = {part.name: part for part in parts_of(own, file)}, {}
        if not is_written(function, own, file):
            # The file may have been loaded anew, and the function kept from before.
            sources = {function.__qualname__: digest(_instructions(function))}
    stale = [part.name for part in parts.values() if part.is_stale]
    _warn(stale or ([file.name] if sources and file is not None else []))
    return sources | {name: parts[name].fingerprint for name in sorted(parts)}


def _beside(functions: Iterable[Any]) -> dict[str, ProjectFile]:
    """The files of the working folder that functions without a file use."""
    found: dict[str, ProjectFile] = {}
    for function in functions:
        known = getattr(function, "__globals__", {})
        for name in getattr(getattr(function, "__code__", None), "co_names", ()):
            value = known.get(name)
            home = getattr(value, "__module__", None)
            module = value if isinstance(value, ModuleType) else sys.modules.get(home or "")
            file = file_of(module)
            if module is not None and file is not None and file.is_relative_to(Path.cwd()):
                found |= {part.name: part for part in parts_of(module, file)}
    return found


def _warn(names: list[str]) -> None:
    if names:
        has, it, was = ("has", "it", "it was") if len(names) == 1 else ("have", "them", "they were")
        warnings.warn(
            f"{', '.join(names)} {has} changed since {was} imported, and the code of before is "
            f"asked; load {it} anew with importlib.reload, restart Python, or name the retriever "
            'as a text such as "search:search", which is always loaded as it is now.',
            StaleCodeWarning,
            stacklevel=2,
        )


def code_of_files(words: Iterable[str]) -> dict[str, str]:
    """The fingerprint of each word of a command that names a file."""
    files = ((word, Path(word)) for word in words)
    return {word: digest(path) for word, path in files if path.is_file()}


def _function(value: Any) -> Any:
    """What was written by hand: without partial, decorator and object around it."""
    while isinstance(value, partial):
        value = value.func
    value = inspect.unwrap(value) if callable(value) else value
    value = getattr(value, "__func__", value)
    return value if hasattr(value, "__qualname__") else type(value)


def _called(function: Any, seen: set[int]) -> Iterator[Any]:
    """A function and those of the same place that it names."""
    if id(function) in seen:
        return
    seen.add(id(function))
    yield function
    code = getattr(function, "__code__", None)
    known = getattr(function, "__globals__", {})
    for name in code.co_names if code is not None else ():
        other = known.get(name)
        if inspect.isfunction(other) and other.__module__ == function.__module__:
            yield from _called(other, seen)


def _source(function: Callable[..., Any]) -> bytes:
    try:
        return inspect.getsource(function).encode()
    except (OSError, TypeError):
        return _instructions(function)


def _instructions(function: Callable[..., Any]) -> bytes:
    code = getattr(function, "__code__", None)
    return b"" if code is None else b"".join(instructions(code))


def parts_of(module: ModuleType, file: Path) -> list[ProjectFile]:
    """The file of a module and all it imports from the same project; what is needed comes first."""
    package = module.__name__ if module.__package__ else ""
    depth = package.count(".") + (file.name == "__init__.py")
    root = file.parents[min(depth, len(file.parents) - 1)]
    top = package.partition(".")[0]
    found: dict[str, ProjectFile] = {}
    begun: set[Path] = set()

    def visit(path: Path, one: ModuleType | None) -> str | None:
        if not path.is_relative_to(root) or _is_foreign(path, root, one, top):
            return None
        name = path.relative_to(root).as_posix()
        if path in begun:
            return name
        begun.add(path)
        needs = (visit(*other) for other in _imported(path, root, one))
        others = tuple(need for need in needs if need is not None and need != name)
        found[name] = ProjectFile(name, path, one, others)
        return name

    visit(file, module)
    return list(found.values())


def file_of(module: ModuleType | None) -> Path | None:
    """The source file of a module, where it has one."""
    name = getattr(module, "__file__", None)
    return Path(name).resolve() if isinstance(name, str) and name.endswith(".py") else None


def digest(content: bytes | Path) -> str:
    """The fingerprint of some bytes or of a file."""
    if isinstance(content, Path):
        about = content.stat()
        if about.st_size > LARGEST:
            content = f"{about.st_size} {about.st_mtime_ns}".encode()
        else:
            content = content.read_bytes()
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def instructions(code: CodeType) -> Iterator[bytes]:
    """What a function does, wherever it stands."""
    yield code.co_code + repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from instructions(constant)
        else:
            yield repr(constant).encode()


def _is_foreign(path: Path, root: Path, module: ModuleType | None, top: str) -> bool:
    """Whether a file below the root is ours, Python's or installed, and not of the project."""
    short = path.relative_to(root)
    package = short.parts[0] if module is None else module.__name__.partition(".")[0]
    if path.is_relative_to(STANDARD) and not any(part in INSTALLED for part in path.parts):
        return True
    return (
        package == OURSELVES
        or any(part in INSTALLED for part in short.parts)
        or (any(part in INSTALLED for part in root.parts) and package != top)
    )


def _imported(
    path: Path, root: Path, module: ModuleType | None
) -> Iterator[tuple[Path, ModuleType | None]]:
    """The files that a file imports, by its statements and by what the loaded module holds."""
    package = ".".join(path.relative_to(root).parts[:-1])
    if module is not None:
        package = module.__package__ or ""
    for name in _names_imported(str(path), digest(path), package):
        loaded = sys.modules.get(name)
        place = file_of(loaded) if loaded is not None else file_named(name, root)
        if place is not None:
            yield place, loaded
    for value in list(vars(module).values()) if module is not None else ():
        home = value.__name__ if isinstance(value, ModuleType) else _home(value)
        loaded = sys.modules.get(home or "")
        place = file_of(loaded)
        if place is not None:
            yield place, loaded


def _home(value: Any) -> str | None:
    name = getattr(value, "__module__", None)
    return name if isinstance(name, str) else None


def file_named(name: str, root: Path) -> Path | None:
    """Where a module of the project stands that nothing has imported so far."""
    place = root.joinpath(*name.split("."))
    return next((p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None)


@lru_cache(maxsize=1024)
def _names_imported(path: str, content: str, package: str) -> tuple[str, ...]:
    """The modules that the import statements of a file name; ``content`` tells versions apart."""
    del content
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (SyntaxError, ValueError, RecursionError, OSError):
        return ()
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:
                continue
            # What stands after `import` may be a module too.
            names |= dict.fromkeys((base, *(f"{base}.{one.name}" for one in node.names)))
    return tuple(names)


def _is_stale(module: ModuleType, path: Path) -> bool:
    now, found = digest(path), getattr(module, "__spec__", None)
    seen = _SEEN.get(module.__name__)
    if seen is None or seen[0] is not found:
        # First met: it may have been edited already, which shows in its functions.
        as_written = _are_written(module, path, _loaded(module, path))
        seen = _SEEN[module.__name__] = (found, now if as_written else "")
    return seen[1] != now


def is_written(function: Any, module: ModuleType, path: Path) -> bool:
    """Whether a function is one of those in the file; one that was kept over a reload is not."""
    code = function.__code__ if isinstance(function, FunctionType) else None
    if code is None or not _is_from(code, path):
        return True
    return _are_written(module, path, iter([_as_bytes(code)]))


def _are_written(module: ModuleType, path: Path, functions: Iterator[bytes]) -> bool:
    """Whether functions of a loaded module are those in its file."""
    if type(getattr(module, "__loader__", None)) is not SourceFileLoader:
        return True  # A loader that changes what it loads, as that of pytest, cannot be followed.
    try:
        written = set(_functions(compile(path.read_bytes(), str(path), "exec", dont_inherit=True)))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return all(one in written for one in functions)


def _as_bytes(code: CodeType) -> bytes:
    return code.co_qualname.encode() + b"".join(instructions(code))


def _functions(code: CodeType) -> Iterator[bytes]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield _as_bytes(constant)
            yield from _functions(constant)


def _loaded(module: ModuleType, path: Path) -> Iterator[bytes]:
    """The functions of a module, and those of its classes, as they run."""
    holders = [module, *(v for v in vars(module).values() if isinstance(v, type))]
    for holder in holders:
        for value in list(vars(holder).values()):
            code = value.__code__ if isinstance(value, FunctionType) else None
            home = getattr(value, "__module__", None)
            if code is None or home != module.__name__ or not _is_from(code, path):
                continue
            # What a decorator made may claim to be from this file; the file holds what it wraps.
            if "<locals>" not in code.co_qualname:
                yield _as_bytes(code)


def _is_from(code: CodeType, path: Path) -> bool:
    """Whether code was written in this file, and not made by a decorator or by exec."""
    return Path(code.co_filename).name == path.name
