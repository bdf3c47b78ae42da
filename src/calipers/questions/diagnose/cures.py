"""Cures: what can be changed on paper in a run as it was recorded.

Each cure is one function from what was seen to trials: the two deciding metrics of every query
after the change, and the run as it would be. A new cure is one function in ``CURES`` and a world in
the tests that needs it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Literal

import numpy as np

from calipers.engines.scoring import compute
from calipers.frozen import dataclass
from calipers.match.near_ids import NearPairs
from calipers.match.notes import differ_in
from calipers.measures import Metric, parse
from calipers.measures.views import Gains
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.fact import Fact, Sentence
from calipers.model.matched import Matched, Matches
from calipers.model.matching import IdMap
from calipers.present.escape import printable
from calipers.questions.diagnose.by_chance import ByChance
from calipers.questions.diagnose.lists import Lists, matches_after
from calipers.questions.diagnose.mapped_ids import MappedIds, with_ids_mapped
from calipers.questions.diagnose.rising_ranks import rise_and_end
from calipers.questions.diagnose.same_ids import SameIds
from calipers.questions.shown_results import Context, wanted_per_query
from calipers.shell import join_words
from calipers.words import first_results

Kind = Literal["would be", "at most"]
"""Whether the change is certain to give the number, or the number is the best that it can do."""
DECIDING = ("recall", "ndcg")
_FEWER = (5, 10, 20, 50)
"""Numbers of first results that may be in reverse order, as those that a reranker returned."""
SEEN = 0.001
"""What gains less does not change a printed number."""
STRICT = 0.2
"""A new order must be better than a random one at this part of the level: lists in a random order
are reversed by chance too often at the whole of it (2 of 75 draws of 30 queries)."""
_RULES = 3
"""At most so many rules for ids are tried."""


def deciding(pair: Matched, k: int) -> tuple[Metric, ...]:
    """The metrics that decide, at a cut-off."""
    return tuple(metric.with_rel(pair.rel) for metric in parse(DECIDING, [k]))


@dataclass(frozen=True, eq=False)
class Seen:
    """A run as it was recorded, or as it is after a cure."""

    pair: Matched
    matches: Matches
    lists: Lists
    recorded: Lists
    """The lists before any cure."""
    k: int
    metrics: tuple[Metric, ...]
    """recall and ndcg at k."""
    near: NearPairs
    """Missed targets and results whose ids may be alike."""
    by_chance: ByChance
    """The same where each query has the targets of another."""
    blocks: Sequence[Context]
    """The results as they were recorded, in blocks; none where they are not in memory."""
    first_piece: Ints
    """The rank of the first piece of each target that only several results hold; else 0."""

    @cached_property
    def values(self) -> Floats:
        """recall and ndcg, one row per query; NaN where it is not measured."""
        return self.measured(self.matches)

    def measured(self, matches: Matches) -> Floats:
        """recall and ndcg of other matches of the same targets."""
        return compute(matches, self.metrics, self.pair.policy)

    @property
    def by_id(self) -> bool:
        """Whether targets are matched by id."""
        return self.pair.matching.rule.kind == "id"

    @cached_property
    def k_shown(self) -> int:
        """The most results that a query has in the first k."""
        return min(self.k, int(self.lists.lengths.max(initial=0)))

    @property
    def first(self) -> str:
        """The phrase for the first k results."""
        return first_results(self.k, is_far=self.pair.matches.is_far(self.k))

    @cached_property
    def wanted(self) -> Ints:
        """How many targets each query has."""
        return wanted_per_query(self.matches, self.pair.rel)

    @cached_property
    def measured_queries(self) -> Bools:
        """Which queries have targets and are measured."""
        return (self.wanted > 0) & ~np.isnan(self.values[:, 0])

    @cached_property
    def in_random_order(self) -> Floats:
        """What a random order of each list without repetitions and hubs would have, on average."""
        return shuffled(self, None)

    @cached_property
    def values_reversed(self) -> Floats:
        """recall and ndcg with every list from its end."""
        return self.measured_at(self.lists.reversed)

    def moved(self, place: Ints) -> "Seen":
        """The run with every result at its new rank."""
        return replace(
            self,
            matches=self.matches_at(place),
            lists=self.lists.moved(place),
            # Which piece is the first one now is not followed any further.
            first_piece=np.zeros_like(self.first_piece),
        )

    def matches_at(self, place: Ints) -> Matches:
        """The matches with every result at its new rank."""
        return matches_after(
            self.matches, self.lists, place, by_id=self.by_id, pieces=self.first_piece
        )

    def measured_at(self, place: Ints) -> Floats:
        """recall and ndcg with every result at its new rank; the lists are not made anew."""
        return self.measured(self.matches_at(place))

    def measured_without(self, which: Bools) -> Floats:
        """recall and ndcg without some results; only lists that have any are measured anew."""
        touched = np.unique(self.lists.query[np.flatnonzero(which)])
        matches, targets = self.matches.some(touched)
        lists, rows = self.lists.some(touched)
        after = matches_after(
            matches,
            lists,
            lists.without(which[rows]),
            by_id=self.by_id,
            pieces=self.first_piece[targets],
        )
        values = self.values.copy()
        values[touched] = self.measured(after)
        return values


@dataclass(frozen=True, eq=False)
class Deeper:
    """A cure measured down to the end of the lists, where it changes nothing in the first k."""

    k: int
    metrics: tuple[Metric, ...]
    before: Floats
    """recall and ndcg of every query as recorded."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One cure, tried."""

    name: str
    title: str
    """What is changed, as a row of a table."""
    kind: Kind
    values: Floats
    """recall and ndcg of every query after the change."""
    says: str
    """The first line, up to the numbers."""
    advice: str
    """What to do."""
    option: str | None = None
    """The option that applies it."""
    by_chance: Callable[[], Floats] | None = None
    """What the gain is held against besides: recall and ndcg of every query by chance."""
    chance_at: float = STRICT
    """The part of the level at which it must be so."""
    at_full_depth: Floats | None = None
    """The gain in recall at the full depth of the lists, less what the same change gains by
    chance: where it is there, it is what counts, as a target below k is under another id, too."""
    deeper: Deeper | None = None
    """Where it is measured further down than at k."""
    same_ids: SameIds | None = None
    """Where the ids are mapped: whether they differ for certain, in however few queries."""
    is_fact: bool = False
    """Whether what it mends can be seen in the lists, in however few queries."""
    after: Callable[[], Seen] | None = None
    """The run as it would be, for a second round."""


Cure = Callable[[Seen], Iterator[Trial]]


def reverse(seen: Seen) -> Iterator[Trial]:
    """Every list from its end."""
    values = seen.values_reversed
    yield Trial(
        "reverse",
        "in reverse order",
        "would be",
        values,
        "The lists are in reverse order: turned round,",
        "sort the other way",
        by_chance=lambda: seen.in_random_order,
        after=partial(seen.moved, seen.lists.reversed),
    )


def reverse_first(seen: Seen) -> Iterator[Trial]:
    """The first k of every list in reverse order, or fewer, as after a reranker of a few."""
    for depth in (seen.k, *(depth for depth in _FEWER if depth < seen.k)):
        if (seen.lists.lengths > depth).any() and _rise_and_end(seen, depth):
            yield _first_reversed(seen, depth)


def _first_reversed(seen: Seen, depth: int) -> Trial:
    """The first results of every list, down to a depth, in reverse order."""
    lists = seen.lists
    last = np.minimum(lists.lengths, depth)[lists.query]
    place = np.where(lists.rank <= depth, last + 1 - lists.rank, lists.rank)
    values = seen.measured_at(place)
    return Trial(
        "reverse_first",
        f"first {depth} reversed",
        "would be",
        values,
        Sentence(
            f"The first {depth} results are in reverse order: turned round,",
            [Fact(about="setting", k=depth, text="k")],
        ),
        "see what orders them",
        by_chance=partial(shuffled, seen, depth),
        # A random order has no such end.
        chance_at=1.0,
        after=partial(seen.moved, place),
    )


def _rise_and_end(seen: Seen, depth: int) -> bool:
    """Whether targets stand more often towards this rank, and clearly less often behind it."""
    matches = seen.matches
    is_target = matches.relevant(seen.pair.rel)[matches.edge_target]
    at = np.bincount(matches.edge_rank[is_target], minlength=depth + 3)
    if at[depth] < at[depth - 1] and seen.lists.is_hub_at(depth):
        # Turned round, it would stand first everywhere; the ranks are those of all others.
        at = np.delete(at, depth)
        depth -= 1
    return rise_and_end(at, depth)


def sort_by_score(seen: Seen) -> Iterator[Trial]:
    """Every list by its scores, the smallest or the largest first."""
    score = seen.lists.score
    if score is None:
        return
    is_listed = seen.pair.as_read[1].order == "listed"
    ways = (
        ("distances", score, "smallest score first", "The scores are distances:"),
        ("scores", -score, "largest score first", "The lists are not sorted by score:"),
    )
    for name, keys, title, says in ways:
        place = seen.lists.ranked_by(keys)
        if place is seen.lists.rank:
            continue
        is_reversed = place is seen.lists.reversed
        values = seen.values_reversed if is_reversed else seen.measured_at(place)
        smallest = name == "distances"
        yield Trial(
            f"sort_{name}",
            title,
            "would be",
            values,
            f"{says} sorted, the {'smallest' if smallest else 'largest'} first,",
            "sort by score",
            # Where scores make the order, another column of the file may hold them.
            option="--distance score" if smallest and is_listed else None,
            by_chance=lambda: seen.in_random_order,
            after=partial(seen.moved, place),
        )


def shuffled(seen: Seen, depth: int | None) -> Floats:
    """What a random order of each list without repetitions and hubs would have, on average.

    ``depth``: only the first so many results are shuffled.
    """
    lists = seen.lists
    matches = seen.matches
    last = np.iinfo(np.int64).max if depth is None else depth
    is_left_out = lists.text_repeats
    if lists.hubs[0].size:
        is_left_out = is_left_out | np.isin(lists.name, lists.hubs[0])
    left_out = np.flatnonzero(is_left_out & (lists.rank <= last))
    length = np.minimum(lists.lengths, last)
    length = length - np.bincount(lists.query[left_out], minlength=lists.n_queries)
    places = np.minimum(length, seen.k)
    room = np.divide(places, length, out=np.zeros(length.size), where=length > 0)
    discounts = np.concatenate(
        [[0.0], np.cumsum(1.0 / np.log2(np.arange(2, seen.k + 2)))]
    )
    discount = np.divide(
        discounts[places], length, out=np.zeros(length.size), where=length > 0
    )
    there = matches.edge_rank <= last
    target, first = np.unique(matches.edge_target[there], return_index=True)
    query = matches.edge_query[there][first]
    relevant = matches.relevant(seen.pair.rel)[target]
    found = np.bincount(query[relevant], minlength=lists.n_queries)
    grade = np.maximum(matches.target_grade[target], 0.0)
    gain = np.bincount(query, grade, minlength=lists.n_queries)
    gains = Gains.of(matches)
    best = gains.ideal(gains.ideal_grade, seen.k)
    recall = found / np.maximum(seen.wanted, 1) * room
    ndcg = np.divide(gain * discount, best, out=np.zeros(gain.size), where=best > 0)
    return np.column_stack([recall, ndcg])


def without_repetitions(seen: Seen) -> Iterator[Trial]:
    """Every list without results that were there before, by id or word for word."""
    lists = seen.lists
    ways = (
        ("repeated_ids", lists.repeats, "repeated ids"),
        ("repeated_texts", lists.text_repeats, "repeated texts"),
    )
    shown = lists.rank <= seen.k
    for name, repeats, words in ways:
        again = int(np.count_nonzero(repeats & shown))
        if not again or (
            name == "repeated_texts"
            and again == int(np.count_nonzero(lists.repeats & shown))
        ):
            continue
        share = again / max(1, lists.shown_at(seen.k))
        yield Trial(
            name,
            f"without {words}",
            "would be",
            seen.measured_without(repeats),
            Sentence(
                f"{share:.0%} of the {seen.first} repeat one above them: without these",
                [
                    Fact(
                        about="count",
                        count=again,
                        value=share,
                        k=seen.k,
                        text="repetitions",
                    )
                ],
            ),
            "remove them before the cut",
            is_fact=True,
            after=partial(_left_out, seen, repeats),
        )


def _left_out(seen: Seen, which: Bools) -> Seen:
    """The run without some results."""
    return seen.moved(seen.lists.without(which))


def ids(seen: Seen) -> Iterator[Trial]:
    """Ids alike but for the spelling, by the rules of ``--map-ids``."""
    if not seen.by_id:
        return
    for near in seen.near.rules()[:_RULES]:
        if near.option is None:
            continue
        option = ",".join(filter(None, (seen.pair.matching.map_ids, near.option)))
        mapped = with_ids_mapped(seen.pair, seen.recorded, option, seen.blocks)
        if mapped is None:
            continue
        same = _same_ids(seen, mapped, near.target)
        if not same.name_one_thing:
            continue
        own = _share_met(seen, near.target)
        met = mapped.met_by_chance
        other = _share_met(seen, seen.by_chance.met(near.how) if met is None else met)
        beyond = np.where(seen.measured_queries, own - other, np.nan)
        words = differ_in(near.how, mapped=False).removeprefix("They differ in ")
        words = words.partition(": write")[0]
        matches = _in_place(mapped, seen)
        values = seen.measured(matches)
        deeper = None
        if seen.lists is seen.recorded and _is_unchanged(seen, values):
            deeper = _to_the_end(seen)
            values = compute(matches, deeper.metrics, seen.pair.policy)
        depth = "" if deeper is None else f" -k {deeper.k}"
        yield Trial(
            "ids",
            _without_words(near.how),
            "would be",
            values,
            Sentence(
                f"Ids differ in {printable(words, 90)}: matched,",
                [Fact(about="name", text=words), Fact(about="name", text=option)],
            ),
            "write the ids alike",
            option=f"--map-ids {join_words([option])}{depth}",
            at_full_depth=beyond,
            deeper=deeper,
            same_ids=same,
            after=partial(_after_mapping, seen, mapped, near.how),
        )


def _is_unchanged(seen: Seen, values: Floats) -> bool:
    """Whether neither metric gains what can be seen in a printed number."""
    measured = seen.measured_queries
    gain = values[measured].mean(axis=0) - seen.values[measured].mean(axis=0)
    return bool((gain < SEEN).all())


def _to_the_end(seen: Seen) -> Deeper:
    """The run as recorded, down to the end of its longest list."""
    k = max(seen.k, int(seen.lists.lengths.max(initial=0)))
    metrics = deciding(seen.pair, k)
    return Deeper(k, metrics, compute(seen.matches, metrics, seen.pair.policy))


def _same_ids(seen: Seen, mapped: MappedIds, met: Ints) -> SameIds:
    """What mapping the ids does to the lists; ``met`` are the missed targets that it meets."""
    matches = seen.matches
    is_found = np.zeros(matches.target_query.size, dtype=np.bool_)
    is_found[matches.edge_target] = True
    missed = matches.target_query[matches.relevant(seen.pair.rel) & ~is_found]
    at = seen.lists.starts[matches.edge_query] + matches.edge_rank - 1
    return SameIds(
        seen.recorded,
        mapped.meeting,
        mended=np.unique(matches.target_query[met]).size,
        missed=np.unique(missed).size,
        found=seen.lists.row[at],
    )


def _in_place(mapped: MappedIds, seen: Seen) -> Matches:
    """Matches after the ids were mapped, with results where earlier cures put them."""
    if seen.lists is seen.recorded:
        return mapped.matches
    place = seen.lists.places(seen.recorded)
    return matches_after(mapped.matches, mapped.lists, place, by_id=True)


def _after_mapping(seen: Seen, mapped: MappedIds, how: IdMap) -> Seen:
    """The run with its ids mapped: two spellings may have become one id."""
    is_moved = seen.lists is not seen.recorded
    place = seen.lists.places(seen.recorded)
    return replace(
        seen,
        pair=mapped.pair,
        matches=_in_place(mapped, seen),
        lists=mapped.lists.moved(place) if is_moved else mapped.lists,
        recorded=mapped.lists,
        near=seen.near.mapped(how),
        by_chance=seen.by_chance.mapped(how),
    )


def _without_words(how: IdMap) -> str:
    """What ids are without, as a row of a table."""
    affixes = (*how.prefixes, *how.suffixes)
    words = [f'without "{printable(affix, 24)}"' for affix in affixes]
    words += [f"by {', '.join(how.rules)}"] if how.rules else []
    return f"ids {' and '.join(words)}"


def _share_met(seen: Seen, target: Ints) -> Floats:
    """Per query, the share of its targets that are among these."""
    query = seen.matches.target_query[target]
    met = np.bincount(query, minlength=seen.matches.n_queries)
    return met / np.maximum(seen.wanted, 1)


def hub(seen: Seen) -> Iterator[Trial]:
    """Lists without what stands first nearly everywhere, and without what does so behind it."""
    lists = seen.lists
    hubs, count = lists.hubs
    answered = int((lists.lengths > 0).sum())
    for several in sorted({1, hubs.size}) if hubs.size else ():
        called = lists.called(hubs[0])
        called = "One result" if called is None else printable(called, 24)
        others = several - 1
        who = f"{called} and {others} more stand" if others else f"{called} stands"
        them = "them" if others else "it"
        place = lists.without(np.isin(lists.name, hubs[:several]))
        facts = [
            Fact(about="name", text=called),
            Fact(about="count", count=count, of=answered, text="lists"),
        ]
        if others:
            facts.append(Fact(about="count", count=others, text="more hubs"))
        yield Trial(
            "hub",
            f"without {several} hubs" if others else "without the hub",
            "would be",
            seen.measured_at(place),
            Sentence(
                f"{who} first in {count:,} of {answered:,} lists: without {them}", facts
            ),
            f"leave {them} out of the index",
            after=partial(seen.moved, place),
        )


def best_order(seen: Seen, depth: int | None = None) -> Iterator[Trial]:
    """What was returned, in the best order: a perfect reranker, perhaps of a few results."""
    lists = seen.lists
    matches = seen.matches
    edges = matches.relevant(seen.pair.rel)[matches.edge_target]
    if depth is not None:
        edges &= matches.edge_rank <= depth
    rows = lists.starts[matches.edge_query[edges]] + matches.edge_rank[edges] - 1
    rows, which = np.unique(rows, return_inverse=True)
    grade = np.zeros(rows.size)
    np.maximum.at(grade, which, matches.target_grade[matches.edge_target[edges]])
    query = lists.query[rows]
    order = np.lexsort((lists.rank[rows], -grade, query))
    new = np.flatnonzero(np.diff(query[order], prepend=-1))
    sizes = np.diff(new, append=rows.size)
    # Where the others stand below those that hold a target changes neither metric.
    place = lists.rank + lists.lengths[lists.query]
    place[rows[order]] = np.arange(rows.size) - np.repeat(new, sizes) + 1
    # Pieces of one target are taken to stand together: no order can be better.
    values = seen.measured(matches_after(matches, lists, place, by_id=seen.by_id))
    yield Trial(
        "best_order",
        "the best order",
        "at most",
        np.fmax(values, seen.values),
        "Found, but ranked low: in the best order",
        "by reranking",
    )


CERTAIN: tuple[Cure, ...] = (
    ids,
    without_repetitions,
    sort_by_score,
    reverse,
    reverse_first,
    hub,
)
"""Cures that would give their number; where two gain the same, the first is named."""


def as_the_rest(
    seen: Seen, which: Bools, name: str, title: str, says: str, advice: str
) -> Iterator[Trial]:
    """Some queries as good as the others are on average."""
    inside = which & seen.measured_queries
    others = ~which & seen.measured_queries
    if not inside.any() or not others.any():
        return
    rest = seen.values[others].mean(axis=0)
    values = np.where(inside[:, np.newaxis], np.maximum(rest, seen.values), seen.values)
    yield Trial(name, title, "at most", values, says, advice)
