"""From whatever the caller hands in to matches: the part that every operation shares."""

from dataclasses import dataclass
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.load import load_pair
from calipers.io.source import Progress
from calipers.match.by_id import match_by_id
from calipers.model.ground_truth import GroundTruth
from calipers.model.matches import Matches
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.tally import Tally


@dataclass(frozen=True, eq=False)
class Prepared:
    """A ground truth and a run, matched under named policies, ready for any metric."""

    ground_truth: GroundTruth
    run: Run
    matches: Matches
    tally: Tally
    policy: Policy
    rel: float | None
    settings: dict[str, Any]
    """What decided the matching, for the record."""


def prepare(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    rel: float | None = None,
    like: str | None = None,
    corpus_size: int | None = None,
    progress: Progress | None = None,
    **policies: str | None,
) -> Prepared:
    """Read, check and match, once for all metrics and cut-offs."""
    policy = (Policy.like(like) if like else Policy()).with_changes(**policies)
    _check(rel, corpus_size)
    truth, results = load_pair(data, ground_truth, run, progress)
    policy = policy.with_changes(ties=policy.ties or results.ties)
    matches, tally = match_by_id(truth, results, policy, corpus_size)
    settings = {"match": "id", "rel": rel, "corpus_size": corpus_size}
    return Prepared(truth, results, matches, tally, policy, rel, settings)


def _check(rel: float | None, corpus_size: int | None) -> None:
    if rel is not None and not (isinstance(rel, int | float) and 0 < rel < float("inf")):
        raise InvalidInput(
            f"The grade from which a target is relevant (rel) is {rel!r}; "
            "it must be a number above 0."
        )
    if corpus_size is not None and (not isinstance(corpus_size, int) or corpus_size < 1):
        raise InvalidInput(
            f"The size of the corpus is {corpus_size!r}; it must be a whole number of at least 1."
        )
