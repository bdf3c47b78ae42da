"""Draw a chart as SVG for a page or a notebook: panels, axes, marks and labels."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from math import isfinite
from typing import Literal

from calipers.frozen import dataclass
from calipers.present.charts import Axis, Band, Chart, Dot, Panel, Stroke
from calipers.present.escape import printable

FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"
"""A font with the same widths everywhere, as the width of a text is estimated, not
measured."""
SIZE = 12
"""The font size in pixels."""
_NARROW = frozenset("iljtfrI.,:;|!'()[] ")
_WIDE = frozenset("mwMW@%—…−→")
LINE_HEIGHT = 15
GAP = 30
"""The gap between panels side by side."""
HEAD = 22
FOOT = 20
"""Height of the title of a panel, and of the labels of its axis."""
EDGE = 14
"""Margin at the right of a panel, for half of the last label."""
TALLEST = 330
ROW = 16
"""Distance of the labels of two rows."""

REM = 14.6
"""Pixels per unit of the page."""
NOTEBOOK_WIDE = 680
"""The width of a chart in a notebook cell."""
WIDTHS = {"wide": 900, "middle": 560, "narrow": 330}
"""The widths on a page: for a screen, a small window and a phone."""
NOTEBOOK: Mapping[str, str] = {
    "ink": "currentColor",
    "quiet": "currentColor",
    "line": "color-mix(in srgb, currentColor 18%, transparent)",
    "accent": "#3a7fc8",
    "worse": "#c8661d",
    "even": "#7d8794",
}
"""The text's own colour, and others that are visible on white and on dark."""
PAGE: Mapping[str, str] = {name: f"var(--{name})" for name in NOTEBOOK}
"""The colours of the page as CSS variables, so that a chart follows its dark mode."""


def on_page(chart: Chart) -> str:
    """Draw the chart once per screen size; the style sheet shows one of them."""
    if not chart.panels:
        return ""
    return "".join(
        f'<div class="chart {name}">{draw(chart, PAGE, width, "rem")}</div>'
        for name, width in WIDTHS.items()
    )


def in_notebook(chart: Chart) -> str:
    """Draw the chart for a light or dark notebook."""
    return draw(chart, NOTEBOOK, NOTEBOOK_WIDE) if chart.panels else ""


@dataclass(frozen=True, repr=False)
class Plot:
    """A chart, as returned by ``result.plot()``."""

    chart: Chart

    def _repr_html_(self) -> str:
        return in_notebook(self.chart)

    def __repr__(self) -> str:
        """The chart's title, for the Python prompt."""
        return f"<Plot: {printable(self.chart.title)}>"


def draw(
    chart: Chart,
    palette: Mapping[str, str],
    width: float,
    unit: Literal["px", "rem"] = "px",
) -> str:
    """Draw the chart as SVG of this width; with the unit ``rem`` it scales with the page's text.

    >>> from calipers.present.charts import numbers
    >>> panel = Panel(numbers(0, 1), numbers(0, 1), [Dot(0.5, 0.5, "half")])
    >>> drawn = draw(Chart("A dot", [panel]), {}, 200)
    >>> drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="A dot"')
    True
    """
    colours = {**_EVERYWHERE, **palette}
    parts: list[str] = []
    columns = min(chart.columns, max(1, int(width // 150)), len(chart.panels)) or 1
    outer = (width - GAP * (columns - 1)) / columns
    room = outer * 0.42
    side = max((_side(panel.y, room) for panel in chart.panels), default=0.0)
    inner = outer - side - EDGE
    top = _legend(chart, colours, width, parts)
    for start in range(0, len(chart.panels), columns):
        row = chart.panels[start : start + columns]
        axis = not chart.shares_axis or start + columns >= len(chart.panels)
        bottoms = []
        for place, panel in enumerate(row):
            left = place * (outer + GAP) + side
            plot = _Plot(panel, left, top + _head(panel), inner, room, colours)
            parts += plot.drawn(axis=axis)
            bottoms.append(plot.bottom(axis=axis))
        top = max(bottoms) + 12
    size = f"{width / REM:.2f}rem" if unit == "rem" else _n(width)
    linked = any(
        getattr(mark, "link", "") for panel in chart.panels for mark in panel.marks
    )
    role = "group" if linked else "img"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="{role}" aria-label="{_safe(chart.title)}" '
        f'viewBox="0 0 {_n(width)} {_n(top)}" width="{size}" '
        f'font-family="{FONT}" font-size="{SIZE}">'
        f"<desc>{_safe(chart.said)}</desc>{''.join(parts)}</svg>"
    )


# Contrast is at least 3:1 on white and on dark, and shapes differ as well as colours.
_SERIES = [
    "#3a7fc8",
    "#c8661d",
    "#23936f",
    "#b0559d",
    "#8d7b1d",
    "#7a6fd6",
    "#cc4b4b",
    "#6c7f8f",
]
_EVERYWHERE = {f"series{number}": colour for number, colour in enumerate(_SERIES)}
SHAPES = {
    "circle": "M{l},{y}a{r},{r} 0 1 0 {d},0a{r},{r} 0 1 0 -{d},0Z",
    "up": "M{x},{t}L{p},{b}H{l}Z",
    "down": "M{x},{b}L{p},{t}H{l}Z",
    "square": "M{l},{t}H{p}V{b}H{l}Z",
    "diamond": "M{x},{t}L{p},{y}L{x},{b}L{l},{y}Z",
}


class _Plot:
    """One panel at its place."""

    def __init__(
        self,
        panel: Panel,
        left: float,
        top: float,
        width: float,
        room: float,
        colours: Mapping[str, str],
    ) -> None:
        self.panel = panel
        self.left = left
        self.top = top
        self.width = width
        self.room = room
        self.colours = colours
        lines = max((len(wrapped(text, room)) for _, text in panel.y.ticks), default=1)
        rows = panel.rows * (lines * LINE_HEIGHT + ROW)
        self.height = rows or min(width * panel.ratio, TALLEST)

    def x(self, value: float) -> float:
        return self.left + self.panel.x.share(value) * self.width

    def y(self, value: float) -> float:
        return self.top + (1 - self.panel.y.share(value)) * self.height

    def bottom(self, *, axis: bool) -> float:
        x = self.panel.x
        foot = (FOOT if x.ticks else 0) + (18 if x.title else 0)
        return self.top + self.height + (foot if axis else 0)

    def drawn(self, *, axis: bool) -> Iterator[str]:
        yield from self._axes(axis)
        # The first marks matter most: they are drawn on top.
        for kind in (Band, Stroke, Dot):
            for mark in reversed(self.panel.marks):
                if isinstance(mark, kind):
                    yield from self._mark(mark)

    def _axes(self, axis: bool) -> Iterator[str]:
        x = self.panel.x
        y = self.panel.y
        right = self.left + self.width
        low = self.top + self.height
        at = self.top - 10
        if self.panel.title:
            yield self._text(
                self.panel.title, 0 if self.panel.rows else self.left, at, bold=True
            )
        elif y.title:
            yield self._text(y.title, self.left, at, colour="quiet")
        for value, text in y.ticks:
            place = self.y(value)
            if not self.panel.rows:
                yield self._stroke((self.left, place), (right, place))
            lines = wrapped(text, self.room)
            first = place + 4 - (len(lines) - 1) * LINE_HEIGHT / 2
            for number, line in enumerate(lines):
                yield self._text(
                    line,
                    self.left - 9,
                    first + number * LINE_HEIGHT,
                    anchor="end",
                    colour="ink" if self.panel.rows else "quiet",
                )
        labels: list[tuple[float, float]] = []
        for value, text in x.ticks:
            place = self.x(value)
            half = text_width(text) / 2
            if self.panel.rows:
                yield self._stroke((place, self.top), (place, low))
            middle = max(min(place, right + EDGE - half), half)
            first = middle - half - 5
            last = middle + half + 5
            if not axis or any(first < right and left < last for left, right in labels):
                continue
            labels.append((first, last))
            if not self.panel.rows:
                yield self._stroke((place, low), (place, low + 4))
            yield self._text(text, middle, low + 16, anchor="middle", colour="quiet")
        if axis and x.title:
            middle = self.left + self.width / 2
            yield self._text(x.title, middle, low + 34, anchor="middle", colour="quiet")

    def _mark(self, mark: Band | Stroke | Dot) -> Iterator[str]:
        colour = self.colours.get(mark.colour, mark.colour)
        if isinstance(mark, Band):
            for part in _whole(mark.points):
                ends = [(x, high) for x, _, high in part] + [
                    (x, low) for x, low, _ in part[::-1]
                ]
                path = "L".join(self._place(*end) for end in ends)
                # A single value has a line for its interval.
                seen = f'fill="{colour}" fill-opacity=".16"'
                if len(part) == 1:
                    seen = f'stroke="{colour}" stroke-width="2" stroke-opacity=".5"'
                yield f'<path d="M{path}Z" {seen}/>'
        elif isinstance(mark, Stroke):
            dash = ' stroke-dasharray="5 4"' if mark.dashed else ""
            for part in _whole(mark.points):
                path = "L".join(self._place(*point) for point in part)
                yield (
                    f'<path d="M{path}" fill="none" stroke="{colour}" '
                    f'stroke-width="{mark.width}"{dash}{_closed("path", mark.said)}'
                )
        elif isfinite(mark.x + mark.y):
            x = self.x(mark.x)
            y = self.y(mark.y)
            r = mark.radius
            # Wider than it looks, so that it is easy to point at.
            drawn = (
                f'<path class="dot" d="{_shape(mark.shape, x, y, r)}" fill="{colour}" '
                f'stroke="transparent" stroke-width="8"{_closed("path", mark.said)}'
            )
            # For the pointer only: the dots are too close to tab through one by one.
            before = f'<a href="{_safe(mark.link)}" tabindex="-1" aria-hidden="true">'
            yield f"{before}{drawn}</a>" if mark.link else drawn

    def _place(self, x: float, y: float) -> str:
        return f"{_n(self.x(x))},{_n(self.y(y))}"

    def _stroke(self, start: tuple[float, float], end: tuple[float, float]) -> str:
        path = f"M{_n(start[0])},{_n(start[1])}L{_n(end[0])},{_n(end[1])}"
        return (
            f'<path d="{path}" stroke="{self.colours.get("line", "#ddd")}" fill="none"/>'
        )

    def _text(
        self,
        text: str,
        x: float,
        y: float,
        *,
        anchor: str = "",
        colour: str = "ink",
        bold: bool = False,
    ) -> str:
        if not anchor:
            text = fitted(text, self.left + self.width + EDGE - x, 1.2 if bold else 1.0)
        return (
            f'<text x="{_n(x)}" y="{_n(y)}" fill="{self.colours.get(colour, "#000")}"'
            + (f' text-anchor="{anchor}"' if anchor else "")
            + (' font-weight="600" font-size="13"' if bold else "")
            + f">{_safe(text)}</text>"
        )


def _legend(
    chart: Chart, colours: Mapping[str, str], width: float, parts: list[str]
) -> float:
    """Draw the legend above the panels; return the y below it."""
    x = 0.0
    y = 12.0
    for sign, name, text in chart.legend:
        shown = fitted(text, width - 34)
        if x and x + 34 + text_width(shown) > width:
            x = 0.0
            y = y + 19
        colour = colours.get(name, name)
        if sign in SHAPES:
            shape = _shape(sign, x + 9, y - 4, 5)
            parts.append(f'<path d="{shape}" fill="{colour}"/>')
        else:
            dash = ' stroke-dasharray="5 4"' if sign == "dashed" else ""
            path = f"M{_n(x)},{_n(y - 4)}h20"
            parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="2"{dash}/>')
        ink = colours.get("ink", "#000")
        parts.append(
            f'<text x="{_n(x + 26)}" y="{_n(y)}" fill="{ink}">{_safe(shown)}</text>'
        )
        x += 26 + text_width(shown) + 20
    return y + 16 if chart.legend else 0.0


def text_width(text: str) -> float:
    """The width of a text in pixels, rather overestimated."""
    return SIZE * sum(map(_letter, text))


def _letter(character: str) -> float:
    if character in _NARROW:
        return 0.38
    if character in _WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.74 if character.isupper() else 0.62


def fitted(text: str, room: float, scale: float = 1.0) -> str:
    """Cut a text to the room.

    >>> fitted("retriever", 200), fitted("retriever", 30)
    ('retriever', 'ret…')
    """
    if text_width(text) * scale <= room:
        return text
    while text and text_width(text + "…") * scale > room:
        text = text[:-1]
    return text + "…"


def wrapped(text: str, room: float, most: int = 3) -> list[str]:
    """Wrap a text into at most ``most`` lines, the last one cut."""
    lines: list[str] = []
    rest = printable(text)
    while rest and len(lines) < most - 1 and text_width(rest) > room:
        part = fitted(rest, room)[:-1]
        # At a space, if there is one in the second half.
        cut = part.rfind(" ") if part.rfind(" ") > len(part) / 2 else len(part)
        lines.append(rest[: max(cut, 1)].rstrip())
        rest = rest[max(cut, 1) :].lstrip()
    return [*lines, fitted(rest, room)]


def _head(panel: Panel) -> float:
    return HEAD if panel.title or panel.y.title else 8.0


def _side(axis: Axis, room: float) -> float:
    """The width of the labels of a vertical axis."""
    lines = (line for _, text in axis.ticks for line in wrapped(text, room))
    return max(map(text_width, lines), default=0.0) + 12


def _shape(sign: str, x: float, y: float, r: float) -> str:
    """The outline of a sign around a point."""
    ends = {
        "x": x,
        "y": y,
        "r": r,
        "d": 2 * r,
        "l": x - r,
        "p": x + r,
        "t": y - r,
        "b": y + r,
    }
    return SHAPES[sign].format(**{name: _n(at) for name, at in ends.items()})


def _whole(points: Sequence[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """The stretches of points between undefined values."""
    for known, part in groupby(points, lambda point: isfinite(sum(point))):
        if known:
            yield list(part)


def _closed(tag: str, tooltip: str) -> str:
    """The end of an element, with its tooltip."""
    return f"><title>{_safe(tooltip)}</title></{tag}>" if tooltip else "/>"


def _safe(text: str) -> str:
    return escape(printable(text))


def _n(value: float) -> str:
    """A number rounded to a tenth of a pixel, as short as possible."""
    return f"{value:.1f}".removesuffix(".0")
