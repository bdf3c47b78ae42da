"""The curve of precision over recall, as every course on retrieval draws it."""

from functools import partial
from typing import ClassVar

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures import parse
from calipers.measures.rank import CURVE, LEVELS
from calipers.model.document import Document, Picture, Table
from calipers.model.matched import Matched
from calipers.model.result import Plain, ShowsItself
from calipers.present.charts import Chart, Dot, Panel, Stroke, numbers
from calipers.words import number


@dataclass(frozen=True, repr=False)
class RecallCurve(Plain, ShowsItself):
    """Interpolated precision at the eleven levels of recall."""

    shown_by: ClassVar[str] = "calipers.questions.report.curve"

    precision: tuple[float, ...]
    average: float
    """The mean over the levels: trec_eval's 11pt_avg."""


def recall_curve(pair: Matched) -> RecallCurve:
    """The curve of a run, averaged over queries as trec_eval does."""
    scores = score(pair, parse([CURVE, "11pt_avg"]))
    means = [summary.mean for summary in scores.summaries.values()]
    known = [mean for mean in means if mean is not None]
    if len(known) < len(means):
        raise InvalidInput("No query has anything to find, so there is no curve.")
    return RecallCurve(tuple(known[:-1]), known[-1])


def document(curve: RecallCurve) -> Document:
    """The precision that is left at each level of recall, and its mean."""
    rows = [
        (level, number(value))
        for level, value in zip(LEVELS, curve.precision, strict=True)
    ]
    half = number(curve.precision[5])
    return Document(
        f"At half of the recall, precision is {half}; over all levels {number(curve.average)}.",
        blocks=[
            Picture(partial(chart, curve)),
            Table(("recall", "precision"), rows, "iprec_at_recall", detail=True),
        ],
    )


def chart(curve: RecallCurve) -> Chart:
    """Precision against recall."""
    points = [
        (float(level), value)
        for level, value in zip(LEVELS, curve.precision, strict=True)
    ]
    dots = [
        Dot(x, y, f"recall {x:.1f}: precision {number(y)}", radius=3) for x, y in points
    ]
    panel = Panel(
        numbers(0, 1, "recall"),
        numbers(0, 1, most=5),
        [*dots, Stroke(points)],
        "precision",
    )
    sentence = (
        f"Precision at eleven levels of recall; their mean is {number(curve.average)}."
    )
    return Chart(sentence, [panel], "Interpolated precision against recall.")
