"""Custom scales: the names of grades, from a file or a mapping."""

import os
import tomllib
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.store.pool import SCALES, GradeStep

MOST = 9
"""The most grades that a scale can have: each needs a key."""
FORM = 'names with grades, such as useless = 0 in TOML or {"useless": 0, "answers": 1} in JSON'


def read_scale(scale: Any) -> dict[str, Any]:
    """Read a scale: a known name, a file, or a mapping of names to grades.

    >>> read_scale("yes/no")
    {'scale': 'yes/no', 'steps': ()}
    >>> [one.name for one in read_scale({"answers": 2, "useless": 0})["steps"]]
    ['useless', 'answers']
    """
    if isinstance(scale, Mapping):
        return {"scale": "own", "steps": _steps(scale, "The scale")}
    name = os.fspath(scale) if isinstance(scale, str | os.PathLike) else repr(scale)
    if not name.endswith((".toml", ".json")):
        if name not in SCALES:
            raise InvalidInput(
                f"The scale is {name!r:.60}; it can be {', '.join(SCALES)}, or a .toml or .json "
                f"file of {FORM}."
            )
        return {"scale": name, "steps": ()}
    try:
        text = Path(name).read_text(encoding="utf-8")
        found = tomllib.loads(text) if name.endswith(".toml") else msgspec.json.decode(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.DecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"The scale {name} cannot be read: {reason}; it holds {FORM}.") from None
    return {"scale": Path(name).stem[:60], "steps": _steps(found, f"The scale {name}")}


def _steps(found: Any, whose: str) -> tuple[GradeStep, ...]:
    if not isinstance(found, Mapping) or not 2 <= len(found) <= MOST:
        raise InvalidInput(f"{whose} must hold 2 to {MOST} {FORM}; found {found!r:.80}.")
    for name, grade in found.items():
        plain = isinstance(name, str) and name.strip() and name.isprintable() and len(name) <= 40
        number = isinstance(grade, int | float) and not isinstance(grade, bool)
        if not plain or not number or not 0 <= grade < inf:
            raise InvalidInput(
                f"{whose} has the grade {name!r:.60} = {grade!r:.40}; a name has 1 to 40 printable "
                "characters, and a grade is a number from 0."
            )
    steps = sorted((float(grade), name.strip()) for name, grade in found.items())
    if len(dict(steps)) < len(steps):
        raise InvalidInput(f"{whose} has the same grade twice: {dict(found)!r:.120}.")
    return tuple(GradeStep(*one) for one in steps)
