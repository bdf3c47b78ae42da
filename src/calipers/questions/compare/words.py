"""A comparison in words and cells, the same for terminal and Markdown."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from calipers.model.claim import SIGNS, Claim, Standing, Unseen, Visibility, p_text
from calipers.model.scores import Interval
from calipers.present.escape import printable
from calipers.questions.compare.result import Comparison
from calipers.words import listed, number, signed

WANTED = 0.05
"""A difference worth seeing, where none can be read off the queries."""

MOST_CLAIMS = 4
"""What is said in sentences above a table, unless all of it is asked for."""


@dataclass(frozen=True)
class ComparedCell:
    """One system on one metric, ready to show; the baseline has no difference."""

    mean: str
    best: bool
    standing: Standing | None
    """None for the baseline, and for a metric that decides nothing."""
    difference: str
    p: str
    counts: str

    @property
    def mark(self) -> str:
        """The sign of its standing."""
        return SIGNS[self.standing] if self.standing else ""


@dataclass(frozen=True)
class ComparedRow:
    """One metric over all systems, in the order of the comparison."""

    metric: str
    cells: tuple[ComparedCell, ...]


def compared_rows(comparison: Comparison) -> tuple[ComparedRow, ...]:
    """The table: one row per metric, one cell per system."""
    return tuple(
        ComparedRow(
            metric.name, tuple(_cell(comparison, name, metric.name) for name in comparison.systems)
        )
        for metric in comparison.metrics
    )


def heading(comparison: Comparison, system: str) -> str:
    """The name above a column."""
    name = printable(system, 30)
    return f"{name} (baseline)" if system == comparison.baseline else name


def power_sentence(
    metric: str, seen: Visibility, tests: int = 1, units: str = "queries"
) -> str | None:
    """What this many queries would often miss; None where the claims say all that is known."""
    if seen.why_not == "too few moved":
        return (
            f"With these {seen.n:,} {units} even a large difference in {metric} would often be "
            f"missed (`calipers plan --difference {seen.wanted or WANTED:g}`)."
        )
    if seen.smallest is None:
        return None
    needed = f"; to see {seen.wanted:g} takes about {seen.needed:,}" if seen.needed else ""
    corrected = f", corrected for {tests} tests" if tests > 1 else ""
    return (
        f"With these {seen.n:,} {units} a difference below {seen.smallest:.2g} in {metric} "
        f"would be missed more than {missed_how_often(seen.power)}{needed}{corrected} "
        f"(`calipers plan --difference {seen.wanted or WANTED:g}`)."
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
    power = power_sentence(comparison.primary, comparison.visibility, tests, units)
    return [
        *([power] if power else []),
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
    yield unseen_sentence(one.unseen, one.metric, units, whose, is_gain=one.verdict == "better")


def unseen_sentence(
    unseen: Unseen, where: str, units: str = "queries", whose: str = "", *, is_gain: bool
) -> str:
    """What a sample may lack, and how far each of those would have to go for nothing to be left."""
    way, left = ("lost", "gain") if is_gain else ("gained", "loss")
    return (
        f"As many as {unseen.share:.0%} of all {units} may be of a kind that these happen to lack; "
        f"if each of those {way} {unseen.change:.2g} or more in {where}, there would be no "
        f"{left}{whose}."
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
            one.interval.shown if one.interval else "",
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
    """What the groups of the leaderboard mean, and what its first gains elsewhere."""
    said = (
        f"Best first by {comparison.primary}. Systems that share a letter were not shown to differ "
        f"(every pair tested, corrected over all {comparison.settings['tests']} tests)."
    )
    lead = comparison.leaderboard.lead if comparison.leaderboard else None
    if lead is None:
        return said
    return (
        f"{said} {printable(lead.system, 60)}: {signed(lead.here)} over "
        f"{printable(comparison.baseline, 60)} here, about {signed(lead.expected)} expected on new "
        "queries (cross-validated)."
    )


def _letter(group: int) -> str:
    """a for the first group, z for the 26th, then numbers.

    >>> [_letter(one) for one in (1, 26, 27)]
    ['a', 'z', '(27)']
    """
    return chr(ord("a") + group - 1) if group <= 26 else f"({group})"


def told(comparison: Comparison, most: int | None = MOST_CLAIMS) -> tuple[Claim, ...]:
    """What is said in sentences: of each system what matters most, and what else was heard.

    The rest stands in the table: rows in which nothing is shown and no mean fell.
    """
    if not comparison.claims:
        seen = f"{listed(comparison.systems)}: there is no metric of which more or less is better"
        return (Claim("no clear difference", seen, "not tested"),)
    heard = [
        one.claim
        for at, one in enumerate(comparison.deciding)
        if one.claim
        and (
            at < len(comparison.others)
            or one.verdict != "no clear difference"
            or comparison.fell(one)
        )
    ]
    return tuple(_said_once(heard[:most]))


def _said_once(claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims, without what is possible and next where one before them says the same."""
    said: set[tuple[str | None, str | None]] = set()
    for claim in claims:
        further = (claim.range, claim.next)
        yield replace(claim, range=None, next=None) if further in said else claim
        said.add(further)


def legend(comparison: Comparison) -> list[str]:
    """What the signs mean and how the numbers were made."""
    settings = comparison.settings
    decides = f"{_deciders(comparison)} * best mean." if comparison.asked else "* best mean."
    clusters = [] if (tag := settings.get("cluster")) is None else [printable(tag, 40)]
    return [
        decides,
        f"Under each mean: the difference with its {settings['confidence']:.0%} interval and the p "
        "of the same test (paired, by turned signs); queries won/lost/tied.",
        *(f"Queries with the same {one} count as one unit." for one in clusters),
        *map(printable, settings.get("notes", ())),
    ]


def _deciders(comparison: Comparison) -> str:
    tests, alpha = comparison.settings["tests"], 1 - comparison.settings["confidence"]
    asked = comparison.asked
    named = listed(asked) if len(asked) <= 3 else "The metrics that were named"
    corrected = f"corrected over {tests} tests by Holm" if tests > 1 else "one test"
    supporting = len(asked) < len(comparison.metrics)
    beside = " What has no sign was not asked for and decides nothing." if supporting else ""
    return (
        f"{named} {'decides' if len(asked) == 1 else 'decide'}: {SIGNS['better']} shown better, "
        f"{SIGNS['worse']} shown worse (p up to {alpha:.2g}, {corrected}), "
        f"{SIGNS['no clear difference']} cannot tell.{beside}"
    )


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
    is_other = system != comparison.baseline
    found = comparison.difference(system, metric) if is_other else None
    if found is None or found.difference is None:
        return ComparedCell(shown, mean.best, None, "", "", "")
    interval = between(found.interval)
    p = found.p_value if found.verdict == "supporting" else found.p_adjusted
    return ComparedCell(
        shown,
        mean.best,
        None if found.verdict == "supporting" else found.verdict,
        signed(found.difference) + (f" ({interval})" if interval else ""),
        "not tested" if p is None else p_text(p),
        f"{found.wins}/{found.losses}/{found.ties}",
    )


def between(interval: Interval | None) -> str:
    """The interval of a difference."""
    return f"{signed(interval.low)} to {signed(interval.high)}" if interval else ""
