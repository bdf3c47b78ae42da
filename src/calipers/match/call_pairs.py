"""Runs in which a query has several calls of the retriever, matched call by call."""

from functools import partial

from calipers.match.calls import CallEdges, call_edges, one_ranking
from calipers.match.pair import match_pair
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.matches import Matches
from calipers.model.policy import Policy
from calipers.model.run import Run, beginning


def as_one_ranking(
    truth: GroundTruth,
    run: Run,
    rel: float | None,
    *,
    policy: Policy,
    match: str | None,
    level: str | None,
    map_ids: str | None,
) -> Run:
    """The calls of each query as one ranking, as the policy says."""
    each = partial(_match_call, policy=policy, match=match, level=level, map_ids=map_ids)
    return one_ranking(truth, run, policy.calls, each, rel)


def edges_by_call(pair: Matched) -> CallEdges | None:
    """Which call of the retriever holds which target; None where the run has no calls."""
    truth, run = pair.as_read
    first, run = beginning(run)
    if first is None or "call" not in first.columns:
        return None
    match = "id" if pair.settings["match"] == "document" else pair.settings["match"]
    level = pair.settings["matched_at"]
    mapped = pair.settings.get("map_ids")
    truth = truth if level == "document" or mapped is not None else pair.ground_truth
    each = partial(_match_call, policy=pair.policy, match=match, level=level, map_ids=mapped)
    return call_edges(truth, run, each)


def _match_call(
    truth: GroundTruth,
    run: Run,
    *,
    policy: Policy,
    match: str | None,
    level: str | None,
    map_ids: str | None,
) -> Matches:
    """The matches of single calls, of which some find nothing, and that is no mistake."""
    lenient = policy.with_changes(nothing_in_common="zero")
    return match_pair(truth, run, policy=lenient, match=match, level=level, map_ids=map_ids).matches
