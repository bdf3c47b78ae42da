"""Parameters in a metric's name: ``name=value`` in the parentheses."""

import inspect
import math
import re
import types
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

import numpy as np

from calipers.model.arrays import Floats
from calipers.model.matched import Matches


@dataclass(frozen=True)
class GainTable:
    """Gains by grade, printed as they are written: ``{1:1,2:3}``.

    A grade that it does not name keeps its own value. Grades of 0 or less are not relevant and have
    no gain, so the table may only map them to 0.
    """

    gains: tuple[tuple[float, float], ...]

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Parse a table; None where the text is not a valid one.

        >>> str(GainTable.read("{2: 3.50, 0:0, 1:1}")), GainTable.read("{1:-1}")
        ('{0:0,1:1,2:3.5}', None)
        """
        inside = text.strip().removeprefix("{").removesuffix("}")
        found: dict[float, float] = {}
        for word in inside.split(","):
            entry = _ENTRY.fullmatch(word)
            if entry is None or float(entry[1]) in found:
                return None
            found[float(entry[1])] = float(entry[2])
        if any(not 0 <= gain < np.inf or (grade <= 0 < gain) for grade, gain in found.items()):
            return None
        return cls(tuple(sorted(found.items())))

    def __str__(self) -> str:
        return (
            "{"
            + ",".join(f"{show_number(grade)}:{show_number(gain)}" for grade, gain in self.gains)
            + "}"
        )

    def of(self, grade: Floats) -> Floats:
        """The gains of some grades."""
        gain = grade.copy()
        for one, worth in self.gains:
            gain[grade == one] = worth
        return gain


def show_number(number: float) -> str:
    """A number as it is written in a name."""
    return str(int(number)) if number == int(number) else repr(number)


def regraded(matches: Matches, gains: str) -> Matches:
    """The matches with each target's gain in place of its grade."""
    table = GainTable.read(gains)
    if table is None:
        return matches
    in_all = matches.grades_in_all
    return replace(
        matches,
        target_grade=table.of(matches.target_grade),
        grades_in_all=None if in_all is None else table.of(in_all),
    )


Value = float | str
"""The value of a parameter."""


@dataclass(frozen=True)
class Between:
    """The limits of a number, exclusive unless ``included``."""

    low: float
    high: float = math.inf
    included: bool = False

    def __contains__(self, number: float) -> bool:
        if self.included:
            return self.low <= number <= self.high
        return self.low < number < self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"above {self.low:g}"
        words = f"between {self.low:g} and {self.high:g}"
        return f"{words}, both included" if self.included else words


AboveZero = Annotated[float, Between(0)]
Share = Annotated[float, Between(0, 1)]
Level = Annotated[float, Between(0, 1, included=True)]
Table = Annotated[str, GainTable]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric."""

    name: str
    default: Value | None
    choices: tuple[str, ...] = ()
    """The allowed words; empty where the value is a number or a table."""
    limits: Between = Between(-math.inf)
    is_table: bool = False
    required: bool = False
    """Whether the metric cannot be computed without it."""

    @classmethod
    def of(cls, parameter: inspect.Parameter, hint: Any) -> "Parameter":
        """The parameter made from a parameter of the metric's function."""
        required = parameter.default is inspect.Parameter.empty
        default = None if required else parameter.default
        name = parameter.name
        members = get_args(hint) if get_origin(hint) in (types.UnionType, Union) else (hint,)
        for member in members:
            if get_origin(member) is Literal:
                return cls(name, default, get_args(member), required=required)
            if get_origin(member) is Annotated:
                about = member.__metadata__[0]
                if about is GainTable:
                    return cls(name, default, is_table=True, required=required)
                return cls(name, default, limits=about, required=required)
        return cls(name, default, required=required)

    @property
    def allowed(self) -> str:
        """Its allowed values, in words."""
        if self.is_table:
            return "gains by grade, such as {1:1,2:3}"
        return " or ".join(self.choices) if self.choices else f"a number {self.limits}"

    def read(self, text: str) -> Value | None:
        """Parse a value; None where it is not allowed."""
        if self.choices:
            return text if text in self.choices else None
        if self.is_table:
            table = GainTable.read(text)
            return None if table is None else str(table)
        try:
            number = float(text)
        except ValueError:
            return None
        return number if number in self.limits else None


_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ENTRY = re.compile(rf"\s*({_NUMBER})\s*[:=]\s*({_NUMBER})\s*")
