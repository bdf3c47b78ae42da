"""Describe a paired test in words: the same in compare, gate, alarm, confirm and fuse."""

from calipers.model.claim import Claim, Standing
from calipers.model.scores import Interval, MetricFacts
from calipers.questions.compare.result import Difference
from calipers.statistics.paired_rows import PairedRow
from calipers.statistics.queries_to_detect import DIFFERENCE, queries_to_detect
from calipers.words import counts_in_words, number, plural, signed


def turned_interval(row: PairedRow, facts: MetricFacts) -> Interval | None:
    """The interval of new minus old; for some metrics a negative difference is better."""
    if row.interval is None:
        return None
    low, high = sorted(facts.turn * end for end in row.interval)
    return Interval(low, high, row.level, "paired")


def difference_of(
    row: PairedRow,
    facts: MetricFacts,
    names: tuple[str, str],
    means: tuple[float | None, float | None],
    *,
    decides: bool = True,
    claim: Claim | None = None,
) -> Difference:
    """A paired test as a result; ``names`` and ``means`` are of the baseline, then of the other."""
    return Difference(
        system=names[1],
        baseline=names[0],
        metric=facts.name,
        n=row.n,
        before=means[0],
        now=means[1],
        difference=None if row.difference is None else facts.turn * row.difference,
        interval=turned_interval(row, facts),
        p_value=None if facts.better == "neither" else row.p,
        p_adjusted=row.adjusted if decides else None,
        wins=row.better,
        losses=row.worse,
        ties=row.same,
        verdict=row.standing if decides else "supporting",
        claim=claim,
    )


def claim_of(
    row: PairedRow,
    facts: MetricFacts,
    before: float | None,
    now: float | None,
    *,
    names: tuple[str, str] | None = None,
    over: tuple[str, str] | None = None,
    place: str = "",
    standing: Standing | None = None,
    unit: str = "query",
) -> Claim:
    """The claim for a paired test: the fact, its standing, the range, and what 0.05 takes.

    ``names`` are the old and the new system, ``over`` a name that is measured again and again and
    the time since when; without either a result is compared with its baseline. ``place`` is the
    slice; ``standing`` overrides that of the row, as a gate does.
    """
    found: Standing = standing or row.standing
    what = f"{facts.name} ({place})" if place else facts.name
    if before is None or now is None:
        return Claim("no clear difference", f"No query can be compared in {what}.")
    old, new = number(before), number(now)
    if names:
        fact = _between(row, what, (old, new), found, names)
    elif over:
        moved = f"is {new}, as" if old == new else f"is {new}, it was {old}"
        fact = f"{over[0]} {_OVER_TIME[found]}: {what} {moved} {over[1]}."
    else:
        fact = _since(row, what, (old, new), found, lower=facts.turn < 0)
    following = _next(row, facts, unit) if found == "no clear difference" else None
    return Claim(found, fact, _range(row, facts), following)


_OVER_TIME: dict[Standing, str] = {
    "failed": "got worse",
    "passed": "is no worse",
    "no clear difference": "shows no clear difference",
}


def _between(
    row: PairedRow, what: str, values: tuple[str, str], standing: Standing, names: tuple[str, str]
) -> str:
    old, new = names
    if standing == "no clear difference":
        n = plural(row.n, "query", "queries")
        return f"No clear difference between {new} and {old} in {what} on {n}."
    return f"{new} is {standing} than {old}: {what} is {values[1]}, it was {values[0]}."


def _since(
    row: PairedRow, what: str, values: tuple[str, str], standing: Standing, *, lower: bool
) -> str:
    """How a result changed since its baseline, as a sentence."""
    counts = counts_in_words(row.better, row.worse, row.n)
    if standing in ("failed", "worse"):
        how = "rose" if lower else "fell"
        return f"{what} {how} from {values[0]} to {values[1]}; {counts}."
    if standing == "no clear difference":
        return f"No clear difference in {what} ({values[0]}, now {values[1]}): {counts}."
    return f"No worse than the baseline in {what}: {counts}."


def _range(row: PairedRow, facts: MetricFacts) -> str | None:
    """The likely difference on new queries."""
    ends = turned_interval(row, facts)
    if ends is None or (between := in_words(ends)) is None:
        return None
    likely = f"The true difference is likely between {between.replace(' to ', ' and ')}"
    if row.one_outweighs:
        return f"{likely}; one query outweighs all others together, so more may differ."
    return f"{likely}."


def in_words(ends: Interval | None) -> str | None:
    """Both ends in words; None where all differences are equal: new queries may still differ."""
    if ends is None or signed(ends.low) == signed(ends.high):
        return None
    return f"{signed(ends.low)} to {signed(ends.high)}"


def _next(row: PairedRow, facts: MetricFacts, unit: str) -> str | None:
    """How many queries a fixed difference takes; None where these are enough, or say too little."""
    low, high = facts.bounds
    # 0.05 is a size for shares, not for ranks or tokens.
    if high is None or high - low != 1.0:
        return None
    needed = queries_to_detect(row, DIFFERENCE)
    if needed is None or needed.high <= row.units:
        return None
    return needed.sentence_for("queries" if unit == "query" else f"{unit}s")
