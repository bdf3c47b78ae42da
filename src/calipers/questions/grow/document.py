"""Growth as a document: what to expect, a row per size, and the curve."""

from collections.abc import Iterator, Sequence
from functools import partial

from calipers.model.document import (
    Block,
    Cell,
    Cells,
    Column,
    Document,
    Heads,
    Note,
    Picture,
    Table,
    note_of,
)
from calipers.model.fact import Fact, Sentence, named, sentence
from calipers.present.charts import Axis, Band, Chart, Dot, Mark, Panel, Stroke, numbers
from calipers.present.escape import printable
from calipers.questions.grow.result import (
    FEWEST,
    WIDEST,
    Growth,
    GrowthValue,
    NeededK,
    TodayValue,
)
from calipers.statistics.growth import SAMPLES
from calipers.words import listed, number

_WORDS = {
    1: "today's size of",
    2: "twice",
    3: "three times",
    4: "four times",
    5: "five times",
    6: "six times",
    7: "seven times",
    8: "eight times",
    9: "nine times",
    10: "ten times",
    0.5: "half",
    0.25: "a quarter of",
    0.1: "a tenth of",
}
ASSUMES = "New documents are taken to be like the old; near copies of the targets would be worse."


def document(growth: Growth) -> Document:
    """What to expect, one row per size, and the chart."""
    blocks: list[Block] = [_table(growth)] if growth.growth else []
    blocks += [_slices(growth)] if growth.slices else []
    if any(row.printed for row in growth.growth):
        blocks.append(Picture(partial(curve, growth)))
    return Document(
        _sentence(growth),
        blocks=blocks,
        notes=list(_notes(growth)),
        rows=lambda: growth.growth,
    )


def _sentence(growth: Growth) -> str:
    """Today, and what to expect at the largest size that can be told."""
    if not growth.growth:
        return sentence(
            "{it.count:query is|queries are} too few to say how a larger corpus changes recall; it "
            "takes {least.value:g} or more.",
            it=Fact(about="count", count=growth.n),
            least=Fact(about="setting", value=FEWEST),
        )
    row = growth.leads
    today = _today(growth.today, _metric_that_leads(growth))
    mean = Fact(about="mean", metric=today.metric, value=today.mean, queries=growth.n)
    if row is None:
        return sentence(
            "{it.metric} is {it.value} today; this run cannot say how it changes.",
            it=mean,
        )
    expected = Fact(
        about="mean",
        system=shown_times(row.times),
        metric=row.metric,
        value=row.mean,
        low=row.low,
        high=row.high,
    )
    return sentence(
        "{today.metric} is {today.value} today; at {times.text} the corpus expect about "
        "{it.value:.2f} ({it.low:.2f}–{it.high:.2f}).",
        today=mean,
        times=named(_in_words(row.times)),
        it=expected,
    )


def _in_words(times: float) -> str:
    """A multiple as it is said.

    >>> _in_words(10.0), _in_words(33.3333), _in_words(0.5), _in_words(0.3)
    ('ten times', '33 times', 'half', '0.3 times')
    """
    return (
        _WORDS.get(times)
        or (f"{times:,.0f}" if times >= 20 else f"{times:.2g}") + " times"
    )


def shown_times(times: float) -> str:
    """A multiple in a table.

    >>> shown_times(2.0), shown_times(33.3333), shown_times(0.25), shown_times(1.5)
    ('2×', '33.3×', '0.25×', '1.5×')
    """
    return f"{times:.3g}×"


def _ends(row: GrowthValue) -> str:
    """The interval, with two places."""
    return f"{row.low:.2f}–{row.high:.2f}"


def _today(today: Sequence[TodayValue], metric: str) -> TodayValue:
    """Today's value of a metric."""
    return next(value for value in today if value.metric == metric)


def _table(growth: Growth) -> Table:
    """One row per size, one column per metric, with the interval behind each value."""
    metrics = [value.metric for value in growth.today]
    sized = growth.corpus_size is not None
    heads: Heads = [
        Column("corpus", words=True),
        *(["documents"] if sized else []),
        *metrics,
    ]
    first: list[Cell | str] = ["today", *([f"{growth.corpus_size:,}"] if sized else [])]
    rows: list[Cells] = [
        [*first, *(f"{number(value.mean)}{_BLANK}" for value in growth.today)]
    ]
    for times in growth.times:
        size = f"{round(times * (growth.corpus_size or 0)):,}"
        row: list[Cell | str] = [shown_times(times), *([size] if sized else [])]
        row += [_cell(growth.at(times, metric)) for metric in metrics]
        rows.append(row)
    return Table(heads, rows)


_BLANK = " " * 11
"""As wide as the digits that only today's value has not, and an interval."""


def _cell(row: GrowthValue) -> str:
    """A value with its interval, or a dash."""
    return f"{row.mean:.2f}  {_ends(row)}" if row.printed else f"–{_BLANK}"


def _metric_that_leads(growth: Growth) -> str:
    """The metric of the first sentence and of slices."""
    return growth.leads.metric if growth.leads else growth.today[-1].metric


def _slices(growth: Growth) -> Table:
    """One row per slice for the metric that leads, one column per size."""
    metric = _metric_that_leads(growth)
    heads: Heads = [
        Column("slice", words=True),
        "queries",
        f"{metric} today",
        *(shown_times(times) for times in growth.times),
    ]
    rows: list[Cells] = []
    for part in growth.slices:
        shown = {
            row.times: row for row in part.growth if row.metric == metric and row.printed
        }
        values = [
            _cell(shown[times]) if times in shown else "–" for times in growth.times
        ]
        today = _today(part.today, metric)
        rows.append(
            [f"{part.by} {part.value}", f"{part.queries:,}", number(today.mean), *values]
        )
    return Table(heads, rows)


def _notes(growth: Growth) -> Iterator[Note]:
    """What is not shown, what finds as much, and what is assumed."""
    yield from (Note("doubt", text) for text in _reasons(growth))
    yield from (Note("doubt", text) for text in _reasons_of_slices(growth))
    if growth.needed_k is not None:
        yield Note("doubt", _needed(growth.needed_k))
    if any(row.printed and row.times > 1 for row in growth.growth):
        yield Note("doubt", ASSUMES)
    if growth.by_documents:
        yield Note(
            "method",
            "Competitors are counted by document, as one may have several results above a target.",
        )
    yield from (note_of(text) for text in growth.notes)
    yield Note(
        "method",
        sentence(
            "From the number of competitors above each target; intervals from {it.count} samples "
            "of queries, each fitted anew. Less than the whole corpus needs no fit.",
            it=Fact(about="setting", count=SAMPLES),
        ),
    )


def _needed(needed: NeededK) -> str:
    """What finds as much as today in the larger corpus."""
    at = named(shown_times(needed.times))
    if needed.k is None:
        return sentence(
            "No k up to {it.k} finds as much as {it.metric} today at {at.text}.",
            it=Fact(about="choice", metric=needed.metric, k=needed.most),
            at=at,
        )
    return sentence(
        "To find as much as today at {at.text} takes k of about {it.k}.",
        it=Fact(about="choice", metric=needed.metric, k=needed.k),
        at=at,
    )


def _reasons(growth: Growth) -> Iterator[str]:
    """What the values that are not shown need, one line for all."""
    by_reason: dict[str, dict[float, list[str]]] = {}
    for row in growth.growth:
        if row.reason is not None:
            sizes = by_reason.setdefault(row.reason, {})
            sizes.setdefault(row.times, []).append(row.metric)
    everywhere: list[str] = []
    by_size: dict[float, list[str]] = {}
    for reason, sizes in by_reason.items():
        alike = len({tuple(metrics) for metrics in sizes.values()}) == 1
        if alike and len(sizes) == len(growth.times) > 1:
            everywhere.append(_needs(growth, next(iter(sizes.values())), reason))
            continue
        for times, metrics in sizes.items():
            by_size.setdefault(times, []).append(_needs(growth, metrics, reason))
    lines = [
        f"{shown_times(times)}: {', '.join(by_size[times])}"
        for times in growth.times
        if times in by_size
    ]
    lines += [f"every size: {line}" for line in everywhere]
    if lines:
        # What is needed is named, not measured.
        lines[0] = f"{lines[0][0].upper()}{lines[0][1:]}"
        yield Sentence(f"{'; '.join(lines)}.", [named(line) for line in lines])
    if any(_skips(growth, today.metric) for today in growth.today):
        yield sentence(
            "Ranges wider than {it.value:g} are left out; that of a larger corpus may be "
            "narrower, as less is found there.",
            it=Fact(about="setting", value=WIDEST),
        )


def _skips(growth: Growth, metric: str) -> bool:
    """Whether a larger corpus is told of and a smaller one is not, for its wide range."""
    rows = [row for row in growth.growth if row.metric == metric and row.times > 1]
    wide = [row.times for row in rows if row.high - row.low > WIDEST]
    return any(row.printed and row.times > min(wide) for row in rows if wide)


def _needs(growth: Growth, metrics: Sequence[str], reason: str) -> str:
    """What these metrics need; all of them go without a name where it is a need."""
    if len(metrics) == len(growth.today) and reason.startswith("needs"):
        return reason
    verb, _, rest = reason.partition(" ")
    return f"{listed(metrics)} {verb if len(metrics) == 1 else verb[:-1]} {rest}"


MOST_SLICES = 3
"""So many slices are named that need the same; the others are counted."""


def _reasons_of_slices(growth: Growth) -> Iterator[str]:
    """What the values of slices that are not shown need, one line for all."""
    metric = _metric_that_leads(growth)
    by_reason: dict[tuple[float, str], list[str]] = {}
    for part in growth.slices:
        name = printable(f"{part.by} {part.value}", 24)
        needs = [(row.times, row.reason) for row in part.growth if row.metric == metric]
        if not part.growth:
            needs = [(0.0, f"needs {FEWEST} queries")]
        for times, reason in needs:
            if reason is not None:
                by_reason.setdefault((times, reason), []).append(name)
    lines = []
    for (times, reason), names in sorted(by_reason.items()):
        size = f"{shown_times(times)} " if times else ""
        lines.append(f"{size}{reason} ({_some(names)})")
    if lines:
        yield Sentence(f"Slices: {'; '.join(lines)}.", [named(line) for line in lines])


def _some(names: Sequence[str]) -> str:
    """A few names, and how many more there are.

    >>> _some(["a", "b"]), _some(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    more = len(names) - MOST_SLICES
    shown = ", ".join(names[:MOST_SLICES])
    return f"{shown} and {more} more" if more > 0 else shown


def curve(growth: Growth) -> Chart:
    """Each metric against the size of the corpus, with its interval."""
    panels = [_panel(growth, value) for value in growth.today]
    tooltip = "Each metric against the size of the corpus, with its interval."
    return Chart(_sentence(growth), panels, tooltip, columns=3)


def _panel(growth: Growth, today: TodayValue) -> Panel:
    """One metric against the size of the corpus."""
    shown = [row for row in growth.growth if row.metric == today.metric and row.printed]
    ends = today.interval
    low = today.mean if ends is None else ends.low
    high = today.mean if ends is None else ends.high
    points = [(1.0, today.mean, low, high)]
    points += [(row.times, row.mean, row.low, row.high) for row in shown]
    points.sort()
    marks: list[Mark] = [
        *(
            Dot(x, mean, _tooltip(today.metric, x, mean, low, high), radius=3)
            for x, mean, low, high in points
        ),
        Stroke([(x, mean) for x, mean, _, _ in points]),
        Band([(x, low, high) for x, _, low, high in points]),
    ]
    sizes = [x for x, *_ in points]
    ticks = [(x, "today" if x == 1 else shown_times(x)) for x in sizes]
    axis = Axis(min(sizes), max(sizes), ticks, "corpus", is_log=True)
    return Panel(axis, numbers(0, 1, most=3), marks, today.metric)


def _tooltip(metric: str, times: float, mean: float, low: float, high: float) -> str:
    """The tooltip of a point."""
    where = "today" if times == 1 else shown_times(times)
    return f"{metric}, {where}: {mean:.2f} ({low:.2f}–{high:.2f})"
