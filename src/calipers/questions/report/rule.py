"""Compute everything that a report shows of one retriever."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.questions.diagnose.rule import diagnose_pair
from calipers.questions.metrics import metrics as list_metrics
from calipers.questions.report.browse import Browse
from calipers.questions.report.result import SystemReport
from calipers.questions.shown_results import wanted_per_query
from calipers.questions.slices.result import Slices
from calipers.questions.slices.rule import slice_scores
from calipers.questions.sweep.floor import Floor, find_floor
from calipers.questions.sweep.result import Sweep
from calipers.questions.sweep.rule import sweep_over_k

DEEPEST_SWEEP = 100
MOST_SLICES = 12
"""A tag with more values than this is not sliced by default."""

T = TypeVar("T")


def describe(browse: Browse, *, by: Iterable[str] | None = None, **settings: Any) -> SystemReport:
    """Compute the report on one retriever; ``settings`` are those of the intervals."""
    pair, k = browse.pair, browse.k
    if pair is None:
        raise InvalidInput(
            "What was retrieved was not kept with this evaluation, so there is no report of it; "
            "save without --no-results."
        )
    without: dict[str, str] = {}

    def attempt(part: str, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except InvalidInput as error:
            without[part] = str(error)
            return None

    swept = _swept(pair.depth, k)
    return SystemReport(
        browse=browse,
        sweep=attempt("sweep", lambda: _sweep(pair, swept, settings)),
        floor=attempt("floor", lambda: _floor(pair, k)),
        diagnosis=attempt(
            "diagnosis", lambda: diagnose_pair(pair, k=k, by=by, ks=swept, **settings)
        ),
        misses=attempt("misses", browse.explain),
        slices=attempt("slices", lambda: _slices(browse, by)),
        without=without,
    )


def measured(
    pair: Matched,
    chosen: Sequence[Metric],
    made: Scores | None,
    weights: Mapping[str, float] | None,
    **settings: Any,
) -> Scores:
    """The scores of a pair; scores already ``made`` are checked and reused."""
    if made is None:
        return score(pair, chosen, weights=weights, **settings)
    names = {str(metric.with_rel(pair.rel)) for metric in chosen}
    same = made.queries["query"].equals(pair.matches.queries["query"])
    if not same or names != {facts.name for facts in made.metrics}:
        raise InvalidInput(
            "The scores given are not those of this data and these metrics: found "
            f"{', '.join(facts.name for facts in made.metrics)} of {len(made):,} queries; give "
            "what `evaluate` made of the same, or leave them out."
        )
    return made


def _swept(depth: int, k: int) -> list[int] | None:
    """The values of k to draw, fewer for a deep run; None: as ``sweep`` chooses."""
    if depth <= DEEPEST_SWEEP:
        return None
    usual = [*range(1, 21), *range(25, DEEPEST_SWEEP + 1, 5)]
    return sorted({*usual, min(k, depth), depth})


def _sweep(pair: Matched, ks: list[int] | None, settings: Mapping[str, Any]) -> Sweep:
    if not pair.depth:
        raise InvalidInput("No query got any results, so there is no k to choose.")
    return sweep_over_k(pair, k=ks, **settings)


def _floor(pair: Matched, k: int) -> Floor:
    """Find the score floor; it needs queries that have no answer."""
    if wanted_per_query(pair.matches, pair.rel).all():
        raise InvalidInput("Every query has an answer, so it is not known what a floor would do.")
    return find_floor(pair, k)


def _slices(browse: Browse, by: Iterable[str] | None) -> Slices:
    few = (name for name, values in browse.tags.items() if len(values) <= MOST_SLICES)
    cuts = list(by or few)
    if not cuts:
        raise InvalidInput("The queries have no tags with a few values each.")
    return slice_scores(browse.scores, cuts, metrics=browse.shown[:3])


def definitions_shown(systems: Sequence[SystemReport]) -> tuple[Mapping[str, Any], ...]:
    """The definition of every metric on the page, each once."""
    names = dict.fromkeys(
        list_metrics(facts.name)[0]["name"] for one in systems for facts in one.scores.metrics
    )
    return tuple(list_metrics(name)[0] for name in names)
