"""Charts of two or more systems: differences from the baseline, and query by query."""

from collections import Counter
from math import sqrt

import numpy as np

from calipers.present.charts import (
    Chart,
    Dot,
    Mark,
    Panel,
    Stroke,
    interval_row,
    numbers,
    padded,
    rows,
    spread,
)
from calipers.present.escape import printable
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.words import between
from calipers.words import number, plural, signed

SIGNS = {
    "better": ("up", "accent"),
    "worse": ("down", "worse"),
    "cannot_tell": ("circle", "even"),
    "supporting": ("stroke", "even"),
}
"""A shape for each verdict, so that no colour is needed to read it."""
MEANINGS = {
    "better": "shown better",
    "worse": "shown worse",
    "cannot_tell": "cannot tell",
    "supporting": "not asked for",
}
MANY = 400
"""Places of a scatter from which on they are rounded to hundredths."""


def differences(comparison: Comparison) -> Chart:
    """Each system minus the baseline, with intervals, by the signs of the sentences."""
    bounded = [facts.name for facts in comparison.metrics if facts.bounds == (0, 1)]
    drawn = [
        (one, one.difference)
        for one in comparison.differences
        if one.difference is not None and one.metric in bounded
    ]
    known = [difference for _, difference in drawn]
    for one, _ in drawn:
        known += [one.interval.low, one.interval.high] if one.interval else []
    x = spread([0.0, *known], least=0.1)
    panels = []
    for name in dict.fromkeys(one.system for one, _ in drawn):
        mine = [pair for pair in drawn if pair[0].system == name]
        y = rows([one.metric for one, _ in mine])
        marks: list[Mark] = [Stroke([(0.0, y.low), (0.0, y.high)], "even", width=1)]
        for at, (one, difference) in enumerate(mine):
            shape, colour = SIGNS[one.verdict]
            said = (
                printable(one.claim.line)
                if one.claim
                else f"{one.metric}: {signed(difference)} ({between(one.interval)}), not asked for"
            )
            dot = Dot(difference, -at, said, colour, shape, 6)
            low, high = (one.interval.low, one.interval.high) if one.interval else (None, None)
            marks += interval_row(dot, low, high)
        title = f"{printable(name, 40)} − {printable(comparison.baseline, 40)}"
        panels.append(Panel(x, y, marks, title, rows=len(mine)))
    found = [verdict for verdict in SIGNS if any(one.verdict == verdict for one, _ in drawn)]
    return Chart(
        "Differences from the baseline",
        panels,
        "Each system less the baseline, with intervals.",
        shares_axis=True,
        legend=[(*SIGNS[verdict], MEANINGS[verdict]) for verdict in found],
    )


def head_to_head(comparison: Comparison, system: str, metric: str) -> Chart:
    """Every query by its value in both systems; queries at one place make one larger dot."""
    column = [facts.name for facts in comparison.metrics].index(metric)
    lower = comparison.metrics[column].better == "lower"
    pairs = np.stack(
        [comparison.values[name][:, column] for name in (comparison.baseline, system)], axis=1
    )
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    places = Counter(map(tuple, pairs.round(4).tolist()))
    if len(places) > MANY:
        places = Counter(map(tuple, pairs.round(2).tolist()))
    top = max([1.0, *(max(place) for place in places)])
    most = max(places.values(), default=1)
    name, base = printable(system, 24), printable(comparison.baseline, 24)
    signs = {"better": SIGNS["better"], "equal": SIGNS["cannot_tell"], "worse": SIGNS["worse"]}
    marks: list[Mark] = [Stroke([(0.0, 0.0), (top, top)], "even", dashed=True, width=1)]
    for (x, y), count in sorted(places.items(), key=lambda item: item[1]):
        outcome = "equal" if x == y else "better" if (y > x) != lower else "worse"
        shape, colour = signs[outcome]
        said = f"{plural(count, 'query', 'queries')}: {base} {number(x)}, {name} {number(y)}"
        marks.append(Dot(x, y, said, colour, shape, 3.5 + 9 * sqrt((count - 1) / most)))
    across, up = (padded(numbers(0, top, f"{metric} of {one}")) for one in (base, name))
    panel = Panel(across, up, marks, ratio=1)
    return Chart(
        f"{metric} per query",
        [panel],
        f"Each query's {metric} in both systems.",
        widest=380,
        legend=[(*sign, word) for word, sign in signs.items()],
    )
