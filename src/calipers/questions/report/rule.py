"""Gather everything about one retriever, for the page that people open."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import polars as pl

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.measures import Metric, parse
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.questions.diagnose.rule import diagnose_pair
from calipers.questions.metrics import metrics as list_metrics
from calipers.questions.misses.result import Misses
from calipers.questions.misses.rule import explain_misses
from calipers.questions.report.result import FEWEST_SHOWN, SystemReport
from calipers.questions.shown_results import list_results, wanted_per_query
from calipers.questions.slices.rule import slice_scores
from calipers.questions.sweep.floor import find_floor
from calipers.questions.sweep.floor_answer import Floor
from calipers.questions.sweep.rule import sweep_over_k

HEAD = ("hit_rate", "recall", "precision", "f1", "ndcg", "mrr", "map")
DEFAULT_K = 10
DEEPEST_SWEEP = 100
LISTED = 10_000
"""Cases of misses that are held ready."""
MOST_SLICES = 12
"""A tag with more values than this is a name, not a kind of query."""

T = TypeVar("T")


def describe(
    name: str,
    pair: Matched,
    chosen: Sequence[Metric],
    *,
    made: Scores | None = None,
    misses: Callable[[], Misses] | None = None,
    weights: Mapping[str, float] | None,
    corpus: Any,
    by: Iterable[str] | None,
    **settings: Any,
) -> SystemReport:
    """Everything that is known of one retriever; ``settings`` are those of the intervals.

    ``made`` are its scores and ``misses`` gives its misses, where they are there already.
    """
    if made is not None:
        _check_made(made, pair, chosen)
    rel, depth = pair.rel, pair.depth
    k = max((metric.k for metric in chosen if metric.k is not None), default=DEFAULT_K)
    described = [metric.with_rel(rel) for metric in parse(HEAD, [k])]
    head = score(pair, described, **settings)
    without: dict[str, str] = {}

    def attempt(part: str, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except InvalidInput as error:
            without[part] = str(error)
            return None

    swept = _swept(depth, k)
    return SystemReport(
        name=name,
        k=k,
        scores=score(pair, chosen, weights=weights, **settings) if made is None else made,
        head=head,
        sweep=attempt("sweep", lambda: sweep_over_k(pair, k=swept, **settings)) if depth else None,
        floor=attempt("floor", lambda: _floor(pair, k)),
        diagnosis=attempt(
            "diagnosis", lambda: diagnose_pair(pair, k=k, by=by, ks=swept, **settings)
        ),
        misses=attempt("misses", misses or partial(_misses, pair, k, corpus)),
        slices=attempt("slices", lambda: _slices(head, pair, by, k)),
        rankings=partial(rank_table, pair, max(k, FEWEST_SHOWN)),
        targets=pair.targets,
        without=without,
    )


def _check_made(made: Scores, pair: Matched, chosen: Sequence[Metric]) -> None:
    """Refuse scores of other data or of other metrics: the page would contradict itself."""
    names = {str(metric.with_rel(pair.rel)) for metric in chosen}
    same = made.queries["query"].equals(pair.matches.queries["query"])
    if not same or names != {facts.name for facts in made.metrics}:
        raise InvalidInput(
            "The scores given are not those of this data and these metrics: found "
            f"{', '.join(facts.name for facts in made.metrics)} of {len(made):,} queries; give "
            "what `evaluate` made of the same, or leave them out."
        )


def _swept(depth: int, k: int) -> list[int] | None:
    """A page draws no more of a deep run than the eye can use; None: as ``sweep`` chooses."""
    if depth <= DEEPEST_SWEEP:
        return None
    usual = [*range(1, 21), *range(25, DEEPEST_SWEEP + 1, 5)]
    return sorted({*usual, min(k, depth), depth})


def _floor(pair: Matched, k: int) -> Floor:
    """A floor is for questions that have no answer; where each has one, nobody asks for it."""
    if wanted_per_query(pair.matches, pair.rel).all():
        raise InvalidInput("Every query has an answer, so it is not known what a floor would do.")
    return find_floor(pair, k)


def _misses(pair: Matched, k: int, corpus: Any) -> Misses:
    """A page takes what it shows from ``by_query``, which has all; the tables hold the first."""
    return explain_misses(pair, k, corpus=corpus, cases=range(LISTED), every_text=True)


def _slices(head: Scores, pair: Matched, by: Iterable[str] | None, k: int) -> Any:
    tags = pair.ground_truth.tags
    cuts = (
        list(by)
        if by
        else [name for name, tag in tags.items() if 1 < tag.drop_nulls().n_unique() <= MOST_SLICES]
    )
    if not cuts:
        raise InvalidInput("The queries have no tags with a few values each.")
    names = [facts.name for facts in head.metrics if facts.k == k]
    wanted = [one for one in names if one.partition("@")[0] in ("recall", "precision", "ndcg")]
    return slice_scores(head, cuts, metrics=wanted)


def definitions_shown(systems: Sequence[SystemReport]) -> tuple[Mapping[str, Any], ...]:
    """The definition of every metric that is shown, once."""
    names: dict[str, None] = {}
    for one in systems:
        for facts in (*one.head.metrics, *one.scores.metrics):
            names.setdefault(list_metrics(facts.name)[0]["name"])
    return tuple(list_metrics(name)[0] for name in names)


SHOWN = ("item", "score", "text", "document", "start", "end")


def rank_table(pair: Matched, depth: int, wanted: pl.Series | None = None) -> pl.DataFrame:
    """The first ``depth`` results of every query that the ground truth knows, or of some.

    Columns: ``query`` (its code), ``rank``, what is known of the result, ``targets`` (the numbers
    of the targets that it holds), ``grade`` (the highest of them) and ``state``: relevant, not
    relevant (judged so), repeated (stood above already) or unjudged.
    """
    matches, rel = pair.matches, pair.rel
    among = None if wanted is None else matches.asked["query"].is_in(wanted.implode()).to_numpy()
    listed = list_results(pair.run, matches, pair.policy.ties, depth, SHOWN, among)
    held = (
        pl.DataFrame(
            {
                "query": matches.edge_query,
                "rank": matches.edge_rank,
                "targets": matches.edge_target,
                "grade": matches.target_grade[matches.edge_target],
                "useful": matches.relevant(rel)[matches.edge_target],
            }
        )
        .group_by("query", "rank")
        .agg("targets", pl.col("grade").max(), pl.col("useful").any())
    )
    return (
        listed.join(held, on=["query", "rank"], how="left", maintain_order="left")
        .with_columns(
            state=pl.when(pl.col("useful"))
            .then(pl.lit("relevant"))
            .when(pl.col("useful").is_not_null())
            .then(pl.lit("not relevant"))
            .when(pl.col("repeated"))
            .then(pl.lit("repeated"))
            .otherwise(pl.lit("unjudged"))
        )
        .drop("useful", "repeated")
        .sort("query", "rank")
    )
