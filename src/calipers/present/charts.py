"""The parts of a chart: panels, axes and marks, and builders that several charts share."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, isfinite, log10
from typing import TypeAlias

from calipers.frozen import dataclass
from calipers.model.scores import Interval
from calipers.words import number


@dataclass(frozen=True)
class Axis:
    """The range of an axis with its tick labels, the most important first if room is short."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""
    is_log: bool = False

    def share(self, value: float) -> float:
        """The position of a value: 0 at the low end, 1 at the high one.

        >>> Axis(0, 4).share(1), Axis(1, 100, is_log=True).share(10), Axis(3, 3).share(3)
        (0.25, 0.5, 0.5)
        """
        low, high = (log10(end) if self.is_log else end for end in (self.low, self.high))
        if high == low:
            return 0.5
        return ((log10(value) if self.is_log else value) - low) / (high - low)


def numbers(low: float, high: float, title: str = "", *, most: int = 5) -> Axis:
    """An axis with round numbers as ticks.

    >>> [text for _, text in numbers(-0.12, 0.3).ticks]
    ['−0.1', '0.0', '0.1', '0.2', '0.3']
    """
    if not high > low:
        low = low - 0.5
        high = high + 0.5
    step = 10.0 ** floor(log10((high - low) / most))
    step *= next(by for by in (1, 2, 5, 10) if (high - low) / (step * by) <= most)
    digits = max(0, -floor(log10(step) + 1e-9))
    first = ceil(low / step - 1e-9)
    last = floor(high / step + 1e-9)
    values = [round(at * step, digits) for at in range(first, last + 1)]
    return Axis(
        low,
        high,
        [(value, f"{value:.{digits}f}".replace("-", "−")) for value in values],
        title,
    )


def cutoffs(ks: Iterable[int], leading: Iterable[int] = ()) -> Axis:
    """An axis of k with the leading ones labelled first; logarithmic if the range is wide.

    >>> cutoffs([1, 2, 5, 10]).is_log, cutoffs([1, 10, 1000], [10]).ticks[0]
    (False, (10.0, '10'))
    """
    known = sorted(set(ks))
    first = known[0]
    last = known[-1]
    usual = (1, 10, 100, 1000, 5, 50, 500, 2, 20, 200, 3, 30, 300)
    order = [*leading, last, first, *usual, *range(2, min(last, 30), 2)]
    ticks = [(float(k), f"{k:,}") for k in dict.fromkeys(order) if first <= k <= last]
    return Axis(first, last, ticks, "k", is_log=last >= 50 * first)


def rows(labels: Sequence[str]) -> Axis:
    """An axis of names, one per row, from top to bottom."""
    ticks = [(float(-at), text) for at, text in enumerate(labels)]
    return Axis(0.5 - len(labels), 0.5, ticks)


@dataclass(frozen=True)
class Stroke:
    """A line through points, with gaps at undefined values."""

    points: Sequence[tuple[float, float]]
    colour: str = "accent"
    dashed: bool = False
    width: float = 2
    said: str = ""


@dataclass(frozen=True)
class Band:
    """An area between two lines: x, the low end, the high end."""

    points: Sequence[tuple[float, float, float]]
    colour: str = "accent"


@dataclass(frozen=True)
class Dot:
    """One value, with a tooltip."""

    x: float
    y: float
    said: str
    colour: str = "accent"
    shape: str = "circle"
    radius: float = 4
    link: str = ""
    """The page that a click opens; it must be linked from another place too."""


Mark: TypeAlias = Stroke | Band | Dot


@dataclass(frozen=True)
class Panel:
    """Two axes and what is drawn between them."""

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: str = ""
    rows: int = 0
    """How many names the vertical axis has; 0 for an axis of numbers."""
    ratio: float = 0.62
    """Height over width."""


@dataclass(frozen=True)
class Chart:
    """Panels under a common legend."""

    title: str
    """What it says, in one sentence."""
    panels: Sequence[Panel]
    said: str = ""
    """The text alternative for screen readers."""
    columns: int = 1
    """How many panels fit side by side."""
    shares_axis: bool = False
    """Whether only the lowest panel needs the labels of the horizontal axis."""
    legend: Sequence[tuple[str, str, str]] = ()
    """A shape, "line" or "dashed"; its colour; its meaning."""


def interval_row(dot: Dot, ends: Interval | None) -> list[Mark]:
    """A dot on a row, with its interval as a line."""
    if ends is None:
        return [dot]
    return [Stroke([(ends.low, dot.y), (ends.high, dot.y)], dot.colour), dot]


def over_k(
    metric: str,
    points: Sequence[tuple[int, float | None, float | None, float | None]],
    guides: Sequence[tuple[int, bool]],
) -> Panel:
    """One metric against k, with its band: k, the mean, the low and the high end of each point.

    A guide is a k with a vertical line, and whether it is dashed.
    """
    known = [(k, mean, low, high) for k, mean, low, high in points if mean is not None]
    top = max([1.0, *(mean if high is None else high for _, mean, _, high in known)])
    marks: list[Mark] = [
        *(Dot(point[0], point[1], _said(metric, *point), radius=3) for point in known),
        Stroke([(k, mean) for k, mean, _, _ in known]),
        *(Stroke([(k, 0.0), (k, top)], "worse", dashed, 1.5) for k, dashed in guides),
        Band(
            [
                (k, low, high)
                for k, _, low, high in known
                if low is not None and high is not None
            ]
        ),
    ]
    x = cutoffs([k for k, *_ in points], [k for k, _ in guides])
    return Panel(x, numbers(0, top, most=3), marks, metric)


def _said(metric: str, k: int, mean: float, low: float | None, high: float | None) -> str:
    between = (
        f" ({number(low)}–{number(high)})" if low is not None and high is not None else ""
    )
    return f"{metric}@{k}: {number(mean)}{between}"


def spread(values: Iterable[float | None], *, least: float) -> Axis:
    """An axis that fits all values and spans at least ``least``.

    >>> spread([0.5, None], least=0.1).low, spread([0.96, 1.0], least=0.1).high
    (0.45, 1.0)
    """
    known = [value for value in values if value is not None and isfinite(value)] or [
        0.0,
        1.0,
    ]
    low = min(known)
    high = max(known)
    if (lacking := least - (high - low)) > 0:
        # A share is at most one, so the axis is extended below.
        above = min(lacking / 2, 1.0 - high) if high <= 1.0 else lacking / 2
        low = low - (lacking - above)
        high = high + above
    return numbers(round(low, 4), round(high, 4), most=4)
