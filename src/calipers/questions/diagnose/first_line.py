"""The first line of a diagnosis, what to do next, and the gap between precision and recall."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.scoring import compute
from calipers.frozen import dataclass
from calipers.measures import parse
from calipers.measures.views import Found
from calipers.model.arrays import Bools, Floats
from calipers.model.fact import Fact, Sentence, joined
from calipers.questions.diagnose.cures import Seen, best_order
from calipers.questions.diagnose.groups import Group
from calipers.questions.diagnose.result import (
    NEARLY,
    CuredValue,
    Leak,
    TriedCure,
    leak_fact,
    percent_of,
)
from calipers.questions.diagnose.rising_ranks import fall_from_rank_to_rank
from calipers.questions.diagnose.testing import Tested, cured_value
from calipers.questions.misses.rule import Study
from calipers.questions.recall_advice import RecallAdvice
from calipers.questions.shown_results import ceilings
from calipers.statistics.clusters import exact_mean
from calipers.words import number, percent, plural

LEAST_LEAK = 0.05
"""A leak below this share of the targets is not named in the first line."""
FEW = 20
"""Below this number of queries the first line says how few they are."""
SHORT = 8
"""Lists of fewer results, on average, are too short to be blamed for anything else."""
FEW_FOUND = 1 / 3
"""Where less is found, how targets fall from rank to rank says nothing of longer lists."""
BEHIND = 0.25
"""Longer lists are advised where they may find this share of what is missing."""
WORTH = 0.3
"""A smaller k that saves less than this share of the results is not advised."""
WIDE = 0.3
"""A gap of this size between precision and recall is worth a sentence."""
_TO_DO = {
    "reverse": "Sort the other way round: distances may be taken for similarities.",
    "reverse_first": "See what orders them, such as a reranker whose lowest score is the best.",
    "sort_distances": "Sort by score, the smallest first.",
    "sort_scores": "Sort by score, the largest first.",
    "repeated_ids": "Remove repetitions before the cut at k; look for what was indexed twice.",
    "repeated_texts": "Remove repetitions before the cut at k; look for what was indexed twice.",
    "ids": "Write the ids alike in both.",
    "hub": "See why it is near to everything: boilerplate, an empty or a very long chunk.",
}
"""What to do about a certain cure that no option applies."""
_LOST = {
    "wrong_chunk": "are missing, though another chunk of their document is there",
    "retriever_error": "are missing because the retriever failed",
    "nothing_returned": "are missing because nothing was returned",
    "not_in_run": "are missing because their queries are not in the run",
    "never_a_candidate": "were never candidates",
}
"""What became of targets, where "are" and the reason make no sentence."""
_OTHERS_FIRST = (
    "See where the first results come from, such as another index or a fallback."
)
"""What to do where the best results stand last, in a good order."""


def _promised(value: CuredValue, queries: int) -> Sentence:
    """What a metric would be, and is."""
    text = f"{value.metric} is {number(value.after)}, not {number(value.before)}."
    return Sentence(text, [_difference(value, queries, "would be")])


def _difference(value: CuredValue, queries: int, kind: str) -> Fact:
    """A metric after a cure, against the run as it was recorded."""
    return Fact(
        about="difference",
        system=kind,
        against="as recorded",
        metric=value.metric,
        value=value.after,
        before=value.before,
        difference=value.gain,
        better=value.better,
        worse=value.worse,
        queries=queries,
        direction="better" if value.gain > 0 else "worse" if value.gain < 0 else "same",
        sure=None if value.standing is None else value.standing == "better",
    )


def _mean(seen: Seen) -> Fact:
    """The recall as it is."""
    known = seen.values[seen.measured_queries, 0]
    return Fact(
        about="mean",
        metric=str(seen.metrics[0]),
        value=exact_mean(known),
        queries=known.size,
    )


def _k(seen: Seen) -> Fact:
    """The k that was asked for."""
    return Fact(about="setting", k=seen.k, text="k")


def _choice(cure: TriedCure) -> Fact:
    """Another k, and what it finds."""
    return Fact(about="choice", metric="recall", k=cure.k, value=cure.values[0].after)


@dataclass(frozen=True)
class First:
    """The first line, what it is about, and what to do next."""

    sentence: str
    named: str | None
    next: str | None
    """None where nothing is missed."""


def first_line(
    seen: Seen,
    study: Study,
    advised: list[Tested],
    groups: list[Group],
    leaks: Sequence[Leak],
    shown: list[TriedCure],
) -> First:
    """The largest certain cure, else a group, else a leak, else that nothing known is wrong."""
    if advised:
        best = advised[0]
        value = best.leading
        promised = _promised(value, int(seen.measured_queries.sum()))
        if last_are_best(seen, advised):
            says = Sentence(
                f"The best results stand last: with the last {seen.k} first,", [_k(seen)]
            )
            return First(joined(says, promised), best.cure.name, _OTHERS_FIRST)
        sentence = joined(best.trial.says, promised)
        # The option of a second cure alone would not give the number of the first line.
        option = best.cure.option
        command = f"Try it: `calipers eval {option}`" if option else ""
        return First(sentence, best.cure.name, command or _TO_DO[best.cure.name])
    missing = np.where(seen.measured_queries, 1.0 - seen.values[:, 0], 0.0)
    for group in groups:
        if missing[group.which].sum() > 0.5 * missing.sum() and missing.sum():
            return First(group.says, group.name, group.next)
    return _leaking(seen, study, leaks, shown)


def last_are_best(seen: Seen, advised: list[Tested]) -> bool:
    """Whether the end of each list is in a good order: turned round, its first k are wrong.

    Then the lists are not in reverse order. The recall is the same with the last k first.
    """
    names = [outcome.cure.name for outcome in advised]
    by_recall = advised[0].leading.metric == str(seen.metrics[0])
    return (
        by_recall
        and names == ["reverse", "reverse_first"]
        and advised[1].cure.title == f"first {seen.k} reversed"
    )


def _leaking(
    seen: Seen, study: Study, leaks: Sequence[Leak], shown: list[TriedCure]
) -> First:
    """The largest leak, be it targets that are lost or an order that is not the best."""
    lost = [leak for leak in leaks[1:] if leak.share >= LEAST_LEAK]
    largest = lost[0] if lost else None
    best = next(best_order(seen, seen.k)).values[:, 1]
    room = _room_in_order(seen, best)
    least = max(LEAST_LEAK, largest.share if largest else 0.0)
    uncut = next((cure for cure in shown if cure.name == "uncut"), None)
    if uncut is not None and uncut.gain >= max(least, room / 2):
        return _cut_over_results(seen, uncut)
    if room >= least:
        ndcg = cured_value(seen.metrics[1], seen.values[:, 1], best)
        text = (
            f"Found, but not first: {ndcg.metric} is {number(ndcg.before)}, at most "
            f"{number(ndcg.after)} with the {seen.first} in the best order."
        )
        fact = _difference(ndcg, int(seen.measured_queries.sum()), "at most")
        first = Fact(about="setting", k=seen.k)
        return First(Sentence(text, [fact, first]), "best_order", _rerank(seen))
    if largest is None:
        return _nothing_wrong(seen, shown)
    too_many = _more_targets_than_places(seen, shown)
    if too_many is not None:
        return too_many
    share = Sentence(
        f"{percent_of(largest.targets, study.targets)} of the targets",
        [leak_fact(largest, study.targets)],
    )
    why = "Why: `calipers misses`"
    if largest.name == "below_k":
        larger = _larger_k(shown)
        if larger is not None:
            value = larger.values[0]
            rest = Sentence(
                f"are ranked below {seen.k}: k = {larger.k} finds {value.after:.0%}, "
                f"k = {seen.k} finds {value.before:.0%}.",
                [_choice(larger), replace(_mean(seen), k=seen.k)],
            )
            return First(joined(share, rest), "larger_k", _try_k(larger))
        below = Sentence(f"are ranked below {seen.k}.", [_k(seen)])
        return First(joined(share, below), "below_k", why)
    verb = _LOST.get(largest.name, f"are {largest.means}")
    if largest.name == "another_id":
        options = [cure.option for cure in shown if cure.name == "ids" and cure.option]
        why = f"Try it: `calipers eval {options[0]}`" if options else why
    if largest.means == NEARLY.means:
        verb = "are missing, though a result has nearly the same id"
    if largest.name == "not_returned":
        return _not_returned(seen, study, share, why)
    return First(joined(share, f"{verb}."), largest.name, why)


def _cut_over_results(seen: Seen, uncut: TriedCure) -> First:
    """That targets lie in pieces, which no order of the results brings together."""
    value = max(uncut.values, key=lambda value: value.gain)
    cut = int((seen.first_piece > 0).sum())
    targets = int(seen.matches.relevant(seen.pair.rel).sum())
    many = Fact(about="count", count=cut, of=targets, text="cut over several results")
    text = (
        f"{cut:,} of {plural(targets, 'target')} {'is' if cut == 1 else 'are'} cut over several "
        f"results: {value.metric} is {number(value.before)}, at most {number(value.after)} with "
        "each in one."
    )
    difference = _difference(value, int(seen.measured_queries.sum()), "at most")
    return First(
        Sentence(text, [many, difference]),
        uncut.name,
        "Cut otherwise: at paragraphs, in larger chunks, or with an overlap.",
    )


def _nothing_wrong(seen: Seen, shown: list[TriedCure]) -> First:
    """That nothing known is wrong, and the smaller k where there is one."""
    n = int(seen.measured_queries.sum())
    mean = number(float(np.nanmean(seen.values[:, 0])))
    text = f"Nothing known is wrong: {seen.metrics[0]} is {mean} on {n:,} queries."
    if n < FEW:
        told = f"as far as {plural(n, 'query', 'queries')} can tell"
        text = f"Nothing known is wrong, {told}: {seen.metrics[0]} is {mean}."
    sentence = Sentence(text, [_mean(seen)])
    smaller = next((cure for cure in shown if cure.name == "smaller_k"), None)
    if smaller is not None:
        command = f"Try a smaller k: `calipers eval -k {smaller.k}`"
        return First(sentence, None, Sentence(command, [_choice(smaller)]))
    missed = np.nanmean(seen.values[:, 0]) < 1
    return First(sentence, None, "Each miss: `calipers misses`" if missed else None)


def _more_targets_than_places(seen: Seen, shown: list[TriedCure]) -> First | None:
    """That k cannot hold all targets, where that is what keeps recall down; else None."""
    if not seen.matches.is_one_to_one:
        return None
    wanted = seen.wanted[seen.measured_queries]
    highest, _ = ceilings(wanted, seen.k)
    mean = float(np.nanmean(seen.values[:, 0]))
    if highest is None or highest > 0.9 or mean < 0.9 * highest:
        return None
    enough = int(np.sort(wanted)[int(np.ceil(0.95 * wanted.size)) - 1])
    text = (
        f"k = {seen.k} holds too few: {seen.metrics[0]} is {number(mean)} and cannot be above "
        f"{number(highest)}."
    )
    bound = Fact(about="bound", metric=str(seen.metrics[0]), k=seen.k, value=highest)
    held = int(np.count_nonzero(wanted <= enough))
    larger = _larger_k(shown)
    # The k that holds all is not the one that finds them in these lists.
    then = _room(enough, held, wanted.size) if larger is None else _try_k(larger)
    return First(Sentence(text, [_mean(seen), bound]), "k_too_small", then)


def _larger_k(shown: list[TriedCure]) -> TriedCure | None:
    """The larger k that is advised, if any."""
    return next((cure for cure in shown if cure.name == "larger_k"), None)


def _try_k(larger: TriedCure) -> Sentence:
    """The command that takes a larger k."""
    return Sentence(f"Try it: `calipers eval -k {larger.k}`", [_choice(larger)])


def _room(k: int, held: int, total: int) -> Sentence:
    """How many of the queries a k holds all targets of.

    >>> for held, total in ((10, 10), (96, 100), (1, 1)):
    ...     print(_room(5, held, total))
    k = 5 holds all targets of all 10 queries.
    k = 5 holds all targets of 96 of 100 queries.
    k = 5 holds all targets of the query.
    """
    queries = (
        f"{held:,} of {total:,} queries" if held < total else f"all {total:,} queries"
    )
    if total == 1:
        queries = "the query"
    fact = Fact(
        about="setting", k=k, value=held / total, count=held, of=total, text="queries"
    )
    return Sentence(f"k = {k} holds all targets of {queries}.", [fact])


def _rerank(seen: Seen) -> str:
    """What to do about an order that is not the best."""
    judged = compute(seen.matches, parse(["judged"], [seen.k]), seen.pair.policy)[:, 0]
    unjudged = 1.0 - float(np.nanmean(judged)) if not np.isnan(judged).all() else 0.0
    if unjudged < 0.5:
        return "Rerank the results."
    share = percent(unjudged)
    text = (
        f"Rerank, or judge what stands above: {share} of the results were never judged."
    )
    return Sentence(
        text, [Fact(about="mean", metric="unjudged", value=unjudged, k=seen.k)]
    )


def _from_both_ends(seen: Seen) -> Floats:
    """ndcg of lists read from both ends: the best first and last is a good order, too."""
    lists = seen.lists
    last = np.minimum(lists.lengths, seen.k)[lists.query]
    behind = last + 1 - lists.rank
    between = np.where(lists.rank <= behind, 2 * lists.rank - 1, 2 * behind)
    place = np.where(lists.rank <= seen.k, between, lists.rank)
    return seen.measured_at(place)[:, 1]


def _room_in_order(seen: Seen, best: Floats) -> float:
    """What the best order of the first k adds to ndcg; what stands below k is another leak.

    Lists that put the best first and last on purpose are read from both ends.
    """
    orders = [seen.values[:, 1], _from_both_ends(seen)]
    return float(np.nanmean(best) - max(np.nanmean(before) for before in orders))


def _not_returned(seen: Seen, study: Study, share: Sentence, why: str) -> First:
    """Targets that are in no list: the lists may be too short."""
    short = _length_where_missed(seen, study)
    if short < SHORT and _may_lie_behind(seen, study):
        length = Fact(about="count", value=short, text="results per query")
        rest = f"are not in the results, which are only {short:.3g} per query: retrieve more."
        return First(joined(share, Sentence(rest, [length])), "too_few_results", why)
    lacking = [
        f"--{name}" for name in ("corpus", "candidates") if name not in study.given
    ]
    known = f"; give {' or '.join(lacking)} to see why" if lacking else ""
    return First(joined(share, f"are not in the results{known}."), "not_returned", why)


def _may_lie_behind(seen: Seen, study: Study) -> bool:
    """Whether short lists of twice the length might find much of what they miss.

    Targets are taken to become fewer from rank to rank behind the end as they do above it.
    """
    if study.found < FEW_FOUND * study.targets:
        return True
    lengths = seen.lists.lengths[seen.matches.target_query]
    length = lengths[study.counted]
    rank = study.facts.rank[study.counted]
    is_short = (rank <= length) & (length < SHORT)
    left = fall_from_rank_to_rank(rank[is_short], length[is_short])
    more = float(np.sum(left ** length[is_short]))
    missed = int((lengths[study.missed] < SHORT).sum())
    return more >= BEHIND * missed


def _length_where_missed(seen: Seen, study: Study) -> float:
    """The mean number of results of the queries that miss a target."""
    missed: Bools = np.zeros(seen.matches.n_queries, dtype=np.bool_)
    missed[seen.matches.target_query[study.missed]] = True
    some = seen.matches.retrieved[missed]
    return float(some.mean()) if some.size else 0.0


def precision_of_shown(seen: Seen) -> float:
    """Which share of the results down to k is relevant; lists that end early count as they are."""
    useful = Found.of(seen.matches, seen.pair.rel).useful(seen.k)
    shown = np.minimum(seen.matches.retrieved, seen.k)
    results = shown[seen.measured_queries].sum()
    return float(useful[seen.measured_queries].sum() / max(1, results))


def is_too_wide(seen: Seen) -> bool:
    """Whether recall is high and precision far below it.

    First recall, then a shorter list: where much is missing, a smaller k is no advice.
    """
    recall = float(np.nanmean(seen.values[:, 0]))
    is_high = 1.0 - recall <= WIDE
    return is_high and recall - precision_of_shown(seen) >= WIDE


def gap_between(
    seen: Seen, advice: RecallAdvice | None, price: float | None
) -> Sentence | None:
    """The gap between precision and recall, where it says what to do."""
    found = float(np.nanmean(seen.values[:, 0]))
    precise = precision_of_shown(seen)
    both = f"precision is {number(precise)} and recall {number(found)}"
    facts = [
        Fact(about="mean", metric=f"precision@{seen.k}", value=precise),
        replace(_mean(seen), value=found),
    ]
    if precise - found >= WIDE:
        more = "retrieve more results"
        if advice is not None and advice.best_guess > seen.k:
            more = f"k = {advice.best_guess} finds {advice.best_guess_recall:.0%}"
            facts.append(_advised_k(advice))
        text = (
            f"Gap between precision and recall: {both}, so it is too selective; {more}."
        )
        return Sentence(text, facts)
    if advice is None or not is_too_wide(seen):
        return None
    if seen.k_shown - advice.best_guess < WORTH * seen.k_shown:
        return None
    now = seen.lists.tokens_at(seen.k)
    then = seen.lists.tokens_at(advice.best_guess)
    less = 1 - seen.lists.shown_at(advice.best_guess) / seen.lists.shown_at(seen.k)
    saved = f"{less:.0%} of the results"
    if now and then is not None:
        less = 1 - then / now
        saved = f"{less:.0%} of the tokens"
        if price is not None:
            cost = (now - then) * price / 1000
            saved += f" ({cost:,.2f} per 1,000 queries)"
            facts.append(Fact(about="count", value=cost, queries=1000, text="cost saved"))
    facts += [Fact(about="count", value=less, text="saved"), _advised_k(advice)]
    kept = "keeps the recall"
    if f"{advice.best_guess_recall:.0%}" != f"{found:.0%}":
        kept = f"finds {advice.best_guess_recall:.0%} instead of {found:.0%}"
    doubt = ""
    if advice.safe_k > advice.best_guess:
        doubt = f"; on new queries it may lose up to {number(advice.best_guess_bound)}"
        facts.append(Fact(about="bound", metric="recall", value=advice.best_guess_bound))
    text = (
        f"Gap between precision and recall: {both}, so it is too wide; k = {advice.best_guess} "
        f"{kept} and saves {saved}{doubt}."
    )
    return Sentence(text, facts)


def _advised_k(advice: RecallAdvice) -> Fact:
    """The k that sweep advises, and what it finds."""
    return Fact(
        about="choice",
        metric="recall",
        k=advice.best_guess,
        value=advice.best_guess_recall,
    )
