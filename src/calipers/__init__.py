"""Calipers measures the retriever of a RAG pipeline.

It tells you how good your retriever is, at which k, why it fails, whether the change helped,
and stops the build when it did not.

``__init__.pyi`` lists the public names. Everything is loaded when first used: importing this
package costs next to nothing, and the one-query functions need nothing but the standard library.
"""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def _homes() -> dict[str, str]:
    """The module of every public name, from the lines ``from MODULE import NAME as NAME``."""
    from pathlib import Path

    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    words = (line.split() for line in lines if line.startswith("from "))
    return {name: module for _, module, _, name, *_ in words}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name in _homes():
        return getattr(import_module(_homes()[name]), name)
    from calipers.gone import gone

    raise AttributeError(gone(name) or f"module 'calipers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_homes())
