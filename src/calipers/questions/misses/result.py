"""Why pieces of ground truth were not found, and what came in their place."""

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any, ClassVar

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.result import HasRows, Plain, plain


@dataclass(frozen=True)
class Reason:
    """One way to miss a piece of ground truth."""

    name: str
    means: str
    remedy: str


REASONS: tuple[Reason, ...] = (
    Reason("not_in_corpus", "not in the corpus", "index the document"),
    Reason("split_over_chunks", "split over several chunks", "use overlapping or larger chunks"),
    Reason("below_k", "ranked below k", "rerank, or raise k"),
    Reason(
        "wrong_chunk", "right document, wrong chunk", "return neighbouring chunks, or cut again"
    ),
    Reason("crowded_out", "crowded out by duplicates", "remove duplicates before the first k"),
    Reason("retriever_error", "the retriever failed", "look at the error of the query"),
    Reason("nothing_returned", "nothing was returned", "check filters and score thresholds"),
    Reason("not_in_run", "the query is not in the run", "run the retriever on every query"),
    Reason("lost_by_reranker", "lost by the reranker", "compare rerankers, or keep more results"),
    Reason("missed_by_index", "missed by the index", "raise the search effort of the index"),
    Reason("never_a_candidate", "never a candidate", "fetch more candidates"),
    Reason("not_returned", "not in the results", "record their candidates, too, to see why"),
)
"""Every reason, in the order in which the rules are tried: the first that holds is the reason."""

MOST_CASES = 100_000
"""Rows of a table of cases, unless more are asked for; whoever reads them reads the first."""
TELLS_MORE = {"--corpus": "corpus", "--candidates": "candidates", "--exact": "exact"}
"""What can be given to learn more about a target that was not returned, and the step it adds."""


@dataclass(frozen=True)
class Step:
    """One step of the waterfall: what it lost of the ground truth, and what was left after it."""

    name: str
    means: str
    lost: int
    left: int


@dataclass(frozen=True, eq=False, repr=False)
class Misses(Plain, HasRows):
    """One reason for each piece of ground truth that is not in the first k results."""

    shown_by: ClassVar[str] = "calipers.questions.misses.document"

    k: int
    targets: int
    """Pieces of ground truth; alternatives for one another count as one."""
    found: int
    missed: int
    reasons: Mapping[str, int]
    """How many misses each reason explains, in the order of the rules."""
    table: pl.DataFrame
    """One row per miss: query, what was expected, reason, ranks, what came instead; the first
    ``MOST_CASES`` of them, unless more are asked for."""
    by_query: pl.DataFrame
    """query, number of the target, reason and rank of every miss, those among them that the table
    has no room for."""
    waterfall: tuple[Step, ...]
    false_positives: pl.DataFrame
    """What stood in the first k without holding a target, most frequent first."""
    notes: tuple[str, ...]
    """What could not be decided, or looks wrong, in words."""

    def remedy(self, reason: str) -> str:
        """What to do about a reason, by its name; what was given already is not asked for again."""
        known = {one.name: one.remedy for one in REASONS}
        if not isinstance(reason, str) or reason not in known:
            raise InvalidInput(
                f"There is no reason {short(reason)}; a reason is one of {', '.join(known)}."
            )
        steps = {step.name for step in self.waterfall}
        lacking = [option for option, step in TELLS_MORE.items() if step not in steps]
        # Where some queries have candidates, it is these queries that lack them.
        if reason != "not_returned" or "--candidates" not in lacking:
            return known[reason]
        return f"give {' or '.join(lacking[:2])} to see why"

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain values: what ``--json`` prints."""
        return plain(
            {
                "k": self.k,
                "targets": self.targets,
                "found": self.found,
                "missed": self.missed,
                "reasons": [
                    {**plain(one), "remedy": self.remedy(one.name), "count": self.reasons[one.name]}
                    for one in REASONS
                    if one.name in self.reasons
                ],
                "waterfall": self.waterfall,
                "notes": self.notes,
                "misses": self.table.to_dicts(),
                "false_positives": self.false_positives.to_dicts(),
            }
        )
