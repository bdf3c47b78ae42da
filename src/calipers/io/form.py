"""What every form of a file says about itself, whatever its shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Form:
    """One tool's form: its names, and what must be said about what was read from it."""

    name: str
    title: str
    """What a file in this form is, in words."""
    example: str
    kept: frozenset[str]
    """The keys whose values reach the record."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What the form calls ``retrieved`` and ``ground_truth``."""
    why_left_out: str = ""
    """Why values that are known were not used, where whoever reads the scores must know."""
    no_truth: str = ""
    """Why it holds no ground truth, where it looks as if it did."""
    partial_truth: str = ""
    """What its ground truth lacks, so that scores must be read with care."""
