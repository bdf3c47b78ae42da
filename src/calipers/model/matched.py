"""A ground truth and a run, as they were read and as they were matched: the middle of the house."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from calipers.model.arrays import Ints
from calipers.model.fingerprint import RankingFingerprint
from calipers.model.ground_truth import GroundTruth
from calipers.model.matches import Matches, Statuses
from calipers.model.policy import Policy, Ties
from calipers.model.run import Run

EXAMPLES = 3
"""How many names an error or an audit shows."""


Role = Literal["ground_truth", "run", "both"]
"""What the caller takes a file for; ``both`` where one file holds questions and results."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A ground truth, a run, or both, as they stood in one place."""

    ground_truth: GroundTruth | None = None
    run: Run | None = None
    kind: str = ""
    """The form it had, in words, for messages."""
    no_truth: str = ""
    """Why it holds no ground truth, where it looks as if it did."""


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
    """That of the run; None where nobody wants it."""
    sample_queries: tuple[str, ...]
    tied_targets: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Rows of the ground truth whose rank is a matter of the tie rule."""
    copy_ranks: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Ranks at which an item of the ground truth was returned again."""


@dataclass(frozen=True, eq=False, repr=False)
class Matched:
    """A ground truth and a run, read once and matched once under named policies.

    ``calipers.read`` makes it, and every operation takes it in place of files: scores, sweep,
    diagnosis, misses, bounds, gate and report are questions to the same pair.
    """

    ground_truth: GroundTruth
    """As it was matched: plain strings are quotes where they were matched as quotes, targets are
    documents at the level of documents."""
    run: Run
    matches: Matches
    tally: Tally
    policy: Policy
    rel: float | None
    """The grade from which a target is relevant; None: above 0."""
    settings: Mapping[str, Any]
    """What decided the matching, for the record: match, matched_at, rel, corpus_size, notes."""
    as_read: tuple[GroundTruth, Run]
    """Both sides before matching changed anything, to match them in another way."""
    match_asked: str | None = None
    """The matching that the caller named; None: the data decided."""
    like: str | None = None
    """The tool whose policies were asked for; metrics then take its parameters, too."""
    ties_asked: Ties | None = None
    """The tie rule that the caller named; None: the custom of the run's format."""

    @property
    def depth(self) -> int:
        """The length of the longest list of results."""
        return int(self.matches.retrieved.max(initial=0))

    @cached_property
    def targets(self) -> pl.DataFrame:
        """The targets in the order in which the matches number them."""
        truth = self.ground_truth
        return truth.targets[np.argsort(truth.target_query, kind="stable")]

    def __repr__(self) -> str:
        """What was matched, and how, for a prompt."""
        n = self.matches.n_queries
        queries = f"{n:,} {'query' if n == 1 else 'queries'}"
        found = np.unique(self.matches.edge_target).size
        return (
            f"<Matched by {self.settings['match']}: {queries}, "
            f"{int(self.matches.retrieved.sum()):,} results, "
            f"{found:,} of {self.ground_truth.targets.height:,} targets returned>"
        )
