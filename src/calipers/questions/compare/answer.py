"""The first line of a comparison: every system that is better or worse, or the largest change."""

from collections.abc import Sequence

from calipers.model.claim import Standing
from calipers.model.fact import Fact, Sentence, joined, named, sentence
from calipers.questions.compare.paired_claim import (
    fact_of,
    is_large,
    moved_by_chance,
    outweighed,
)
from calipers.questions.compare.result import Comparison, Difference
from calipers.words import listed

NAMED = 3
"""Systems that a sentence names; then "and 2 more"."""


def answer(comparison: Comparison) -> tuple[Standing | None, Sentence]:
    """The standing and the sentence: what is better or worse, else what changed most."""
    if not comparison.deciding:
        return None, Sentence("There is no metric here of which more or less is better.")
    leading = _leading(comparison)
    better = [difference for difference in leading if difference.verdict == "better"]
    worse = [difference for difference in leading if difference.verdict == "worse"]
    if better or worse:
        return _decided(comparison, better, worse)
    if not any(
        difference.wins or difference.losses for difference in comparison.deciding
    ):
        count = Fact(about="count", count=comparison.queries.height, text="queries")
        return "no clear difference", sentence(
            "{systems} score the same on {all}{it.count:query|queries}.",
            systems=several_names(comparison.systems),
            all="all " if comparison.queries.height > 1 else "",
            it=count,
        )
    hidden = next(
        filter(
            None, (_hidden(comparison, difference) for difference in comparison.deciding)
        ),
        None,
    )
    return "no clear difference", _with_gains(
        comparison, hidden or _undecided(comparison)
    )


def several_names(names: Sequence[str]) -> Sentence:
    """Three names, then how many more there are.

    >>> several_names(["b", "c"]), several_names("bcdef")
    ('b and c', 'b, c, d and 2 more')
    """
    if len(names) <= NAMED:
        return Sentence(listed(names), [Fact(about="name", text=name) for name in names])
    rest = Fact(about="count", count=len(names) - NAMED, text="more systems")
    first = Sentence(
        ", ".join(names[:NAMED]), [Fact(about="name", text=name) for name in names]
    )
    return sentence("{first} and {rest.count} more", first=first, rest=rest)


def _decided(
    comparison: Comparison, better: Sequence[Difference], worse: Sequence[Difference]
) -> tuple[Standing, Sentence]:
    """Which systems are better and which are worse, the better ones first."""
    standing: Standing = "better" if better else "worse"
    first = better or worse
    text = _group(comparison, first, standing)
    if better and worse:
        verb = "is" if len(worse) == 1 else "are"
        also = sentence(
            "{names} {verb} worse", names=_named(comparison, worse), verb=verb
        )
        text = joined(text, also, by="; ")
    return standing, _with_gains(comparison, joined(text, ".", by=""))


def _gains(comparison: Comparison) -> list[Difference]:
    """What is better in systems of which another metric leads, without a clear difference."""
    undecided = {
        row.system for row in _leading(comparison) if row.verdict == "no clear difference"
    }
    return [
        row
        for row in comparison.deciding
        if row.verdict == "better" and row.system in undecided
    ]


def _with_gains(comparison: Comparison, text: Sentence) -> Sentence:
    """A first sentence, and what is better all the same, where it does not say so."""
    gains = [
        (row, fact)
        for row in _gains(comparison)
        if (fact := fact_of(row, comparison.facts_of(row.metric))) not in text.facts
    ]
    if not gains:
        return text
    if len(comparison.others) == 1:
        better = Sentence(
            f"Better in {listed([row.metric for row, _ in gains])}.",
            [fact for _, fact in gains],
        )
        return joined(text, better)
    first = gains[0][0]
    alike = [row for row, _ in gains if row.metric == first.metric]
    also = sentence(
        "{names} {verb} better in {metric}.",
        names=_named(comparison, alike),
        verb="is" if len(alike) == 1 else "are",
        metric=first.metric,
    )
    return joined(text, also)


def _leading(comparison: Comparison) -> tuple[Difference, ...]:
    """The most important row of each system."""
    return comparison.deciding[: len(comparison.others)]


def _named(comparison: Comparison, rows: Sequence[Difference]) -> Sentence:
    """The names of the systems of some rows, with the difference of each as a fact."""
    facts = [fact_of(row, comparison.facts_of(row.metric)) for row in rows]
    names = several_names([row.system for row in rows])
    return Sentence(names, [*names.facts, *facts])


def _group(
    comparison: Comparison, rows: Sequence[Difference], standing: Standing
) -> Sentence:
    """Systems that are all better or all worse than the baseline, and in what."""
    metric = rows[0].metric
    alike = [comparison.difference(row.system, metric) for row in rows]
    verb = "is" if len(rows) == 1 else "are"
    head = sentence(
        "{names} {verb} {standing} than {baseline.text}",
        names=_named(comparison, rows),
        verb=verb,
        standing=standing,
        baseline=named(comparison.baseline),
    )
    if any(difference.verdict != standing for difference in alike):
        each = [f"{row.system} in {row.metric}" for row in rows[:NAMED]]
        return joined(head, ", ".join(each), by=": ")
    facts = [
        fact_of(difference, comparison.facts_of(metric)) for difference in alike[:NAMED]
    ]
    text = sentence(
        "{head}: {it.metric} is {values}, it was {it.before}",
        head=head,
        values=_values(facts),
        it=facts[0],
    )
    if len(rows) == 1 and (against := _opposite(comparison, rows[0])):
        text = joined(text, against, by="; ")
    return text


def _opposite(comparison: Comparison, row: Difference) -> Sentence | None:
    """The metrics in which a system that is worse is better, or the other way round."""
    other = "better" if row.verdict == "worse" else "worse"
    rows = [comparison.difference(row.system, metric) for metric in comparison.asked]
    turned = [row for row in rows if row.verdict == other]
    if not turned:
        return None
    facts = [
        fact_of(difference, comparison.facts_of(difference.metric))
        for difference in turned
    ]
    return Sentence(
        f"{other} in {listed([difference.metric for difference in turned])}", facts
    )


def _hidden(comparison: Comparison, row: Difference) -> Sentence | None:
    """Many queries that changed one way, where one that changed the other decides the mean."""
    fact = fact_of(row, comparison.facts_of(row.metric))
    decides = outweighed(fact) if row.one_outweighs else None
    is_plain = (row.wins > row.losses) == (fact.direction == "better")
    if decides is None or (is_plain and fact.direction != "same"):
        return None
    ways = ("worse", "better") if row.losses > row.wins else ("better", "worse")
    whose = "" if len(comparison.others) == 1 else " of {it.system}"
    return sentence(
        f"{{it.metric}}{whose}: {{it.{ways[0]}}} of {{it.queries:query|queries}} "
        f"{ways[0]}, {{it.{ways[1]}}} {ways[1]}; {{decides}}.",
        it=fact,
        decides=decides,
    )


def _undecided(comparison: Comparison) -> Sentence:
    """The largest changes, which may be chance; else that there is no clear difference."""
    large = []
    for row in comparison.deciding:
        facts = comparison.facts_of(row.metric)
        fact = fact_of(row, facts)
        if is_large(fact, facts) and row.verdict == "no clear difference":
            large.append(fact)
    several = len(comparison.others) > 1
    if large:
        # The primary metric before others, a fall before a rise, then by size.
        large.sort(
            key=lambda difference: (
                difference.metric != comparison.primary,
                difference.direction != "worse",
                -abs(difference.difference or 0.0),
            )
        )
        first = large[0]
        alike = [
            difference
            for difference in large
            if difference.metric == first.metric
            and difference.direction == first.direction
        ]
        return (
            _moved_alike(alike)
            if len(alike) > 1
            else moved_by_chance(first, whose=several)
        )
    others = Fact(about="count", count=len(comparison.others), text="other systems")
    queries = Fact(about="count", count=comparison.queries.height, text="queries")
    whom = sentence("the {it.count} other systems", it=others)
    if not several and (gains := _gains(comparison)):
        return sentence(
            "{it.system} is better than {it.against} in {it.metric} ({it.value}, it was "
            "{it.before}); no clear difference in {primary}.",
            it=fact_of(gains[0], comparison.facts_of(gains[0].metric)),
            primary=comparison.deciding[0].metric,
        )
    return sentence(
        "No clear difference between {whom} and {baseline.text} on "
        "{it.count:query|queries}.",
        whom=whom if several else _one(comparison),
        baseline=named(comparison.baseline),
        it=queries,
    )


def _moved_alike(facts: Sequence[Fact]) -> Sentence:
    """Several systems that changed much in the same metric and direction, which may be chance."""
    how = "fell" if (facts[0].difference or 0.0) < 0 else "rose"
    return sentence(
        "{it.metric} of {names} {how} from {it.before} to {values} on "
        "{it.queries:query|queries}; this may be chance.",
        it=facts[0],
        names=several_names([fact.system or "" for fact in facts]),
        values=_values(facts[:NAMED]),
        how=how,
    )


def _values(facts: Sequence[Fact]) -> Sentence:
    """The values of some systems, as a list in words."""
    texts = [sentence("{it.value}", it=fact) for fact in facts]
    every = [fact for text in texts for fact in text.facts]
    return Sentence(listed(texts), every)


def _one(comparison: Comparison) -> Sentence:
    """The name of the only other system, with its differences as facts."""
    facts = [
        fact_of(difference, comparison.facts_of(difference.metric))
        for difference in comparison.deciding
    ]
    return Sentence(comparison.others[0], facts)
