"""The laws that a metric cannot keep by its nature, each with its reason and a proof.

A metric that says ``better="neither"`` is not asked which ranking is better: its own data
excuses it. Any other exception stands here with a case that breaks the law; when the case no
longer breaks it, the entry is stale and a test fails.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.laws.cases import Case


@dataclass(frozen=True)
class Excuse:
    reason: str
    proof: Case
    within: Callable[[Case], bool] = lambda case: True
    """The cases that it excuses: in all others the law holds for this metric, too."""


PERFECT, MOVED_UP, COPY = "a perfect ranking is best", "moving up", "a copy"

EXCEPTIONS: dict[tuple[str, str], Excuse] = {
    (PERFECT, "rbp_residual"): Excuse(
        "It says how much is not known. Judged and irrelevant results are known too, and below "
        "the end of a perfect ranking nothing is.",
        Case({"a": 1, "x": 0, "y": 0}, before=["x", "a", "y"], after=["a"]),
    ),
    (COPY, "num_ret"): Excuse(
        "It counts results, and a copy is one.",
        Case({"a": 1}, before=["a", "a"], after=["a"]),
    ),
    (COPY, "unjudged"): Excuse(
        "What comes back again is not judged again: it takes a rank about which nothing is known.",
        Case({"a": 1}, before=["a", "a"], after=["a"]),
    ),
}
