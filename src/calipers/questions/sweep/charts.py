"""A sweep as charts: each metric against k, and precision against recall."""

from calipers.present import charts
from calipers.present.charts import Chart, Dot, Mark, Panel, Stroke, numbers
from calipers.questions.sweep.result import Sweep, SweepValue
from calipers.words import number

LABELLED = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def over_k(sweep: Sweep) -> Chart:
    """Every metric against k: one panel each, with its band, the best guess and the safe k."""
    called = _called(sweep)
    # The safe k is a whole line, the best guess a dashed one; where both are one it is whole.
    guides = [(k, name != "safe") for k, name in called.items()]
    panels = [
        charts.over_k(
            stem, [(point.k, *_ends(point.values[stem])) for point in sweep.points], guides
        )
        for stem in sweep.metrics
    ]
    legend = [
        ("dashed" if name != "safe" else "line", "worse", f"k = {k}, {name}")
        for k, name in called.items()
    ]
    said = sweep.recall.says if sweep.recall else ""
    return Chart("Each metric against k", panels, said, columns=3, legend=legend)


def precision_recall(sweep: Sweep) -> Chart:
    """Precision against recall, k along the curve, and the best that can be attained."""
    called = _called(sweep)
    known = [
        (point.k, recall, precision)
        for point in sweep.points
        if (recall := point.values["recall"].mean) is not None
        and (precision := point.values["precision"].mean) is not None
    ]
    highest = [
        (point.k, point.recall_ceiling, point.precision_ceiling)
        for point in sweep.points
        if point.recall_ceiling is not None and point.precision_ceiling is not None
    ]
    dots = [
        Dot(
            recall,
            precision,
            f"k = {k}: recall {number(recall)}, precision {number(precision)}"
            + (f", {called[k]}" if k in called else ""),
            "worse" if k in called else "accent",
            label=_label(k, called, sweep.points[-1].k),
        )
        for k, recall, precision in known
    ]
    dots.sort(key=lambda dot: dot.colour != "worse")
    said = "at most at k = {}: recall {}, precision {}"
    ceilings = [
        Dot(r, p, said.format(k, number(r), number(p)), "even", radius=2.5) for k, r, p in highest
    ]
    marks: list[Mark] = [
        *dots,
        *ceilings,
        Stroke([(r, p) for _, r, p in known]),
        Stroke([(r, p) for _, r, p in highest], "even", dashed=True, width=1.5),
    ]
    panel = Panel(numbers(0, 1, "recall"), numbers(0, 1, "precision"), marks, ratio=0.72)
    legend = [("line", "accent", "this retriever")]
    if highest:
        legend.append(("dashed", "even", "the best that is possible"))
    said = "Precision against recall, with k along the curve."
    return Chart("Precision against recall", [panel], said, widest=460, legend=legend)


def _ends(value: SweepValue) -> tuple[float | None, float | None, float | None]:
    ends = value.interval
    return (value.mean, ends.low, ends.high) if ends else (value.mean, None, None)


def _called(sweep: Sweep) -> dict[int, str]:
    """The k that is the best guess and the one that is safe, and what they are called."""
    found = sweep.recall
    return {found.best_guess: "best guess", found.safe_k: "safe"} if found else {}


def _label(k: int, called: dict[int, str], last: int) -> str:
    if k in called:
        return f"k = {k}, {called[k]}"
    return f"k = {k}" if k in (1, last) else f"{k}" if k in LABELLED else ""
