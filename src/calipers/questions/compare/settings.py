"""Operations and their settings: names, types and defaults."""

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import GroundTruthInput, SystemInput, SystemsInput
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import (
    Against,
    Anyway,
    Files,
    MatchingSettings,
    MetricsAsked,
    Primary,
    Store,
    Truth,
)

if TYPE_CHECKING:
    from calipers.questions.compare.result import Comparison
    from calipers.questions.compare.unlabelled import Diff


@dataclass(frozen=True, kw_only=True)
class CompareSettings(Settings):
    """What `compare` takes."""

    measures: MetricsAsked = MetricsAsked()
    matching: MatchingSettings = MatchingSettings()

    baseline: Against = None
    anyway: Anyway = False
    primary: Primary = None


@operation(page="compare", command="compare")
def compare(
    systems: Annotated[
        SystemsInput,
        Setting("", argument="SYSTEM SYSTEM...", several=True, unchecked=True),
    ] = (),
    ground_truth: Truth = None,
    *,
    settings: CompareSettings,
) -> "Comparison":
    """Compare systems on the same queries: is the difference more than noise?

    ``systems`` maps a name to a pair that ``read`` made, to a run (a path, a mapping,
    records, a table), to a file or records with their own ground truth, to a result file
    of ``calipers eval --json``, to a reference such as ``@nightly~1`` (looked up in
    ``store``), or to scores; a list of paths takes its names from the files.

    Differences of ground truth, queries or policies block the comparison unless
    ``anyway`` is true; the result then says so. The metrics that are named decide; by
    default one for finding and one for order (recall and ndcg at the largest cut-off).
    All tests are corrected together.

    >>> truth = {f"q{i}": ["a"] for i in range(12)}
    >>> good, bad = ({q: order for q in truth} for order in (["a", "b"], ["b", "a"]))
    >>> comparison = compare({"old": bad, "new": good}, truth, metrics="mrr")
    >>> found = comparison.difference("new", "mrr")
    >>> found.difference, found.verdict, found.wins, found.losses
    (0.5, 'better', 12, 0)
    """
    from calipers.questions.compare.rule import compare_scores
    from calipers.questions.systems import measure_systems

    measures = settings.measures
    measured = measure_systems(
        systems, ground_truth, settings.matching, measures, settings.primary
    )
    comparison = compare_scores(
        measured.scores,
        baseline=settings.baseline,
        metrics=measured.metrics,
        primary=settings.primary,
        named=settings.measures.metrics is not None,
        cluster=settings.measures.intervals.cluster,
        weight_by=settings.measures.intervals.weight_by,
        anyway=settings.anyway,
        level=settings.measures.intervals.confidence,
        latency_ms=measured.latency_ms,
    )
    sizes = {scores.recorded.corpus_size for scores in measured.scores.values()}
    if len(sizes) < 2 or None in sizes:
        return comparison
    # Few comparisons know of two sizes.
    from calipers.questions.compare.growth_share import growth_explains

    explained = growth_explains(
        comparison,
        systems,
        measured.scores,
        ground_truth,
        settings.matching,
        measures.intervals,
    )
    if explained is None:
        return comparison
    notes = [explained, *comparison.recorded.notes]
    return replace(comparison, settings={**comparison.settings, "notes": notes})


@dataclass(frozen=True, kw_only=True)
class DiffSettings(Settings):
    """What `diff` takes."""

    files: Files = Files()

    k: Annotated[
        int, Setting("How many results of each query to compare.", "-k", file="k")
    ] = 10
    ground_truth: Annotated[
        GroundTruthInput | None,
        Setting(
            "Questions with their texts.",
            "-g",
            "FILE",
            file="ground-truth",
            path=True,
            unchecked=True,
        ),
    ] = None
    store: Store = None


@operation(page="compare", command="compare")
def diff(
    old: Annotated[SystemInput, Setting("", argument="OLD", unchecked=True)],
    new: Annotated[SystemInput, Setting("", argument="NEW", unchecked=True)],
    *,
    settings: DiffSettings,
) -> "Diff":
    """Compare the first k results of two runs; no ground truth is needed.

    ``old`` and ``new`` are runs in any shape that ``read`` takes. Each query gets the
    overlap of the first k, and the new and the lost results.

    >>> found = diff({"q": ["a", "b", "c"]}, {"q": ["a", "c", "d"]})
    >>> [moved.item for moved in found.queries[0].new], round(found.overlap, 2)
    (['d'], 0.67)
    """
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.model.matched import Matched
    from calipers.questions.compare.unlabelled import diff_runs
    from calipers.questions.inputs import kept_before, plain_run, run_within

    columns = Columns.of(settings.files.columns)
    truth_input = settings.ground_truth
    truth = None
    if truth_input is not None:
        truth = load(truth_input, "ground_truth", columns).ground_truth
    runs = []
    where = (columns, settings.files.memory)
    for name, one in (("old", old), ("new", new)):
        if isinstance(one, Matched):
            runs.append(one.run)
            continue
        run = run_within(plain_run(kept_before(one, settings.store)), name, *where)
        runs.append(
            replace(run, name=str(one) if isinstance(one, str | PathLike) else name)
        )
    columns.check_used()
    return diff_runs(*runs, k=settings.k, truth=truth)
