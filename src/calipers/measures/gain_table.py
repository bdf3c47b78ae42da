"""What each grade is worth, where that is not the grade itself."""

import re
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from calipers.model.arrays import Floats
from calipers.model.matches import Matches

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ENTRY = re.compile(rf"\s*({_NUMBER})\s*[:=]\s*({_NUMBER})\s*")


@dataclass(frozen=True)
class GainTable:
    """Gains by grade, printed as they are written: ``{1:1,2:3}``.

    A grade that it does not name keeps its own value. What is not relevant, grade 0 or less, is
    worth nothing, so that the table may name it with 0 only.
    """

    gains: tuple[tuple[float, float], ...]

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The table that a text stands for, None where it cannot be one.

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
        return "{" + ",".join(f"{_show(grade)}:{_show(gain)}" for grade, gain in self.gains) + "}"

    def of(self, grade: Floats) -> Floats:
        """The gains of some grades."""
        gain = grade.copy()
        for one, worth in self.gains:
            gain[grade == one] = worth
        return gain


def _show(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def regraded(matches: Matches, gains: str | None) -> Matches:
    """The matches with what each target is worth in place of its grade."""
    table = None if gains is None else GainTable.read(gains)
    if table is None:
        return matches
    in_all = matches.grades_in_all
    return replace(
        matches,
        target_grade=table.of(matches.target_grade),
        grades_in_all=None if in_all is None else table.of(in_all),
    )
