"""A comparison in words and cells, the same for terminal, Markdown and LaTeX."""

from dataclasses import dataclass

from calipers.model.comparison import Comparison, Difference, Visibility
from calipers.model.summary import Interval
from calipers.present.plain import printable
from calipers.present.table import number

MARKS = {"better": "▲", "worse": "▼", "not shown": "", "not tested": ""}
LONGEST_TEXT = 60
NAMED = 4
"""Systems that a verdict calls by name."""


@dataclass(frozen=True)
class ComparedCell:
    """One system on one metric, ready to show; the baseline has no difference."""

    mean: str
    best: bool
    mark: str
    difference: str
    p: str
    counts: str
    visible: str


@dataclass(frozen=True)
class ComparedRow:
    """One metric over all systems, in the order of the comparison."""

    metric: str
    cells: tuple[ComparedCell, ...]


def compared_rows(comparison: Comparison) -> tuple[ComparedRow, ...]:
    """The table: one row per metric, one cell per system."""
    return tuple(
        ComparedRow(
            metric.name,
            tuple(_cell(comparison, name, metric.name) for name in comparison.systems),
        )
        for metric in comparison.metrics
    )


def heading(comparison: Comparison, system: str) -> str:
    """The name above a column."""
    name = printable(system, 30)
    return f"{name} (baseline)" if system == comparison.baseline else name


def p_in_words(p: float | None) -> str:
    """A p-value to three places, never shown as 0.

    >>> p_in_words(0.0421), p_in_words(0.0001), p_in_words(None)
    ('p = 0.042', 'p < 0.001', '')
    """
    if p is None:
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.25), signed(-0.25), signed(0.0)
    ('+0.250', '−0.250', '0.000')
    """
    text = number(abs(value))
    if not float(text):
        return text
    return ("+" if value > 0 else "−") + text


def between(interval: Interval | None) -> str:
    """The interval of a difference."""
    return f"{signed(interval.low)} to {signed(interval.high)}" if interval else ""


def power_sentence(metric: str, seen: Visibility, tests: int = 1) -> str:
    """What this many queries cannot show: printed beside every comparison."""
    if seen.why_not == "too few queries":
        return (
            f"With {seen.n:,} {'query' if seen.n == 1 else 'queries'} no difference in {metric} "
            f"can be seen, however large; at least {seen.fewest} are needed."
        )
    if seen.smallest is None:
        return (
            f"In {metric} all {seen.n:,} queries have the same difference, so how small a "
            "difference could have been seen is not known."
        )
    needed = f"; to see {seen.wanted:g} you need about {seen.needed:,}" if seen.needed else ""
    corrected = f", corrected for {tests} tests" if tests > 1 else ""
    return (
        f"With these {seen.n:,} queries a difference below {_rough(seen.smallest)} in {metric} "
        f"cannot be seen{needed} (at {seen.power:.0%} power{corrected})."
    )


def power_sentences(comparison: Comparison) -> list[str]:
    """One sentence per metric, for the pair of systems that is hardest to tell apart."""
    sentences = []
    for metric in comparison.metrics:
        pairs = [comparison.difference(name, metric.name) for name in comparison.others]
        hardest = max(pairs, key=_hardness)
        sentences.append(
            power_sentence(metric.name, hardest.visibility, comparison.settings["tests"])
        )
    return sentences


def verdict(comparison: Comparison) -> str:
    """Who is better than the baseline, who is worse, and of whom nothing is shown, in one line."""
    if len(comparison.others) == 1:
        return _finding(comparison, comparison.others[0])
    groups: dict[str, list[str]] = {
        "Better": [],
        "Worse": [],
        "Mixed": [],
        "No difference shown": [],
    }
    for name in comparison.others:
        groups[_standing(comparison, name)].append(printable(name, 30))
    said = [f"{group}: {_some(names)}" for group, names in groups.items() if names]
    return f"Against {printable(comparison.baseline, 30)}. {'. '.join(said)}."


def _standing(comparison: Comparison, system: str) -> str:
    found = {comparison.difference(system, metric.name).verdict for metric in comparison.metrics}
    if {"better", "worse"} <= found:
        return "Mixed"
    return next(
        (word for word in ("Better", "Worse") if word.lower() in found), "No difference shown"
    )


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + rest


def findings(comparison: Comparison) -> list[str]:
    """Who is better than the baseline and in what, in one sentence per system."""
    return [_finding(comparison, name) for name in comparison.others]


def legend(comparison: Comparison) -> list[str]:
    """What the marks mean and how the numbers were made."""
    settings = comparison.settings
    tests = settings["tests"]
    alpha = 1 - settings["confidence"]
    corrected = f"corrected over {tests} tests (Holm)" if tests > 1 else "one test"
    return [
        "* best mean; ▲ better and ▼ worse than the baseline, more than noise.",
        f"Under each mean: the difference with its {settings['confidence']:.0%} interval; p of the "
        f"paired sign-flip test, {corrected}, shown as a difference up to {alpha:.2g}; "
        "queries won/lost/tied; and the smallest difference that could have been seen.",
        *map(printable, settings.get("notes", ())),
    ]


def warnings(comparison: Comparison) -> list[str]:
    """What was overridden to make this comparison."""
    if not comparison.overridden:
        return []
    return [
        "This comparison was made anyway, although it should not be trusted:",
        *(printable(sentence) for sentence in comparison.overridden),
    ]


def query_name(query: str, text: str | None) -> str:
    """A query as a reader knows it: its id, and its text where that is another thing."""
    if text is None or text == query:
        return printable(query, LONGEST_TEXT)
    return f"{printable(query, 30)}: {printable(text, LONGEST_TEXT)}"


def _cell(comparison: Comparison, system: str, metric: str) -> ComparedCell:
    mean = comparison.mean(system, metric)
    shown = "undefined" if mean.mean is None else number(mean.mean)
    if system == comparison.baseline:
        return ComparedCell(shown, mean.best, "", "", "", "", "")
    found = comparison.difference(system, metric)
    if found.difference is None:
        return ComparedCell(shown, mean.best, "", "", "", "", "")
    interval = between(found.interval)
    return ComparedCell(
        shown, mean.best, MARKS[found.verdict],
        signed(found.difference) + (f" ({interval})" if interval else ""),
        p_in_words(found.p_adjusted) or "not tested",
        f"{found.wins}/{found.losses}/{found.ties}",
        _visible(found.visibility),
    )  # fmt: skip


def _finding(comparison: Comparison, system: str) -> str:
    pairs = [comparison.difference(system, metric.name) for metric in comparison.metrics]
    name, baseline = printable(system, 30), printable(comparison.baseline, 30)
    parts = [
        f"{verdict} in {', '.join(found)}"
        for verdict, found in (
            ("better", [pair.metric for pair in pairs if pair.verdict == "better"]),
            ("worse", [pair.metric for pair in pairs if pair.verdict == "worse"]),
        )
        if found
    ]
    if not parts:
        return f"{name}: no difference from {baseline} was shown."
    rest = (
        "" if sum(_is_open(pair) for pair in pairs) == 0 else "; elsewhere no difference was shown"
    )
    return f"{name} is {' and '.join(parts)} than {baseline}{rest}."


def _is_open(pair: Difference) -> bool:
    return pair.verdict == "not shown"


def _hardness(pair: Difference) -> float:
    seen = pair.visibility
    if seen.smallest is None:
        return float("inf") if seen.why_not == "too few queries" else 0.0
    return seen.smallest


def _visible(seen: Visibility) -> str:
    if seen.smallest is not None:
        return _rough(seen.smallest)
    return "nothing" if seen.why_not == "too few queries" else "?"


def _rough(value: float) -> str:
    """Two digits are enough for a planning figure, and never a bare 0.

    >>> _rough(0.1134), _rough(0.0032), _rough(12.34)
    ('0.11', '0.0032', '12')
    """
    return f"{value:.2g}"
