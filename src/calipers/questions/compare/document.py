"""A comparison as a document: which system is better, the table, and what these queries settle."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from calipers.model.claim import p_text
from calipers.model.document import (
    Cell,
    Cells,
    Column,
    Document,
    Lines,
    Note,
    Picture,
    Table,
    note_of,
    ties_may_make,
)
from calipers.model.fact import Fact, Sentence, joined, named, sentence
from calipers.model.scores import MetricFacts
from calipers.present.charts import (
    Chart,
    Dot,
    Mark,
    Panel,
    Stroke,
    interval_row,
    rows,
    spread,
)
from calipers.present.escape import printable, query_name
from calipers.questions.compare.answer import answer, several_names
from calipers.questions.compare.paired_claim import (
    beyond,
    counts_of,
    decided,
    fact_of,
    in_words,
)
from calipers.questions.compare.result import Comparison, Difference, SystemMean
from calipers.statistics.paired_rows import FEWEST_FOR_INTERVAL
from calipers.words import number, signed

EXAMPLES = 5
"""Queries that gained or lost most."""
HINT = "To slice by "
"""How a note begins that proposes a tag; it leaves the first screen to what is doubtful."""
LONGEST = 30
"""Characters of the name of a system."""


def document(comparison: Comparison) -> Document:
    """The answer, the metrics that decide, and what these queries cannot settle."""
    standing, text = answer(comparison)
    return Document(
        text,
        standing,
        blocks=[
            systems_table(comparison),
            _every_metric(comparison),
            *_moved(comparison),
            Picture(lambda: differences_chart(comparison)),
        ],
        notes=[*_notes(comparison)],
        rows=lambda: comparison_rows(comparison),
    )


def systems_table(comparison: Comparison) -> Table:
    """One row per system: the mean and the difference from the baseline in each deciding metric."""
    names = [comparison.baseline, *comparison.others]
    if len(names) > 2 and comparison.ranking:
        names = list(comparison.ranking)
    metrics = comparison.asked or tuple(metric.name for metric in comparison.metrics)
    table: list[Cells] = []
    for name in names:
        row: list[Cell | str] = [Cell(printable(name, LONGEST), strong=True)]
        for at, metric in enumerate(metrics):
            row.append(_cell(comparison, name, metric, leads=not at))
        table.append(row)
    return Table([Column(head, words=True) for head in ("system", *metrics)], table)


def _cell(comparison: Comparison, system: str, metric: str, *, leads: bool) -> Cell | str:
    mean = comparison.mean(system, metric).mean
    shown = "undefined" if mean is None else number(mean)
    if system == comparison.baseline:
        return f"{shown}  baseline" if leads else shown
    difference = comparison.difference(system, metric)
    if difference.difference is None:
        return shown
    standing = difference.claim.standing if difference.claim else None
    return Cell(f"{shown}  {signed(difference.difference):>6}", standing)


def comparison_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One row per metric and system, at full precision; the baseline has no difference."""
    for facts in comparison.metrics:
        for name in comparison.systems:
            mean = comparison.mean(name, facts.name)
            is_baseline = name == comparison.baseline
            change = None if is_baseline else comparison.difference(name, facts.name)
            yield {
                "metric": facts.name,
                "system": name,
                "baseline": comparison.baseline,
                "mean": mean.mean,
                **_ends(mean, "low", "high"),
                "n": mean.n,
                "difference": change and change.difference,
                **_ends(change, "difference_low", "difference_high"),
                **{field: change and getattr(change, field) for field in TESTED},
                "primary": facts.name == comparison.primary,
                "overridden": " ".join(comparison.overridden),
            }


TESTED = ("p_value", "p_adjusted", "wins", "losses", "ties", "verdict")
IN_TABLES = {
    *(
        "metric",
        "system",
        "baseline",
        "mean",
        "low",
        "high",
        "n",
        "difference",
        "difference_low",
    ),
    *("difference_high", *TESTED, "primary", "overridden"),
}
"""What a printed table has in a shorter form, or leaves out; it has every other column as
it is."""


def _ends(
    row: SystemMean | Difference | None, low: str, high: str
) -> dict[str, float | None]:
    ends = None if row is None else row.interval
    return {
        low: None if ends is None else ends.low,
        high: None if ends is None else ends.high,
    }


def _every_metric(comparison: Comparison) -> Table:
    """Every metric of every system, with intervals, p and how many queries moved."""
    rows = list(comparison_rows(comparison))
    further = [name for name in rows[0] if name not in IN_TABLES]
    table: list[Cells] = []
    for row in rows:
        name = row["system"]
        metric = row["metric"]
        mean = comparison.mean(name, metric)
        changed = ["", "", "", ""]
        if name != comparison.baseline:
            difference = comparison.difference(name, metric)
            p = (
                difference.p_value
                if difference.p_adjusted is None
                else difference.p_adjusted
            )
            changed = [
                "" if difference.difference is None else signed(difference.difference),
                in_words(difference.interval) or "",
                "" if p is None else p_text(p).removeprefix("p = ").removeprefix("p "),
                f"{difference.wins}/{difference.losses}/{difference.ties}",
            ]
        table.append(
            [
                metric,
                printable(name, LONGEST),
                "undefined" if mean.mean is None else number(mean.mean),
                mean.interval.shown if mean.interval else "",
                *changed,
                *("" if row[column] is None else str(row[column]) for column in further),
            ]
        )
    words = (Column("metric", words=True), Column("system", words=True))
    numbers = (
        "mean",
        Column("interval", spare=True),
        "difference",
        "likely",
        "p",
        "+/-/=",
    )
    return Table([*words, *numbers, *further], table, "Every metric", detail=True)


def _moved(comparison: Comparison) -> Iterator[Lines]:
    """The queries that moved most in the metric of the first sentence."""
    metric = comparison.leading
    for name in comparison.others:
        for title, wins in (("gained most", True), ("lost most", False)):
            moved = comparison.largest(name, metric, wins=wins, count=EXAMPLES)
            if moved:
                yield Lines(
                    [
                        f"{signed(query.difference):>7}  {number(query.baseline)} → "
                        f"{number(query.system)}  {query_name(query.query, query.text)}"
                        for query in moved
                    ],
                    f"{printable(name, LONGEST)}: the queries that {title} in {metric}",
                    detail=True,
                )


def _notes(comparison: Comparison) -> Iterator[Note]:
    """What was overridden, how many queries moved, what 0.05 takes, how it was tested."""
    if comparison.overridden:
        yield Note("failed", f"Compared anyway: {' '.join(comparison.overridden)}")
    divided = any(name.startswith(("precision", "f1")) for name in comparison.asked)
    changes = [(row.metric, row.difference) for row in comparison.deciding]
    for text in comparison.recorded.notes:
        # Where no metric that decides divides by k, the length of lists changes nothing.
        if divided or "Lists end at" not in text:
            note = note_of(text, "aside" if text.startswith(HINT) else "input")
            decides = note.kind != "ties" or ties_may_make(changes, text)
            yield note if decides else Note("counted", text)
    yield from (Note("slice", text) for text in comparison.moved_slices)
    several = len(comparison.others) > 1
    if several and (near := _not_separated(comparison)):
        yield Note("doubt", near)
    first = answer(comparison)[1]
    for at, difference in enumerate(comparison.deciding[: len(comparison.others)]):
        if difference.wins or difference.losses:
            change = change_in_words(difference, comparison.facts_of(difference.metric))
            whose = f"{printable(difference.system, LONGEST)}, " if several else ""
            text = joined(f"{whose}{difference.metric}", change, by=": ")
            following = difference.claim.next if difference.claim else None
            if not at and text.removesuffix(f" {following}") in first:
                # Where one query hides the others, the first line says it already.
                yield from [Note("doubt", following)] if following else []
            else:
                yield Note("counted" if at else "changed", text)
    yield from _latencies(comparison)
    if (detects := _detects(comparison)) is not None:
        yield Note("counted", detects)
    yield from _method(comparison)


def _latencies(comparison: Comparison) -> Iterator[Note]:
    """The median latency of each system, where every run recorded it."""
    if set(comparison.latency_ms) != set(comparison.systems):
        return
    from calipers.live.document import duration

    medians = [
        sentence(
            "{took.text} for {whose.text}",
            took=replace(
                named(duration(comparison.latency_ms[name])),
                system=name,
                value=comparison.latency_ms[name],
            ),
            whose=named(printable(name, LONGEST)),
        )
        for name in comparison.systems
    ]
    text = joined("Median latency: ", joined(*medians, by=", "), ".", by="")
    yield Note("aside", text)


def _detects(comparison: Comparison) -> Sentence | None:
    """The smallest difference that these queries detect."""
    seen = comparison.visibility
    if seen is None or seen.smallest is None:
        return None
    least = Fact(
        about="detects", metric=comparison.primary, value=seen.smallest, queries=seen.n
    )
    text = sentence(
        "{it.queries:query|queries} reliably detect differences of {it.value:.2g} or "
        "more in {it.metric}",
        it=least,
    )
    takes = seen.takes.phrase if seen.takes else None
    return joined(joined(text, takes, by="; "), ".", by="")


def _method(comparison: Comparison) -> Iterator[Note]:
    """How it was tested."""
    recorded = comparison.recorded
    if recorded.cluster:
        count = named(f"Queries with the same {recorded.cluster}")
        yield Note("method", sentence("{it.text} count as one.", it=count))
    tests = Fact(about="setting", count=recorded.tests, text="tests")
    level = Fact(about="setting", value=round(1 - recorded.confidence, 12), text="level")
    fewest = Fact(
        about="setting", count=FEWEST_FOR_INTERVAL, text="changed for an interval"
    )
    adjusted = sentence(
        ", p adjusted for {it.count} tests by shared sign flips", it=tests
    )
    yield Note(
        "method",
        sentence(
            "Better and worse: paired randomisation test at {level.value:.2g}{adjusted}; "
            "an interval needs {fewest.count} queries that changed.",
            level=level,
            adjusted=adjusted if recorded.tests > 1 else "",
            fewest=fewest,
        ),
    )


def change_in_words(difference: Difference, facts: MetricFacts) -> Sentence:
    """How many queries moved which way, the likely difference, and what decides it."""
    fact = fact_of(difference, facts)
    likely = None
    if difference.verdict in ("better", "worse") and in_words(difference.interval):
        likely = sentence("likely {it.low:+} to {it.high:+} on new ones", it=fact)
    decides = decided(fact, difference)
    if likely and difference.one_outweighs:
        decides = decides or beyond(fact)
    moved = joined(joined(counts_of(fact), likely, decides, by="; "), ".", by="")
    return joined(moved, difference.claim.next if difference.claim else None)


def _not_separated(comparison: Comparison) -> Sentence | None:
    """The systems that these queries cannot separate from the best in any deciding metric."""
    best, *rest = comparison.ranking or ("",)
    near = [system for system in rest if system in comparison.near_best]
    if not near or len(near) == len(rest):
        return None
    queries = comparison.mean(best, comparison.asked[0]).n
    facts = [
        Fact(about="not separated", system=system, against=best, queries=queries)
        for system in near
    ]
    names = [printable(system, LONGEST) for system in near]
    return sentence(
        "{near} may be as good as {best}: {it.queries:query|queries} cannot separate "
        "{which}.",
        near=Sentence(several_names(names), [*several_names(names).facts, *facts]),
        best=best,
        it=facts[0],
        which="the two" if len(near) == 1 else "them",
    )


SIGNS = {
    "better": ("up", "accent"),
    "worse": ("down", "worse"),
    "no clear difference": ("circle", "even"),
}
"""A shape for each verdict, so that the chart can be read without colour."""


def differences_chart(comparison: Comparison) -> Chart:
    """Each system minus the baseline in the deciding metrics, marked by verdict."""
    bounded = {facts.name for facts in comparison.metrics if facts.bounds == (0, 1)}
    drawn = [
        (difference, difference.difference)
        for difference in comparison.differences
        if difference.difference is not None
        and difference.claim
        and difference.metric in bounded
    ]
    known = [difference for _, difference in drawn]
    for row, _ in drawn:
        known += [row.interval.low, row.interval.high] if row.interval else []
    x = spread([0.0, *known], least=0.1)
    panels = []
    for name in dict.fromkeys(row.system for row, _ in drawn):
        mine = [pair for pair in drawn if pair[0].system == name]
        y = rows([row.metric for row, _ in mine])
        marks: list[Mark] = [Stroke([(0.0, y.low), (0.0, y.high)], "even", width=1)]
        for at, (row, difference) in enumerate(mine):
            shape, colour = SIGNS[row.verdict]
            label = f"{row.metric}: {signed(difference)}"
            label += f" ({row.interval.shown})" if row.interval else ""
            dot = Dot(difference, -at, f"{label}, {row.verdict}", colour, shape, 6)
            marks += interval_row(dot, row.interval)
        title = f"{printable(name, 40)} − {printable(comparison.baseline, 40)}"
        panels.append(Panel(x, y, marks, title, rows=len(mine)))
    verdicts = [
        verdict for verdict in SIGNS if any(row.verdict == verdict for row, _ in drawn)
    ]
    return Chart(
        answer(comparison)[1],
        panels,
        "Each system less the baseline, with intervals.",
        shares_axis=True,
        legend=[(*SIGNS[verdict], verdict) for verdict in verdicts],
    )
