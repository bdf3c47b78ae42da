"""Parameters in a metric's name: ``name=value`` in the parentheses."""

import inspect
import math
import types
from typing import Annotated, Literal, Union, get_args, get_origin

from calipers.frozen import dataclass


def show_number(number: float) -> str:
    """A number as it is written in a name."""
    return str(int(number)) if number == int(number) else repr(number)


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


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric."""

    name: str
    default: Value | None
    choices: tuple[str, ...] = ()
    """The allowed words; empty where the value is a number."""
    limits: Between = Between(-math.inf)

    @classmethod
    def of(cls, parameter: inspect.Parameter, hint: object) -> "Parameter":
        """The parameter made from a parameter of the metric's function."""
        default = (
            None if parameter.default is inspect.Parameter.empty else parameter.default
        )
        name = parameter.name
        members = (
            get_args(hint) if get_origin(hint) in (types.UnionType, Union) else (hint,)
        )
        for member in members:
            if get_origin(member) is Literal:
                return cls(name, default, get_args(member))
            if get_origin(member) is Annotated:
                return cls(name, default, limits=member.__metadata__[0])
        return cls(name, default)

    @property
    def allowed(self) -> str:
        """Its allowed values, in words."""
        return " or ".join(self.choices) if self.choices else f"a number {self.limits}"

    def read(self, text: str) -> Value | None:
        """Parse a value; None where it is not allowed."""
        if self.choices:
            return text if text in self.choices else None
        try:
            number = float(text)
        except ValueError:
            return None
        return number if number in self.limits else None
