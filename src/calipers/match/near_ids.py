"""Ids that nearly meet: alike but for the spelling, by the named rules of ``--map-ids``.

`near_ids(wanted, returned)` finds the missed targets whose id a result of the same query has in
another spelling, and the rules that make the two equal. `likely_map(ours, theirs)` does the same
for two sets of ids.

Few ids are nearly alike, so a filter comes first (``calipers.match.id_hashes``).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.match.id_hashes import Ids, counted_letters, may_be_alike, without_schemes
from calipers.match.spelled_ids import CHANGED, FEW, PLAIN, spelled
from calipers.model.arrays import Bools, Ints, as_series
from calipers.model.matching import (
    DROPPING,
    IdMap,
    inverted,
    without_extension,
)

SPELLINGS = tuple(
    IdMap((), rules)
    for rules in (
        ("case",),
        ("width",),
        ("decimal",),
        ("zeros",),
        ("percent",),
        ("slash",),
        ("signs",),
        ("case", "signs"),
        ("zeros", "signs"),
        ("width", "percent", "slash", "decimal", "zeros", "case", "signs"),
    )
)
"""Rules that change how an id is written, the one that changes least first."""
PARTS = tuple(
    IdMap((), rules)
    for rules in (
        ("scheme", "slash"),
        ("query", "slash"),
        ("scheme", "query", "slash"),
        ("extension",),
        ("extension", "case"),
        ("basename",),
        ("basename", "extension"),
        ("basename", "extension", "case"),
        ("scheme", "query", "slash", "basename", "extension", "case"),
    )
)
"""Rules that take a part off an id."""
_BESIDE_PREFIXES: tuple[tuple[str, ...], ...] = (
    (),
    ("extension",),
    ("query",),
    ("case",),
    ("zeros",),
    ("slash",),
)
"""Rules that may be needed beside a prefix."""
_WITH_SIGNS: tuple[tuple[str, ...], ...] = (
    ("extension", "case"),
    ("signs",),
    ("case", "signs"),
    ("zeros", "signs"),
    ("zeros", "case", "signs"),
)
"""The same where none of those is enough; they may change the prefix, so it is cut off first."""
_SUFFIX = re.compile(r"[^\w?#].*([^\W\d]|(19|20)\d\d)|_.*([^\W\d_]|(19|20)\d\d)")
"""What may stand behind an id: a sign with letters behind it, or with a year."""
_NEARLY_ALL = 0.98
"""Once a rule meets this share of many targets, the others are asked for the rest only."""
_AFFIXES = 3
"""At most so many prefixes, or suffixes, are taken off together."""


@dataclass(frozen=True, eq=False)
class NearIds:
    """Targets that meet a result of their query once rules are applied to both ids."""

    how: IdMap
    target: Ints
    """Rows of the targets, ascending, each once."""
    result: Ints
    """The row of the first result that each of them meets."""
    called: pl.Series
    """The id of that result."""

    @property
    def option(self) -> str | None:
        """What ``--map-ids`` takes for it; None where a prefix cannot be written there."""
        return map_option(self.how)


def map_option(how: IdMap) -> str | None:
    """What ``--map-ids`` takes for these rules; None where an affix cannot be written there.

    >>> map_option(IdMap(("docs/",), ("case",))), map_option(IdMap(("a,",)))
    ('prefix=docs/,case', None)
    """
    affixes = (*how.prefixes, *how.suffixes)
    unwritable = any("," in affix or affix != affix.strip() for affix in affixes)
    return None if unwritable else str(how)


def near_ids(wanted: Ids, returned: Ids) -> list[NearIds]:
    """The rules by which missed targets meet a result of their query, most targets first.

    ``wanted`` are targets that no result of their query is equal to; ``returned`` are results in
    the order of their ranks. Of rules that meet the same targets only the one that changes least
    is there.

    >>> wanted = Ids(np.array([0, 1]), pl.Series(["c1", "c2"]))
    >>> returned = Ids(np.array([0, 0, 1]), pl.Series(["c2", "idx:c1", "c-2"]))
    >>> [(near.option, near.target.tolist()) for near in near_ids(wanted, returned)]
    [('signs', [1]), ('prefix=idx:', [0])]
    """
    return NearPairs.of(wanted, returned).rules()


def likely_map(ours: Sequence[str], theirs: Sequence[str]) -> IdMap | None:
    """The rules by which most ids of two sides become equal; None where none does.

    >>> str(likely_map(["docs/a.md", "docs/b.md"], ["a", "b"]))
    'prefix=docs/,extension'
    >>> likely_map(["a", "B"], ["a", "c"]) is None
    True
    """
    usable = (how for how in likely_maps(ours, theirs) if can_map(theirs, ours, how))
    return next(usable, None)


def likely_maps(ours: Sequence[str], theirs: Sequence[str]) -> list[IdMap]:
    """The rules by which ids of two sides become equal, most ids first, not tried yet."""
    same = set(ours) & set(theirs)
    wanted, returned = (
        _of_one_query([name for name in side if name not in same])
        for side in (theirs, ours)
    )
    return [near.how for near in near_ids(wanted, returned)]


def can_map(wanted: Sequence[str], returned: Sequence[str], how: IdMap) -> bool:
    """Whether ``--map-ids`` could be used: ids meet, and no two targets become one.

    >>> can_map(["a/x", "b/y"], ["x"], IdMap((), ("basename",)))
    True
    >>> can_map(["a/x", "b/x"], ["x"], IdMap((), ("basename",)))
    False
    """
    try:
        targets = inverted(_spelled_names(wanted, how), how, "ground truth")
        results = _spelled_names(returned, how)
        met = {old: new for old, new in results.items() if new in targets}
        inverted(met, how, "run")
    except InvalidInput:
        return False
    return bool(met)


def _spelled_names(names: Sequence[str], how: IdMap) -> dict[str, str]:
    """Each name with what it becomes."""
    return dict(zip(names, spelled(pl.Series(names, dtype=pl.String), how), strict=True))


def _of_one_query(names: Sequence[str]) -> Ids:
    """The names as ids of one query."""
    return Ids(np.zeros(len(names), dtype=np.int64), pl.Series(names, dtype=pl.String))


@dataclass(frozen=True, eq=False)
class NearPairs:
    """Pairs of a target and a result of its query whose ids may be alike but for the spelling."""

    target: Ints
    result: Ints
    """By target and, among the results of one target, by rank."""
    wanted: pl.Series
    called: pl.Series
    """The ids of both, pair by pair; they are never equal."""

    @classmethod
    def of(cls, wanted: Ids, returned: Ids) -> "NearPairs":
        """The pairs of some targets and results.

        A target that is equal to a result of its query is in none: it was found.
        """
        target, result = may_be_alike(wanted, returned)
        if not target.size:
            # The usual case, and each selection from a column costs as much as the search.
            none = pl.Series([], dtype=pl.String)
            return cls(target, result, none, none)
        pairs = cls(
            target,
            result,
            wanted.name.gather(as_series(target)),
            returned.name.gather(as_series(result)),
        )
        return pairs.without_equal()

    def without_equal(self) -> "NearPairs":
        """The pairs without targets that are equal to a result."""
        equal = self.target[(self.wanted == self.called).to_numpy()]
        return self.only(~np.isin(self.target, equal)) if equal.size else self

    @classmethod
    def joined(cls, parts: Sequence["NearPairs"]) -> "NearPairs":
        """The pairs of several parts, by target."""
        none = pl.Series([], dtype=pl.String)
        target = np.concatenate([np.empty(0, np.int64), *(part.target for part in parts)])
        order = np.argsort(target, kind="stable")
        rows = as_series(order)
        return cls(
            target[order],
            np.concatenate([np.empty(0, np.int64), *(part.result for part in parts)])[
                order
            ],
            pl.concat([none, *(part.wanted.alias("") for part in parts)]).gather(rows),
            pl.concat([none, *(part.called.alias("") for part in parts)]).gather(rows),
        )

    def only(self, which: Bools) -> "NearPairs":
        """Some of the pairs."""
        rows = as_series(np.flatnonzero(which))
        return NearPairs(
            self.target[which],
            self.result[which],
            self.wanted.gather(rows),
            self.called.gather(rows),
        )

    def mapped(self, how: IdMap) -> "NearPairs":
        """The pairs with their ids mapped, without the targets that are met then."""
        wanted = spelled(self.wanted, how)
        called = spelled(self.called, how)
        met = np.unique(self.target[(wanted == called).to_numpy()])
        pairs = NearPairs(self.target, self.result, wanted, called)
        return pairs.only(~np.isin(self.target, met))

    def meet(self, how: IdMap) -> Bools:
        """Which pairs become equal, and may be one: see ``DROPPING``."""
        equal = self._become_equal(how)
        for rule in how.rules:
            if rule in DROPPING and equal.any():
                equal &= self._lose_the_same(rule)
        return equal

    def _become_equal(self, how: IdMap) -> Bools:
        """Which pairs become equal."""
        rules = self._changing(how.rules)
        if how.rules and not rules and how == IdMap((), how.rules):
            return np.zeros(self.target.size, dtype=np.bool_)
        how = replace(how, rules=rules)
        if how not in self._equal:
            same = spelled(self.wanted, how) == spelled(self.called, how)
            self._equal[how] = np.array(same, dtype=np.bool_)
        return self._equal[how].copy()

    def _changing(self, rules: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some rules that change a letter of the ids."""
        return tuple(rule for rule in rules if self._letters & CHANGED[rule])

    @cached_property
    def _equal(self) -> dict[IdMap, Bools]:
        """Which pairs become equal by the maps that were tried."""
        return {}

    def _lose_the_same(self, rule: str) -> Bools:
        """Which pairs lose the same part by a rule, or at most one of both loses any."""
        if not self._letters & CHANGED[rule]:
            # Nobody loses anything.
            return np.ones(self.target.size, dtype=np.bool_)
        if rule not in self._same_lost:
            self._same_lost[rule] = _lose_the_same(self.wanted, self.called, rule)
        return self._same_lost[rule]

    @cached_property
    def _same_lost(self) -> dict[str, Bools]:
        """The same by rule, for those that were tried."""
        return {}

    @cached_property
    def _alike(self) -> tuple[Bools, Bools]:
        """Which pairs have the same letters and digits, and of which one begins with the other.

        Nothing else is the same in another spelling, or without what stands at an end.
        """
        names = (self.wanted.to_list(), self.called.to_list())
        whole = zip(*map(counted_letters, names), strict=True)
        bare = zip(*map(counted_letters, map(without_schemes, names)), strict=True)
        same = [one == other for one, other in whole]
        begin = [one.startswith(other) or other.startswith(one) for one, other in bare]
        return np.array(same, dtype=np.bool_), np.array(begin, dtype=np.bool_)

    @cached_property
    def _letters(self) -> frozenset[str]:
        """The characters of all ids; as if each were there, where one is not plain ASCII."""
        letters = frozenset("".join([*self.wanted, *self.called]))
        return letters if letters <= PLAIN else PLAIN | {"%"}

    def meeting(self, how: IdMap) -> NearIds:
        """The targets that meet a result under these rules, each with the first such result."""
        equal = self.meet(how)
        if not equal.any():  # as usual: a selection costs as much as all before it
            return NearIds(how, self.target[:0], self.result[:0], self.called[:0])
        target, first = np.unique(self.target[equal], return_index=True)
        rows = np.flatnonzero(equal)[first]
        called = self.called.gather(as_series(rows))
        return NearIds(how, target, self.result[rows], called)

    def rules(self) -> list[NearIds]:
        """The rules by which targets meet a result, most targets first: see ``near_ids``."""
        return [*self._rules]

    @cached_property
    def _rules(self) -> list[NearIds]:
        """The same, found once."""
        if not self.target.size:
            return []
        met: list[NearIds] = []
        targets = np.unique(self.target).size
        for near in self._met_one_by_one():
            met.append(near)
            if targets > FEW and near.target.size >= _NEARLY_ALL * targets:
                rest = self.only(~np.isin(self.target, near.target))
                met += rest.rules()
                break
        # A prefix says more than "the folders"; the sort keeps the order of equals.
        met.sort(key=lambda near: (-near.target.size, "basename" in near.how.rules))
        distinct: dict[bytes, NearIds] = {}
        for near in met:
            if near.target.size:
                distinct.setdefault(near.target.tobytes(), near)
        return list(distinct.values())

    def _met_one_by_one(self) -> Iterator[NearIds]:
        """What each rule meets, those with folders last."""
        same, begin = self._alike
        in_folders = [how for how in PARTS if "basename" in how.rules]
        at_ends = [how for how in PARTS if how not in in_folders]
        for maps, which in ((SPELLINGS, same), (at_ends, begin)):
            if which.any():
                some = self.only(which)
                yield from map(some.meeting, maps)
        yield from map(self.meeting, self._prefixes())
        yield from map(self.meeting, self._suffixes())
        some = self.only(self._lose_the_same("basename"))
        # The last map takes off all that the others do: what it does not meet, none meets.
        some = some.only(some._become_equal(in_folders[-1]))
        if some.target.size:
            yield from map(some.meeting, in_folders)

    def _prefixes(self) -> Iterator[IdMap]:
        """The prefixes that ids of one side have before those of the other, as maps to try."""
        rules: tuple[str, ...] = ()
        counts = Counter[str]()
        for rules in self._distinct(_BESIDE_PREFIXES):
            how = IdMap((), rules)
            counts = _prefix_counts(spelled(self.wanted, how), spelled(self.called, how))
            if counts:
                break
        # Without rules a cut finds no prefix that is not found there.
        for further in () if counts else self._distinct(((), *_WITH_SIGNS))[1:]:
            rules = further
            counts = _cut_counts(self.wanted, self.called, IdMap((), rules))
            if counts:
                break
        if not counts:
            return
        prefixes = _most_common(counts)
        yield from (IdMap((prefix,), rules) for prefix in prefixes)
        if len(prefixes) > 1:
            yield IdMap(tuple(prefixes), rules)

    def _distinct(self, several: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The first of those rules that change the same letters of the ids."""
        first: dict[tuple[str, ...], tuple[str, ...]] = {}
        for rules in several:
            first.setdefault(self._changing(rules), rules)
        return [*first.values()]

    def _suffixes(self) -> Iterator[IdMap]:
        """The suffixes that ids of one side have behind those of the other, as maps to try."""
        suffixes = _most_common(_suffix_counts(self.wanted, self.called))
        yield from (IdMap(suffixes=(suffix,)) for suffix in suffixes)
        if len(suffixes) > 1:
            yield IdMap(suffixes=tuple(suffixes))


def _most_common(counts: Counter[str]) -> list[str]:
    """The affixes to try: one id that is like another says little beside what many have."""
    most = counts.most_common(_AFFIXES)
    return [affix for affix, count in most if count > most[0][1] / 10]


def _suffix_counts(names: pl.Series, others: pl.Series) -> Counter[str]:
    """How often each suffix is between two names of a pair.

    A number alone, or several that differ in their numbers, count the chunks of a document; a
    year or a date counts none.
    """
    one = pl.col("one")
    other = pl.col("other")
    pairs = pl.DataFrame({"one": names, "other": others})
    few = pairs.filter(one.str.starts_with(other) | other.str.starts_with(one))
    counts: Counter[str] = Counter()
    for pair in few.iter_rows():
        shorter, longer = sorted(pair, key=len)
        suffix = longer[len(shorter) :]
        is_name = _SUFFIX.match(suffix)
        # An extension has a rule of its own.
        is_extension = without_extension(longer) == without_extension(shorter)
        if shorter and is_name and not is_extension:
            counts[suffix] += 1
    kinds = Counter(re.sub(r"\d+", "0", suffix) for suffix in counts)
    alone = {
        suffix: count
        for suffix, count in counts.items()
        if kinds[re.sub(r"\d+", "0", suffix)] == 1
    }
    return Counter(alone)


def _prefix_counts(names: pl.Series, others: pl.Series) -> Counter[str]:
    """How often each prefix is between two names of a pair, in the order of the pairs."""
    one = pl.col("one")
    other = pl.col("other")
    # Only pairs of which one ends like the other are looked at one by one.
    pairs = pl.DataFrame({"one": names, "other": others})
    few = pairs.filter(one.str.ends_with(other) | other.str.ends_with(one))
    length = pl.min_horizontal(one.str.len_chars(), other.str.len_chars())
    longer = pl.when(one.str.len_chars() > length).then(one).otherwise(other)
    kinds = few.select(
        prefix=longer.str.head(longer.str.len_chars() - length),
        first=longer.str.slice(longer.str.len_chars() - length, 1),
    )
    counts: Counter[str] = Counter()
    for prefix, first, count in (
        kinds.group_by("prefix", "first", maintain_order=True).len().iter_rows()
    ):
        if prefix_between(first, f"{prefix}{first}"):
            counts[prefix] += count
    return counts


def _cut_counts(names: pl.Series, others: pl.Series, how: IdMap) -> Counter[str]:
    """How often each prefix is between two names of a pair that are equal by rules without it."""
    pairs = pl.DataFrame(
        {
            "name": names,
            "other": others,
            "one": spelled(names, how),
            "two": spelled(others, how),
        }
    )
    one = pl.col("one")
    two = pl.col("two")
    few = pairs.filter((one.str.ends_with(two) | two.str.ends_with(one)) & (one != two))
    counts: Counter[str] = Counter()
    for name, other, first, second in few.iter_rows():
        longer, rest = (name, second) if len(first) > len(second) else (other, first)
        ends = (sign.end() for sign in re.finditer(r"[\W_]", longer))
        cut = next((end for end in ends if how.of(longer[end:]) == rest), None)
        if rest and cut:
            counts[longer[:cut]] += 1
    return counts


def prefix_between(one: str, other: str) -> str | None:
    """The prefix that one of two names has before the other; None where there is none.

    It ends at punctuation, before a slash or, where it is all letters, before a digit: part of a
    word is none.

    >>> prefix_between("c1", "idx2:c1"), prefix_between("q7", "7"), prefix_between("12", "q112")
    ('idx2:', 'q', None)
    >>> prefix_between("/docs/a", "https://a.org/docs/a")
    'https://a.org'
    """
    shorter, longer = sorted((one, other), key=len)
    prefix = longer[: len(longer) - len(shorter)]
    if not shorter or not prefix or not longer.endswith(shorter):
        return None
    ends = not prefix[-1].isalnum() or (prefix.isalpha() and shorter[0].isdigit())
    return prefix if ends or shorter.startswith("/") else None


def _lose_the_same(names: pl.Series, others: pl.Series, rule: str) -> Bools:
    """Which pairs lose the same part by a rule, or at most one of both loses any."""
    how = IdMap((), (rule,))
    rest = spelled(names, how)
    other_rest = spelled(others, how)
    same: Bools = ((rest == names) | (other_rest == others)).to_numpy().copy()
    rows = np.flatnonzero(~same)
    some = as_series(rows)
    lost, others_lost = (
        [
            name.replace(end, "", 1)
            for name, end in zip(
                side.gather(some).to_list(), left.gather(some).to_list(), strict=True
            )
        ]
        for side, left in ((names, rest), (others, other_rest))
    )
    same[rows] = [part == other for part, other in zip(lost, others_lost, strict=True)]
    return same
