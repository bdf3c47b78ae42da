"""Fingerprint the source files of a retriever, to detect answers made by other code.

Python loads a module once per session. If its file is edited later, the old code still
runs and keeps the fingerprint that its file had when it was first looked at.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, cast

DIGITS = 16
LARGEST = 10_000_000
"""Largest file, in bytes, to hash; a larger one is identified by size and date."""
OURSELVES = __name__.partition(".")[0]
INSTALLED = ("site-packages", "dist-packages")
STANDARD = Path(ast.__file__).resolve().parent

_LOADED: dict[str, tuple[object, str]] = {}
"""The fingerprint of each module when it was first seen, and its spec, which a load
replaces."""


class LocalFile(NamedTuple):
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
            seen = _LOADED[self.module.__name__] = (spec, digest(self.path))
        return seen[1]


def code_of(value: object, module: ModuleType | None = None) -> dict[str, str]:
    """Map each source file of a retriever to its fingerprint.

    These are the file of the function (or of the ``module`` that holds an object) and the
    local files it imports. A function without a file, as in a notebook, is identified by
    its own source.
    """
    while isinstance(value, partial):
        value = value.func
    value = inspect.unwrap(value) if callable(value) else value
    function = getattr(value, "__func__", value)
    function = function if hasattr(function, "__qualname__") else type(function)
    own = module or sys.modules.get(getattr(function, "__module__", None) or "")
    file = file_of(own)
    if own is None or file is None:
        try:
            return {
                function.__qualname__: digest(
                    inspect.getsource(cast("type", function)).encode()
                )
            }
        except (OSError, TypeError):
            return {}
    return {
        local_file.name: local_file.fingerprint
        for local_file in sorted(local_files(own, file))
    }


def code_of_files(words: Iterable[str]) -> dict[str, str]:
    """Fingerprint each word of a command that names a file."""
    return {word: digest(Path(word)) for word in words if Path(word).is_file()}


def reload_stale(files: list[LocalFile], but: ModuleType | None = None) -> None:
    """Reload all files, except ``but``, if one was edited since it was loaded."""
    if any(file.fingerprint != digest(file.path) for file in files):
        for local in files:
            if local.module is not None and local.module is not but:
                importlib.reload(local.module)


def local_files(module: ModuleType, file: Path) -> list[LocalFile]:
    """The file of a module and all its imports from the same project, dependencies first."""
    package = module.__name__ if module.__package__ else ""
    depth = package.count(".") + (file.name == "__init__.py")
    root = file.parents[min(depth, len(file.parents) - 1)]
    if {*INSTALLED} & {*file.parts} or root.is_relative_to(STANDARD):
        return [LocalFile(file.relative_to(root).as_posix(), file, module)]
    files: list[LocalFile] = []
    begun: set[Path] = set()

    def visit(path: Path, module: ModuleType | None) -> None:
        name = path.relative_to(root).as_posix()
        if path in begun or name.startswith(f"{OURSELVES}/"):
            return
        begun.add(path)
        for imported in _imported_names(
            path, ".".join(path.relative_to(root).parts[:-1])
        ):
            place = file_named(imported, root)
            if place is not None:
                loaded = sys.modules.get(imported)
                visit(place, loaded if file_of(loaded) == place else None)
        files.append(LocalFile(name, path, module))

    visit(file, module)
    return files


def file_of(module: ModuleType | None) -> Path | None:
    """The source file of a module, if it has one."""
    name = getattr(module, "__file__", None)
    return (
        Path(name).resolve() if isinstance(name, str) and name.endswith(".py") else None
    )


def file_named(name: str, root: Path) -> Path | None:
    """The file of the module with this name below a folder."""
    place = root.joinpath(*name.split("."))
    return next(
        (p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()),
        None,
    )


def digest(content: bytes | Path) -> str:
    """The fingerprint of some bytes or of a file."""
    if isinstance(content, Path):
        about = content.stat()
        large = f"{about.st_size} {about.st_mtime_ns}".encode()
        content = large if about.st_size > LARGEST else content.read_bytes()
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def _imported_names(path: Path, package: str) -> Iterator[str]:
    """The modules named in the import statements of a file."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, OSError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):
                base = importlib.util.resolve_name(
                    "." * node.level + (node.module or ""), package
                )
                # A name after `import` may be a module too.
                yield from (base, *(f"{base}.{name.name}" for name in node.names))
