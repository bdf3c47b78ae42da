"""Why targets were not found."""

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any, ClassVar

import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import Ints
from calipers.model.result import HasRows, Plain, plain, sentences_of
from calipers.shell import join_words


@dataclass(frozen=True)
class Reason:
    """One reason why a target can be missed."""

    name: str
    means: str
    remedy: str


REASONS: tuple[Reason, ...] = (
    Reason("another_id", "there under another id", "write ids alike, or give --map-ids"),
    Reason("not_in_corpus", "not in the corpus", "index the document"),
    Reason(
        "split_over_chunks",
        "split over several chunks",
        "use overlapping or larger chunks",
    ),
    Reason("below_k", "ranked below k", "rerank, or raise k"),
    Reason(
        "in_pieces",
        "returned only in part",
        "return neighbouring chunks, or cut again",
    ),
    Reason(
        "wrong_chunk",
        "right document, wrong chunk",
        "return neighbouring chunks, or cut again",
    ),
    Reason(
        "crowded_out",
        "likely crowded out by duplicates",
        "remove duplicates before the first k",
    ),
    Reason("retriever_error", "the retriever failed", "look at the error of the query"),
    Reason(
        "nothing_returned", "nothing was returned", "check filters and score thresholds"
    ),
    Reason(
        "not_in_run", "the query is not in the run", "run the retriever on every query"
    ),
    Reason(
        "lost_by_reranker",
        "lost by the reranker",
        "compare rerankers, or keep more results",
    ),
    Reason(
        "missed_by_index", "missed by the index", "raise the search effort of the index"
    ),
    Reason("never_a_candidate", "never a candidate", "fetch more candidates"),
    Reason(
        "not_returned", "not in the results", "record their candidates, too, to see why"
    ),
)
"""Every reason, in the order in which the rules are tried; the first match wins."""

TELLS_MORE = ("corpus", "candidates", "exact")
"""The inputs that explain targets that were not returned."""


@dataclass(frozen=True, eq=False, repr=False)
class Misses(Plain, HasRows):
    """One reason for each piece of ground truth that is not in the first k results."""

    shown_by: ClassVar[str] = "calipers.questions.misses.document"

    k: int
    targets: int
    """The number of targets; alternatives count as one."""
    found: int
    missed: int
    reasons: Mapping[str, int]
    """The number of misses per reason, in the order of the rules."""
    table: pl.DataFrame
    """One row per miss: query, what was expected, reason, ranks, what came instead."""
    numbers: Ints
    """The number of the target of each row, in the ground truth."""
    given: frozenset[str]
    """The inputs beside the run that help to explain: corpus, candidates, exact."""
    notes: tuple[str, ...]
    """Sentences about what could not be decided or looks wrong."""
    is_far: bool = False
    """Whether k is so far beyond every list that it is no number of results."""
    map_ids: str | None = None
    """What ``--map-ids`` takes to match most of the targets that are there under another id."""
    worse_than: str | None = None
    """The older result, where only queries that find less than in it are listed."""
    queries: int | None = None
    """How many queries find less than in it."""

    @property
    def by_query(self) -> pl.DataFrame:
        """query, number of the target, reason, rank and text of every miss."""
        shown = self.table.select("query", "reason", "rank", "expected_text")
        return shown.with_columns(target=pl.Series(self.numbers, dtype=pl.Int64))

    def remedy(self, reason: str) -> str:
        """What to do about a reason, without asking for inputs that were already given."""
        known = {every.name: every.remedy for every in REASONS}
        if not isinstance(reason, str) or reason not in known:
            raise InvalidInput(
                f"There is no reason {short(reason)}; a reason is one of {', '.join(known)}."
            )
        if reason == "another_id" and self.map_ids is not None:
            return f"give --map-ids {join_words([self.map_ids])}"
        if self.tells(reason):
            return known[reason]
        lacking = [f"--{name}" for name in TELLS_MORE if name not in self.given]
        return f"give {' or '.join(lacking[:2])} to see why"

    def tells(self, reason: str) -> bool:
        """Whether it is told why, or only which further input would tell."""
        # With candidates for some queries, the general remedy names the queries that lack them.
        return reason != "not_returned" or "candidates" in self.given

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain values: what ``--json`` prints."""
        result: dict[str, Any] = plain(
            {
                "k": self.k,
                "worse_than": self.worse_than,
                "queries": self.queries,
                "targets": self.targets,
                "found": self.found,
                "missed": self.missed,
                "reasons": [
                    {
                        **plain(reason),
                        "remedy": self.remedy(reason.name),
                        "count": self.reasons[reason.name],
                    }
                    for reason in REASONS
                    if reason.name in self.reasons
                ],
                "notes": self.notes,
                "misses": self.table.to_dicts(),
                **sentences_of(self),
            }
        )
        return result
