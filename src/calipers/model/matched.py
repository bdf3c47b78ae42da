"""A ground truth and a run, as they were read and as they were matched.

Matches are a list of edges: which returned item holds which piece of ground truth.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from calipers.errors import Unclear
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints, Picklable, WhenAsked, as_series
from calipers.model.fingerprint import RankingFingerprint
from calipers.model.ground_truth import GroundTruth, SpanTable
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.recorded import Recorded
from calipers.model.result import ShowsItself
from calipers.model.run import Run
from calipers.words import is_far

ANSWERED = "answered"
EMPTY = "empty"
MISSING = "missing"
FAILED = "error"
"""The status of a query: results came, none came, it is not in the run, the retriever
failed."""
STATUSES = (ANSWERED, EMPTY, MISSING, FAILED)
Statuses = npt.NDArray[np.uint8]
"""Statuses of queries, as indexes into ``STATUSES``."""


def with_status(statuses: Statuses, status: str) -> Bools:
    """Which of the statuses are this one."""
    has_status: Bools = statuses == STATUSES.index(status)
    return has_status


@dataclass(frozen=True, eq=False)
class Leaked:
    """Results that hold something forbidden."""

    forbidden: Ints
    """How many things each query must not find."""
    query: Ints
    rank: Ints
    result: pl.Series
    """What the result is called: its id, or else its document."""
    name: pl.Series
    """What is forbidden and was found, in words."""


TokenSource = Literal["data", "estimate"]
"""Whether tokens were given with the results, or estimated from the length of their
texts."""


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of every result, query by query in the order of the ranking."""

    start: Ints
    """Where the results of each query begin, and behind the last where the last end."""
    before: Ints
    """The tokens of all results above each, and of all in the end."""
    unknown_before: Ints
    """How many of the results above each have no known number of tokens."""
    source: TokenSource

    @classmethod
    def of(cls, query: Ints, tokens: Ints, n_queries: int, source: TokenSource) -> Self:
        """The table of results sorted by query and rank; tokens below 0 are not known."""
        counts = np.bincount(query, minlength=n_queries)
        known = tokens >= 0
        return cls(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([[0], np.cumsum(np.where(known, tokens, 0))]),
            np.concatenate([[0], np.cumsum(~known)]),
            source,
        )

    def of_first(self, k: int) -> Floats:
        """The tokens of the first k results per query; NaN where some are not known."""
        first = self.start[:-1]
        end = np.minimum(first + k, self.start[1:])
        tokens = (self.before[end] - self.before[first]).astype(np.float64)
        return np.where(
            self.unknown_before[end] > self.unknown_before[first], np.nan, tokens
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Matches(Picklable):
    """Edges from ranks to targets, over queries coded 0 … n-1.

    One rank may hold two targets and three ranks may hold the same target; all counts
    come from these edges, so nothing is counted twice. Targets are sorted by
    query, edges by query and rank. An item returned a second time has no edges.
    """

    query_rows: WhenAsked[pl.DataFrame] = WhenAsked()
    """One row per query of the ground truth: query, text."""
    status: Statuses
    """The status of each query."""
    target_query: Ints
    target_grade: Floats
    target_unit: Ints
    """Targets that are alternatives for one another share a unit; alone, each is its
    own."""
    edge_query: Ints
    edge_rank: Ints
    edge_target: Ints
    edge_overlap: Floats
    """The share of the target that the ranks up to this one hold, 1 when matched by
    id."""
    retrieved: Ints
    """How many results came back, per query."""
    corpus_size: int | None = None
    spans: WhenAsked[SpanTable | None] = WhenAsked(None)
    """The spans of chunks and targets, when matched by span."""
    target_item: Ints | None = None
    """Targets that are the same item share a number, which rises with the id; None where
    each is an item of its own."""
    grades_in_all: Floats | None = None
    """Every grade of the whole ground truth, where these are the matches of a part of
    it."""
    leaked: Leaked | None = None
    """Forbidden items that were returned; None where nothing is forbidden."""
    tokens: WhenAsked[TokenTable | None] = WhenAsked(None)
    """The tokens of the results; None where nothing is known of them."""

    @property
    def n_queries(self) -> int:
        """How many queries the ground truth has."""
        return self.retrieved.size

    def is_far(self, k: int) -> bool:
        """Whether k is so far beyond every list that it is no number of results."""
        returned = int(self.retrieved.sum())
        within = int(np.minimum(self.retrieved, k).sum())
        return is_far(k, queries=self.n_queries, returned=returned, within=within)

    @cached_property
    def queries(self) -> pl.DataFrame:
        """One row per query of the ground truth: query, text, status."""
        names = pl.Series("status", STATUSES, dtype=pl.String)
        return self.query_rows.hstack(
            [names.gather(as_series(self.status.astype(np.int64)))]
        )

    def some(self, codes: Ints) -> tuple["Matches", Ints]:
        """The matches of these ascending query rows, and their targets' rows.

        Without the spans of chunks, the leaks and the tokens.
        """
        # Targets are sorted by query, and so are edges.
        targets, n_targets = _stretches(self.target_query, codes)
        edges, n_edges = _stretches(self.edge_query, codes)
        item = self.target_item
        numbers = np.arange(codes.size)
        part = Matches(
            query_rows=lambda: self.query_rows[codes],
            status=self.status[codes],
            target_query=np.repeat(numbers, n_targets),
            target_grade=self.target_grade[targets],
            target_unit=self.target_unit[targets],
            edge_query=np.repeat(numbers, n_edges),
            edge_rank=self.edge_rank[edges],
            edge_target=np.searchsorted(targets, self.edge_target[edges]),
            edge_overlap=self.edge_overlap[edges],
            retrieved=self.retrieved[codes],
            corpus_size=self.corpus_size,
            target_item=None if item is None else item[targets],
            grades_in_all=self._grades
            if self.grades_in_all is None
            else self.grades_in_all,
        )
        return part, targets

    def with_tokens(self, tokens: Callable[[], TokenTable | None]) -> "Matches":
        """The same with tokens, which are counted when they are first asked for."""
        # Not by dataclasses.replace, which would compute everything that waits to be
        # asked for.
        same = object.__new__(type(self))
        vars(same).update(vars(self), tokens=tokens)
        return same

    def with_grades(self, grades: Floats) -> "Matches":
        """The same with other grades; what does not depend on them is kept."""
        matches = replace(self, target_grade=grades)
        for name in ("is_one_to_one", "is_new_rank", "has_alternatives"):
            matches.__dict__[name] = getattr(self, name)
        return matches

    def with_edges(
        self, query: Ints, rank: Ints, target: Ints, overlap: Floats, retrieved: Ints
    ) -> "Matches":
        """The same targets, found at other ranks; what does not depend on these is kept."""
        same = object.__new__(type(self))
        kept = {
            name: value
            for name, value in vars(self).items()
            if name not in ("is_one_to_one", "is_new_rank")
        }
        vars(same).update(
            kept,
            edge_query=query,
            edge_rank=rank,
            edge_target=target,
            edge_overlap=overlap,
            retrieved=retrieved,
        )
        return same

    @cached_property
    def _grades(self) -> Floats:
        # Not by np.unique, which loads numpy.ma.
        grades = np.sort(self.target_grade)
        is_new = np.ones(grades.size, dtype=np.bool_)
        is_new[1:] = grades[1:] != grades[:-1]
        return grades[is_new]

    def having_status(self, status: str) -> Bools:
        """Which queries ended as answered, empty, missing or error."""
        return with_status(self.status, status)

    @cached_property
    def highest_grade(self) -> float:
        """The highest grade anywhere in the ground truth, at least 0."""
        grades = self.target_grade if self.grades_in_all is None else self.grades_in_all
        return float(grades.max(initial=0.0))

    def relevant(self, rel: float | None = None) -> Bools:
        """Which targets count as relevant: grade above 0, or from ``rel`` on."""
        return self.target_grade > 0 if rel is None else self.target_grade >= rel

    @cached_property
    def is_one_to_one(self) -> bool:
        """Whether each rank and each unit has one edge at most, as when matched by id."""
        if not self.is_new_rank.all():
            return False
        if not self.has_alternatives:
            return int(np.bincount(self.edge_target).max(initial=0)) <= 1
        units = self.target_unit[self.edge_target]
        return np.unique(units).size == units.size

    @cached_property
    def is_new_rank(self) -> Bools:
        """For each edge, whether it is the first of its rank."""
        new = np.ones(self.edge_query.size, dtype=np.bool_)
        new[1:] = (self.edge_query[1:] != self.edge_query[:-1]) | (
            self.edge_rank[1:] != self.edge_rank[:-1]
        )
        return new

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether any two targets share a unit."""
        units = self.target_unit
        if (units[1:] > units[:-1]).all():
            return False  # as they are numbered where none is shared
        ordered = np.sort(units)
        return bool((ordered[1:] == ordered[:-1]).any())

    def answerable(self, rel: float | None = None) -> Bools:
        """Which queries have at least one relevant target."""
        counts = np.bincount(
            self.target_query[self.relevant(rel)], minlength=self.n_queries
        )
        return counts > 0


def _stretches(query: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """The rows of some queries in a sorted column of queries, and how many each has."""
    first = np.searchsorted(query, codes)
    behind = np.searchsorted(query, codes, side="right")
    many = behind - first
    return np.arange(many.sum()) + np.repeat(first - (np.cumsum(many) - many), many), many


EXAMPLES = 3
"""How many names an error or an audit shows."""


Role = Literal["ground_truth", "run", "both"]
"""What the caller takes a file for; ``both`` where one file holds questions and
results."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A ground truth, a run, or both, as read from one source."""

    ground_truth: GroundTruth | None = None
    run: Run | None = None
    kind: str = ""
    """Its format in words, for messages."""
    no_truth: str = ""
    """Why it holds no ground truth, where it looks as if it did."""
    proposal: str = ""
    """The options that name a missing part, where a column or field may be it."""
    answers: tuple[tuple[tuple[str, str], ...], ...] = ()
    """The same options as mappings."""
    unclear: Unclear | None = None
    """The mappings that may name a missing part, before they are tried."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of one run against one ground truth, per query and in all."""

    retrieved: Ints
    status: Statuses
    unknown: int
    unknown_examples: tuple[str, ...]
    duplicates: int
    ties: int
    fingerprint: RankingFingerprint | None
    """The fingerprint of the run; None where it was not asked for."""
    sample_queries: tuple[str, ...]
    tied_targets: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Rows of the ground truth whose rank depends on the tie rule."""
    copy_ranks: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Ranks at which an item of the ground truth was returned again."""
    error_examples: tuple[str, ...] = ()
    """Some queries on which the retriever failed, each with its error."""


@dataclass(frozen=True, eq=False, repr=False)
class Matched(ShowsItself):
    """A ground truth and a run, read once and matched once under named policies.

    ``calipers.read`` makes it, and every operation takes it in place of files: scores,
    sweep, diagnosis, misses, gate and report are questions to the same pair.
    """

    shown_by: ClassVar[str] = "calipers.present.scores:matched_document"

    ground_truth: GroundTruth
    """As it was matched: plain strings are quotes where they were matched as quotes,
    targets are documents at the level of documents."""
    run: Run
    matches: Matches
    tally: Tally
    matching: Matching
    """How they were matched: what was asked for, and what the data decided."""
    settings: Mapping[str, Any]
    """What decided the matching, for the record: match, matched_at, rel, corpus_size,
    notes."""
    as_read: tuple[GroundTruth, Run]
    """Both sides before matching changed anything, to match them in another way."""
    asked: Matching
    """What the caller asked for."""

    @property
    def recorded(self) -> Recorded:
        """The settings that this was made with, typed."""
        return Recorded(self.settings)

    @property
    def policy(self) -> Policy:
        """The policies in force, with a rule for ties."""
        return self.matching.policy

    @property
    def rel(self) -> float | None:
        """The grade from which a target is relevant; None: above 0."""
        return self.matching.rel

    @property
    def asked_again(self) -> Matching:
        """How to match another run, or another ground truth, in the same way."""
        return replace(self.asked, level=self.matching.level)

    @property
    def depth(self) -> int:
        """The length of the longest list of results."""
        return int(self.matches.retrieved.max(initial=0))

    @cached_property
    def targets(self) -> pl.DataFrame:
        """The targets in the order in which the matches number them."""
        code = self.ground_truth.target_query
        targets = self.ground_truth.targets
        if (code[1:] >= code[:-1]).all():
            return targets
        return targets[np.argsort(code, kind="stable")]
