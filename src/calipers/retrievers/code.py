"""The code behind a retriever as fingerprints, so that answers of other code are known as such."""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

DIGITS = 16
LARGEST = 10_000_000
"""Bytes of a file that is read for its fingerprint; of a larger one size and date must do."""
OURSELVES = __name__.partition(".")[0]
INSTALLED = ("site-packages", "dist-packages")


def code_of(value: Any, module: ModuleType | None = None) -> dict[str, str]:
    """Each file that the retriever is written in, with its fingerprint.

    These are the file of the function (or of ``module``, in which an object was found), and the
    files of the same project that it imports. A function without a file, as in a notebook, is
    known by its own source and that of the functions it calls.
    """
    function = _function(value)
    own = module or sys.modules.get(getattr(function, "__module__", None) or "")
    file = _file(own)
    if own is None or file is None:
        return {one.__qualname__: _digest(_source(one)) for one in _called(function, set())}
    return {name: _digest(path) for name, path in sorted(_project(own, file).items())}


def code_of_files(words: Iterable[str]) -> dict[str, str]:
    """The fingerprint of each word of a command that names a file."""
    files = ((word, Path(word)) for word in words)
    return {word: _digest(path) for word, path in files if path.is_file()}


def _function(value: Any) -> Any:
    """What was written by hand: without partial, decorator and object around it."""
    while isinstance(value, partial):
        value = value.func
    value = inspect.unwrap(value) if callable(value) else value
    value = getattr(value, "__func__", value)
    return value if hasattr(value, "__qualname__") else type(value)


def _file(module: ModuleType | None) -> Path | None:
    name = getattr(module, "__file__", None)
    return Path(name).resolve() if isinstance(name, str) and name.endswith(".py") else None


def _project(first: ModuleType, file: Path) -> dict[str, Path]:
    """The files of a module and of all it imports from the same project, by their short paths."""
    package = first.__name__ if first.__package__ else ""
    depth = package.count(".") + (file.name == "__init__.py")
    root = file.parents[min(depth, len(file.parents) - 1)]
    top = package.partition(".")[0]
    found: dict[str, Path] = {}
    waiting = [first]
    while waiting:
        module = waiting.pop()
        path = _file(module)
        if path is None or not path.is_relative_to(root):
            continue
        short = path.relative_to(root)
        package = module.__name__.partition(".")[0]
        foreign = (
            package == OURSELVES
            or any(part in INSTALLED for part in short.parts)
            or (any(part in INSTALLED for part in root.parts) and package != top)
        )
        if foreign or str(short) in found:
            continue
        found[short.as_posix()] = path
        waiting += _imported(module)
    return found


def _imported(module: ModuleType) -> Iterator[ModuleType]:
    for value in list(vars(module).values()):
        if isinstance(value, ModuleType):
            yield value
        elif isinstance(name := getattr(value, "__module__", None), str) and name in sys.modules:
            yield sys.modules[name]


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
        code = getattr(function, "__code__", None)
        return b"" if code is None else b"".join(_instructions(code))


def _instructions(code: CodeType) -> Iterator[bytes]:
    yield code.co_code + repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)
        else:
            yield repr(constant).encode()


def _digest(content: bytes | Path) -> str:
    if isinstance(content, Path):
        about = content.stat()
        if about.st_size > LARGEST:
            content = f"{about.st_size} {about.st_mtime_ns}".encode()
        else:
            content = content.read_bytes()
    return hashlib.sha256(content).hexdigest()[:DIGITS]
