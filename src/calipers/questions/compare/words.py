"""A comparison in words and cells, the same for terminal, Markdown and LaTeX."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from calipers.model.scores import Interval
from calipers.model.visibility import Unseen, Visibility
from calipers.present.escape import printable
from calipers.questions.compare.result import Comparison
from calipers.words import number, p_in_words, signed

MARKS = {"better": "▲", "worse": "▼"}
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


def power_sentence(metric: str, seen: Visibility, tests: int = 1, units: str = "queries") -> str:
    """What this many queries would often miss: printed beside every comparison."""
    if seen.why_not == "too few queries":
        return (
            f"With {seen.n:,} {'query' if seen.n == 1 else units} hardly any difference in "
            f"{metric} shows, however large; give at least {seen.fewest}."
        )
    if seen.why_not == "too few moved":
        return (
            f"With these {seen.n:,} {units} even a large difference in {metric} would often be "
            "missed (`calipers plan`)."
        )
    if seen.smallest is None:
        return (
            f"In {metric} all {seen.n:,} queries have the same difference, so what would be "
            "missed is not known."
        )
    needed = f"; to see {seen.wanted:g} takes about {seen.needed:,}" if seen.needed else ""
    corrected = f", corrected for {tests} tests" if tests > 1 else ""
    return (
        f"With these {seen.n:,} {units} a difference below {_rough(seen.smallest)} in {metric} "
        f"would be missed more than {missed_how_often(seen.power)}{needed}{corrected} "
        "(`calipers plan`)."
    )


def missed_how_often(power: float) -> str:
    """How often a difference is missed at a power.

    >>> missed_how_often(0.8), missed_how_often(0.9), missed_how_often(0.97)
    ('one time in five', 'one time in ten', '3% of the time')
    """
    words = {5: "five", 10: "ten", 4: "four", 3: "three", 2: "two", 20: "twenty"}
    every = 1.0 / (1.0 - power)
    if abs(every - round(every)) < 1e-6 and round(every) in words:
        return f"one time in {words[round(every)]}"
    return f"{100 * (1.0 - power):.2g}% of the time"


def power_sentences(comparison: Comparison) -> list[str]:
    """What the queries would miss in the primary metric, for the pair hardest to tell apart."""
    if comparison.primary is None or comparison.visibility is None:
        return []
    tests = comparison.settings["tests"]
    units = "clusters of queries" if comparison.settings.get("cluster") else "queries"
    return [
        power_sentence(comparison.primary, comparison.visibility, tests, units),
        *_shown_all_the_same(comparison, comparison.visibility),
        *_undone(comparison, units),
    ]


def _shown_all_the_same(comparison: Comparison, seen: Visibility) -> Iterator[str]:
    """So that a mark beside a difference that is often missed does not read as a contradiction."""
    marked = [one for one in comparison.differences if one.verdict in ("better", "worse")]
    smallest = math.inf if seen.why_not == "too few moved" else seen.smallest or 0.0
    if any(abs(one.difference or 0.0) < smallest for one in marked):
        yield "What is marked was shown all the same: often missed is not always missed."


def _undone(comparison: Comparison, units: str) -> Iterator[str]:
    """What the smallest difference that few queries show would not survive."""
    known = [one for one in comparison.differences if one.unseen is not None]
    one = min(known, key=lambda one: one.unseen.change if one.unseen else 1.0, default=None)
    if one is None or one.unseen is None:
        return
    whose = f" of {printable(one.system, 30)}" if len(comparison.others) > 1 else ""
    way, left = ("lost", "gain") if one.verdict == "better" else ("gained", "loss")
    yield unseen_sentence(one.unseen, f"{way} in {one.metric}", f"no {left}{whose}", units)


def unseen_sentence(unseen: Unseen, way: str, left: str, units: str = "queries") -> str:
    """What a sample may lack, the way each of those would go, and what would then be left."""
    verb, _, rest = way.partition(" ")
    return (
        f"As many as {unseen.share:.0%} of all {units} may be of a kind that these happen to lack; "
        f"if each of those {verb} {_rough(unseen.change)} or more {rest}, there would be {left}."
    )


def board_lines(comparison: Comparison) -> list[tuple[str, ...]]:
    """The leaderboard, heading first: place, system, mean, interval, group, tokens, at budget.

    Columns that no system has are left out.
    """
    board = comparison.leaderboard
    if board is None:
        return []
    rows = [
        (
            f"{place}",
            printable(one.system, 40),
            number(one.mean),
            f"{number(one.interval.low)}–{number(one.interval.high)}" if one.interval else "",
            "".join(_letter(group) for group in one.groups),
            "" if one.tokens is None else f"{one.tokens:,.0f}",
            "" if one.at_budget is None else number(one.at_budget),
        )
        for place, one in enumerate(board.rows, start=1)
    ]
    budget = "" if board.budget is None else f"recall in {board.budget:,} tokens"
    heads = ("", "system", board.metric, "interval", "group", "tokens", budget)
    kept = [at for at in range(len(heads)) if at < 5 or any(row[at] for row in rows)]
    return [tuple(row[at] for at in kept) for row in (heads, *rows)]


def board_sentence(comparison: Comparison) -> str:
    """What the groups of the leaderboard mean."""
    pairs = len(comparison.systems) * (len(comparison.systems) - 1) // 2
    return (
        f"Best first by {comparison.primary}. Systems that share a letter were not shown to differ "
        f"(all {pairs} pairs, Holm)."
    )


def _letter(group: int) -> str:
    """a for the first group, z for the 26th, then numbers.

    >>> [_letter(one) for one in (1, 26, 27)]
    ['a', 'z', '(27)']
    """
    return chr(ord("a") + group - 1) if group <= 26 else f"({group})"


def verdict(comparison: Comparison) -> str:
    """Who is better than the baseline, who is worse, and of whom nothing is shown, in one line."""
    if len(comparison.others) == 1:
        return _finding(comparison, comparison.others[0])
    if comparison.primary is None:
        return "There is no metric of which more or less is better."
    groups: dict[str, list[str]] = {"Better": [], "Worse": [], "No difference shown": []}
    for name in comparison.others:
        found = comparison.difference(name, comparison.primary).verdict
        word = found.capitalize() if found in ("better", "worse") else "No difference shown"
        groups[word].append(printable(name, 30))
    said = [f"{group}: {_some(names)}" for group, names in groups.items() if names]
    against = f"Against {printable(comparison.baseline, 30)} in {comparison.primary}"
    return f"{against}. {'. '.join(said)}."


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
    decides = (
        f"{comparison.primary} decides: ▲ better and ▼ worse than the baseline, more than noise "
        f"(p up to {alpha:.2g}, {corrected}); the other metrics are supporting. * best mean."
        if comparison.primary
        else "* best mean."
    )
    return [
        decides,
        f"Under each mean: the difference with its {settings['confidence']:.0%} interval and the p "
        "of the same test (paired, by turned signs); queries won/lost/tied.",
        *_about_clusters(settings.get("cluster")),
        *map(printable, settings.get("notes", ())),
    ]


def _about_clusters(cluster: str | None) -> list[str]:
    if cluster is None:
        return []
    return [f"Queries with the same {printable(cluster, 40)} count as one unit."]


def warnings(comparison: Comparison) -> list[str]:
    """What was overridden to make this comparison."""
    if not comparison.overridden:
        return []
    return [
        "This comparison was made anyway, although it should not be trusted:",
        *(printable(sentence) for sentence in comparison.overridden),
    ]


def _cell(comparison: Comparison, system: str, metric: str) -> ComparedCell:
    mean = comparison.mean(system, metric)
    shown = "undefined" if mean.mean is None else number(mean.mean)
    if system == comparison.baseline:
        return ComparedCell(shown, mean.best, "", "", "", "")
    found = comparison.difference(system, metric)
    if found.difference is None:
        return ComparedCell(shown, mean.best, "", "", "", "")
    interval = between(found.interval)
    p = found.p_value if found.verdict == "supporting" else found.p_adjusted
    return ComparedCell(
        shown,
        mean.best,
        MARKS.get(found.verdict, ""),
        signed(found.difference) + (f" ({interval})" if interval else ""),
        p_in_words(p) or "not tested",
        f"{found.wins}/{found.losses}/{found.ties}",
    )


def _finding(comparison: Comparison, system: str) -> str:
    name, baseline = printable(system, 30), printable(comparison.baseline, 30)
    metric = comparison.primary
    if metric is None:
        return f"{name}: there is no metric of which more or less is better."
    found = comparison.difference(system, metric)
    if found.verdict in ("better", "worse"):
        return f"{name} is {found.verdict} than {baseline} in {metric}."
    if found.verdict == "not tested":
        return f"{name}: too few queries to compare it with {baseline} in {metric}."
    return f"{name}: no difference from {baseline} was shown in {metric}."


def _rough(value: float) -> str:
    """Two digits are enough for a planning figure, and never a bare 0.

    >>> _rough(0.1134), _rough(0.0032), _rough(12.34)
    ('0.11', '0.0032', '12')
    """
    return f"{value:.2g}"


def between(interval: Interval | None) -> str:
    """The interval of a difference."""
    return f"{signed(interval.low)} to {signed(interval.high)}" if interval else ""
