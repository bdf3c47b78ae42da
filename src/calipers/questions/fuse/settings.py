"""Operations and their settings: names, types and defaults."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import GroundTruthInput, PathText, SystemInput, SystemsInput
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import (
    Cluster,
    Confidence,
    Cutoffs,
    MatchingSettings,
    Metrics,
    Primary,
    Truth,
)

if TYPE_CHECKING:
    from calipers.model.matched import Matched
    from calipers.questions.fuse.result import Fusion


@dataclass(frozen=True, kw_only=True)
class FuseSettings(Settings):
    """What `fuse` takes."""

    matching: MatchingSettings = MatchingSettings()

    metrics: Metrics = None
    k: Cutoffs = None
    primary: Primary = None
    today: Annotated[
        SystemInput | None,
        Setting(
            "The fused run that is in use, to be compared with instead of RRF with 60.",
            metavar="FILE",
            path=True,
            unchecked=True,
        ),
    ] = None
    confidence: Confidence = 0.95
    cluster: Cluster = None


@operation(page="hybrid", command="fuse")
def fuse(
    lanes: Annotated[
        SystemsInput | PathText,
        Setting("", argument="LANE LANE...", several=True, unchecked=True),
    ] = (),
    ground_truth: Truth = None,
    *,
    settings: FuseSettings,
) -> "Fusion":
    """Find the best fusion of recorded lanes, and what its gain will be on new queries.

    ``lanes`` maps a name to the run of a lane, or is a list of files. One run is enough
    if it holds the candidates that its reranker was given. Reciprocal rank fusion,
    weighted sums of scores, CombMNZ and interleaving are tried, and each lane alone. The
    best of many settings is partly luck, so the gain is measured on queries that did not
    choose it.

    >>> truth = {f"q{i}": ["a"] for i in range(20)}
    >>> words = {q: ["a", "x"] for q in truth}
    >>> vectors = {q: ["x", "y", "a"] for q in truth}
    >>> found = fuse({"words": words, "vectors": vectors}, truth, metrics="mrr@10")
    >>> found.best.name, found.claim.standing
    ('words alone', 'better')
    """
    from calipers.engines.scoring import facts_of
    from calipers.errors import InvalidInput
    from calipers.match.pair import match_again, with_ids_mapped
    from calipers.model.slicing import units_of
    from calipers.questions.default_metrics import asked_metrics, metrics_compared
    from calipers.questions.fuse.rule import fuse_lanes
    from calipers.questions.inputs import matched_like
    from calipers.questions.systems import name_systems
    from calipers.statistics.score_interval import check_confidence

    check_confidence(settings.confidence)
    named = name_systems([lanes] if isinstance(lanes, str | PathLike) else lanes)
    pairs = _matched_lanes(named, ground_truth, settings.matching)
    if not pairs:
        raise InvalidInput("No lane is given; name two or more recorded runs.")
    reranks = len(pairs) == 1
    if reranks:
        [(name, pair)] = pairs.items()
        candidates = pair.as_read[1].stages.get("candidates")
        if candidates is None:
            raise InvalidInput(
                f"One lane is given, {name}, and it does not hold the candidates of a "
                "reranker; give another lane, or record candidates with each result."
            )
        pairs = {"candidates": match_again(pair, candidates), name: pair}
    usual = ("recall", "ndcg"), settings.k or 10
    asked = (settings.metrics, settings.k) if settings.metrics else usual
    chosen = metrics_compared(*asked, settings.matching.rel, (), settings.primary) or ()
    facts = [facts_of(metric) for metric in chosen]
    names = asked_metrics(facts, settings.primary, named=True)
    first = next(iter(pairs.values()))
    today = settings.today
    truth = first.ground_truth
    return fuse_lanes(
        # Lanes that write their ids in two ways share them as they are mapped.
        {name: with_ids_mapped(pair) for name, pair in pairs.items()},
        sorted(
            (metric for metric in chosen if str(metric) in names),
            key=lambda metric: names.index(str(metric)),
        ),
        today=None if today is None else matched_like(first, today, settings.matching),
        reranks=reranks,
        clusters=units_of(truth.queries, truth.tags, settings.cluster),
        confidence=settings.confidence,
    )


def _matched_lanes(
    lanes: "Mapping[str, SystemInput]",
    ground_truth: GroundTruthInput | None,
    matching: MatchingSettings,
) -> "dict[str, Matched]":
    """The lanes, matched; one that finds no target at all is no error where another finds some."""
    from calipers.errors import NoCommonIds
    from calipers.questions.systems import matched_systems

    try:
        return matched_systems(lanes, ground_truth, matching)
    except NoCommonIds:
        lenient = replace(matching, nothing_in_common="zero")
        pairs = matched_systems(lanes, ground_truth, lenient)
        if not any(pair.matches.edge_query.size for pair in pairs.values()):
            raise
        return pairs
