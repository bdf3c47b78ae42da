"""Operations and their settings: names, types and defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.operation import Setting, operation
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


class CompareSettings(MetricsAsked, MatchingSettings, total=False):
    """What `compare` takes."""

    baseline: Against
    anyway: Anyway
    primary: Primary


@operation(page="compare", command="compare")
def compare(
    systems: Annotated[
        Mapping[str, Any] | Sequence[Any],
        Setting("", argument="SYSTEM SYSTEM...", several=True),
    ] = (),
    ground_truth: Truth = None,
    **settings: Unpack[CompareSettings],
) -> "Comparison":
    """Compare systems on the same queries: is the difference more than noise?

    ``systems`` maps a name to a pair that ``read`` made, to a run (a path, a mapping, records, a
    table), to a file or records with their own ground truth, to a result file of
    ``calipers eval --json``, to a reference such as ``@nightly~1`` (looked up in ``store``), or
    to scores; a list of paths takes its names from the files.

    Differences of ground truth, queries or policies block the comparison unless ``anyway`` is true;
    the result then says so. The metrics that are named decide; by default one for finding and one
    for order (recall and ndcg at the largest cut-off). All tests are corrected together.

    >>> truth = {f"q{i}": ["a"] for i in range(12)}
    >>> good, bad = ({q: order for q in truth} for order in (["a", "b"], ["b", "a"]))
    >>> comparison = compare({"old": bad, "new": good}, truth, metrics="mrr")
    >>> found = comparison.difference("new", "mrr")
    >>> found.difference, found.verdict, found.wins, found.losses
    (0.5, 'better', 12, 0)
    """
    from calipers.questions.compare.rule import compare_scores
    from calipers.questions.systems import measure_systems

    measured, wanted = measure_systems(systems, ground_truth, settings)
    return compare_scores(
        measured,
        baseline=settings["baseline"],
        metrics=wanted,
        primary=settings["primary"],
        named=settings["metrics"] is not None,
        cluster=settings["cluster"],
        weight_by=settings["weight_by"],
        anyway=settings["anyway"],
        level=settings["confidence"],
    )


class DiffSettings(Files, total=False):
    """What `diff` takes."""

    k: Annotated[
        int, Setting("How many results of each query to compare.", "-k", default=10, file="k")
    ]
    ground_truth: Annotated[
        Any,
        Setting(
            "Questions with their texts.",
            "-g",
            "FILE",
            file="ground-truth",
            path=True,
        ),
    ]
    store: Store


@operation(page="compare", command="compare")
def diff(
    old: Annotated[Any, Setting("", argument="OLD")],
    new: Annotated[Any, Setting("", argument="NEW")],
    **settings: Unpack[DiffSettings],
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

    said = Columns.of(settings["columns"])
    given, truth = settings["ground_truth"], None
    if given is not None:
        truth = load(given, "ground_truth", said).ground_truth
    runs, where = [], (said, settings["memory"])
    for name, one in (("old", old), ("new", new)):
        if isinstance(one, Matched):
            runs.append(one.run)
            continue
        found = run_within(plain_run(kept_before(one, settings["store"])), name, *where)
        runs.append(replace(found, name=str(one) if isinstance(one, str | PathLike) else name))
    said.check_used()
    return diff_runs(*runs, k=settings["k"], truth=truth)
