"""The code behind a retriever as fingerprints, so that answers of other code are known as such."""

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from calipers.live.project import (
    ProjectFile,
    digest,
    file_of,
    instructions,
    is_written,
    parts_of,
)


class StaleCodeWarning(UserWarning):
    """The file of a retriever was edited after it was imported."""


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
