"""Describe a paired test in words: the same in compare, gate, alarm, confirm and fuse."""

from calipers.model.claim import Claim, Standing
from calipers.model.fact import Direction, Fact, Part, Sentence, joined, named, sentence
from calipers.model.scores import Interval, MetricFacts
from calipers.questions.compare.result import Difference
from calipers.statistics.paired_rows import PairedRow
from calipers.statistics.queries_to_detect import DIFFERENCE, queries_to_detect
from calipers.words import signed

LARGE = 0.05
"""From so large a difference on, the fact comes before the doubt."""


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
        one_outweighs=row.one_outweighs,
        claim=claim,
    )


def fact_of(difference: Difference, facts: MetricFacts, place: str = "") -> Fact:
    """A paired difference as a fact; ``place`` is the slice."""
    gain = facts.turn * (difference.difference or 0.0)
    direction: Direction = "better" if gain > 0 else "worse" if gain < 0 else "same"
    return Fact(
        about="difference",
        system=difference.system,
        against=difference.baseline,
        metric=difference.metric,
        slice=place or None,
        value=difference.now,
        before=difference.before,
        difference=difference.difference,
        low=None if difference.interval is None else difference.interval.low,
        high=None if difference.interval is None else difference.interval.high,
        queries=difference.n,
        better=difference.wins,
        worse=difference.losses,
        direction=direction,
        sure=difference.verdict in ("better", "worse"),
    )


def is_large(fact: Fact, facts: MetricFacts) -> bool:
    """Whether a difference is so large that it is said before the doubt."""
    return facts.bounds[1] == 1 and abs(fact.difference or 0.0) >= LARGE - 1e-12


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
    verdict: Standing = standing or row.standing
    what = f"{facts.name} ({place})" if place else facts.name
    if before is None or now is None:
        text = sentence("No query can be compared in {what.text}.", what=named(what))
        return Claim("no clear difference", text)
    ends = names or (("reference", over[0]) if over else ("baseline", "this result"))
    fact = fact_of(difference_of(row, facts, ends, (before, now)), facts, place)
    if over:
        text = _over_time(fact, facts, over, verdict)
    elif names:
        text = _between(fact, facts, verdict)
    else:
        text = since_baseline(fact, facts, what, verdict, decides=decided(fact, row))
    following = _next(row, facts, unit) if verdict == "no clear difference" else None
    return Claim(verdict, text, _range(row, fact, has_counts=not names), following)


def _over_time(
    fact: Fact, facts: MetricFacts, over: tuple[str, str], standing: Standing
) -> Sentence:
    """How a name that is measured again and again changed since the reference."""
    if standing == "no clear difference" and is_large(fact, facts):
        # An alarm asks for more than one test does: a budget of one a year.
        end = "too little for an alarm" if fact.sure else "this may be chance"
        return sentence(
            "{name.text} {how}: {it.metric} is {it.value}, it was {it.before} {when.text}; {end}.",
            name=named(over[0]),
            how="fell" if (fact.difference or 0.0) < 0 else "rose",
            it=fact,
            when=named(over[1]),
            end=end,
        )
    gained = fact.direction == "better" and fact.sure
    said = {
        "failed": "got worse",
        "no clear difference": "shows no clear difference",
    }.get(standing, "is better" if gained else "is no worse")
    alike = f"{fact.value:.3f}" == f"{fact.before:.3f}"
    was = "as" if alike else "it was {it.before}"
    period = over[1]
    if fact.direction == "same" and period.startswith("since "):
        was = "unchanged"
    elif alike and period.startswith("until "):
        period = period.replace("until ", "on ")
    return sentence(
        "{name.text} {said}: {it.metric} is {it.value}, " + was + " {when.text}.",
        name=named(over[0]),
        said=said,
        it=fact,
        when=named(period),
    )


def _between(fact: Fact, facts: MetricFacts, standing: Standing) -> Sentence:
    """How one system differs from another."""
    if standing != "no clear difference":
        return sentence(
            "{it.system} is {said} than {it.against}: {it.metric} is {it.value}, it was "
            "{it.before}.",
            it=fact,
            said=standing,
        )
    if is_large(fact, facts):
        return moved_by_chance(fact)
    return sentence(
        "No clear difference between {it.system} and {it.against} in {it.metric} on "
        "{it.queries:query|queries}.",
        it=fact,
    )


def moved_by_chance(fact: Fact, *, whose: bool = False) -> Sentence:
    """A large difference that is not significant: the fact, then the doubt."""
    how = "fell" if (fact.difference or 0.0) < 0 else "rose"
    of = " of {it.system}" if whose else ""
    return sentence(
        "{it.metric}" + of + " {how} from {it.before} to {it.value} on "
        "{it.queries:query|queries}; this may be chance.",
        it=fact,
        how=how,
    )


def since_baseline(
    fact: Fact,
    facts: MetricFacts,
    what: str,
    standing: Standing,
    decides: Sentence | None = None,
) -> Sentence:
    """How a result changed since its baseline, and which few queries decide that."""
    counts = joined(counts_of(fact), decides, by="; ")
    how = "fell" if (fact.difference or 0.0) < 0 else "rose"
    parts: dict[str, Part] = {
        "what": named(what),
        "it": fact,
        "counts": counts,
        "how": how,
    }
    if standing in ("failed", "worse"):
        return sentence(
            "{what.text} {how} from {it.before} to {it.value}; {counts}.", **parts
        )
    if standing == "no clear difference" and is_large(fact, facts):
        return sentence(
            "{what.text} {how} from {it.before} to {it.value}; {counts}; this may be chance.",
            **parts,
        )
    if standing == "no clear difference":
        return sentence(
            "No clear difference in {what.text} ({it.before}, now {it.value}): {counts}.",
            **parts,
        )
    return sentence("No worse than the baseline in {what.text}: {counts}.", **parts)


def counts_of(fact: Fact) -> Sentence:
    """How many queries got better and how many worse, and whether one of them decides the mean."""
    return sentence(_counts_template(fact.better or 0, fact.worse or 0), it=fact)


def _counts_template(better: int, worse: int) -> str:
    if not better and not worse:
        return "no query changed"
    sides = [(better, "better"), (worse, "worse")]
    if worse > better:
        sides.reverse()
    (_, way), (few, other) = sides
    rest = f"{{it.{other}}}" if few else "none"
    return f"{{it.{way}}} of {{it.queries:query|queries}} {way}, {rest} {other}"


def decided(fact: Fact, change: PairedRow | Difference) -> Sentence | None:
    """Which few queries decide the mean, where more point the other way."""
    if change.one_outweighs:
        return outweighed(fact)
    better = fact.better or 0
    worse = fact.worse or 0
    few = {"better": better, "worse": worse}.get(fact.direction or "", 0)
    # One alone would outweigh all others.
    if not 1 < few < max(better, worse):
        return None
    return sentence(f"those {{it.{fact.direction}}} decide the mean", it=fact)


def outweighed(fact: Fact) -> Sentence | None:
    """That one query outweighs all others together, where they do not all point one way."""
    better = fact.better or 0
    worse = fact.worse or 0
    if not better or not worse or better + worse < 3:
        return None
    gained = fact.direction == "better"
    if fact.direction == "same":
        if min(better, worse) > 1:
            return None
        text = "that one makes up for all others"
    elif (better if gained else worse) == 1:
        text = "that one decides the mean"
    else:
        text = "one of them outweighs all others together"
    return Sentence(text, [_by_one(fact)])


def _by_one(fact: Fact) -> Fact:
    return Fact(about="outweighed", metric=fact.metric, system=fact.system)


MORE = "more may differ"
"""What an interval cannot know where one query decides it."""


def beyond(fact: Fact) -> Sentence:
    """That an interval says little, as one query outweighs all others."""
    verb = "makes up for" if fact.direction == "same" else "outweighs"
    text = f"one query {verb} all others together, so {MORE}"
    return Sentence(text, [_by_one(fact)])


def _range(row: PairedRow, fact: Fact, *, has_counts: bool) -> Sentence | None:
    """The likely difference on new queries, and whether one query decides it.

    ``has_counts``: which query decides stands beside the counts already.
    """
    if fact.low is None or fact.high is None or signed(fact.low) == signed(fact.high):
        return None
    likely = sentence(
        "The true difference is likely between {it.low:+} and {it.high:+}", it=fact
    )
    if row.one_outweighs:
        is_said = has_counts and outweighed(fact) is not None
        likely = joined(likely, MORE if is_said else beyond(fact), by="; ")
    return joined(likely, ".", by="")


def in_words(ends: Interval | None) -> str | None:
    """Both ends in words; None where all differences are equal: new queries may still differ."""
    if ends is None or signed(ends.low) == signed(ends.high):
        return None
    return f"{signed(ends.low)} to {signed(ends.high)}"


def _next(row: PairedRow, facts: MetricFacts, unit: str) -> Sentence | None:
    """How many queries a fixed difference takes; None where these are enough, or say too little."""
    low, high = facts.bounds
    # 0.05 is a size for shares, not for ranks or tokens.
    if high is None or high - low != 1.0:
        return None
    needed = queries_to_detect(row, DIFFERENCE)
    if needed is None or needed.high <= row.units:
        return None
    return needed.sentence_for("queries" if unit == "query" else f"{unit}s")
