"""A run whose ids are spelled as ``--map-ids`` would, on what was read and matched already."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.match.id_hashes import Keys
from calipers.match.near_ids import NearPairs
from calipers.match.pair import match_pair
from calipers.match.spelled_ids import respelled, spelled
from calipers.model.arrays import Hashes, Ints, as_series, order_by
from calipers.model.matched import Matched, Matches
from calipers.model.matching import IdMap, inverted, parse_id_map
from calipers.questions.diagnose.lists import Lists
from calipers.questions.misses.table import missed_ids, no_pairs, of_another
from calipers.questions.shown_results import Context, first_equal, over_contexts

_COLUMNS = ("item", "document")


@dataclass(frozen=True, eq=False)
class MappedIds:
    """The matches and lists of a run as it was recorded, once its ids are mapped."""

    pair: Matched
    """What is asked of it, ``map_ids`` included, and how it was read."""
    matches: Matches
    lists: Lists
    meeting: Lists
    """The results as they were recorded, with the ids that they have once mapped."""
    met_by_chance: Ints | None = None
    """The missed targets that a result of another query meets; None where this was not read."""


def with_ids_mapped(
    pair: Matched, recorded: Lists, option: str, blocks: Sequence[Context] = ()
) -> MappedIds | None:
    """The run as ``--map-ids`` would match it; None where two ids would become one.

    ``blocks`` are the results of the pair, where they are in memory. Most runs are read once more,
    and only their edges change. Where the ids do more than name
    results (they order equal scores, name documents or alternatives), all is matched anew.
    """
    how = parse_id_map(option)
    asked = replace(pair.asked, map_ids=option)
    try:
        targets = _mapped_targets(pair, how)
        if targets is not None:
            return _renamed(pair, recorded, targets, how, option, blocks)
        mapped = match_pair(*pair.as_read, asked, fingerprints=False)
    except InvalidInput:
        return None
    same = mapped.matches.target_query.size == pair.matches.target_query.size
    if not same or mapped.matching.rule.kind != "id":
        return None
    n_queries = mapped.matches.n_queries
    lists = Lists.joined([*over_contexts(mapped, Lists.of)], n_queries)
    # Two documents whose names become one are one result then, and lists may be ordered by ids.
    meeting = recorded.renamed(*_new_names(pair, how))
    return MappedIds(mapped, mapped.matches, lists, meeting)


def _new_names(
    pair: Matched, how: IdMap
) -> tuple[list[Ints], list[Hashes], list[pl.DataFrame]]:
    """By block of results: the first of each list with the same id once mapped, and the names."""

    def renamed(block: Context) -> tuple[Ints, Hashes, pl.DataFrame]:
        names = _new_columns(block, how)
        ids = names["item"]
        same = first_equal(block.code, ids.hashes, ids.gather)
        return same, *_known_as(block, names)

    parts = [*over_contexts(pair, renamed)]
    same_id = [part[0] for part in parts]
    return same_id, [part[1] for part in parts], [part[2] for part in parts]


def _new_columns(block: Context, how: IdMap) -> dict[str, "_Column"]:
    """The ids and documents of a block of results, mapped."""
    return {
        column: _Column.of(block.frame[column], how)
        for column in _COLUMNS
        if column in block.frame.columns
    }


def _mapped_targets(pair: Matched, how: IdMap) -> pl.DataFrame | None:
    """The targets with their ids mapped; None where the pair must be matched anew."""
    truth = pair.ground_truth
    ordered_by_id = pair.tally.ties and pair.policy.ties != "input"
    if (
        pair.matching.map_ids is not None
        or pair.matching.at_documents
        or ordered_by_id
        or pair.policy.duplicates == "error"
        or truth.forbidden is not None
        or truth.has_groups
        or truth.kinds != {"item"}
    ):
        return None
    targets = pair.targets
    for column in _COLUMNS:
        mapped = spelled(targets[column], how)
        if mapped.n_unique() < targets[column].n_unique():
            return None
        targets = targets.with_columns(mapped.alias(column))
    return targets


@dataclass(frozen=True, eq=False)
class _Block:
    """What mapping changes in one block of results."""

    same_id: Ints
    name: Hashes
    tops: pl.DataFrame
    target: Ints
    rank: Ints
    """The first rank of each target that is there."""
    by_chance: NearPairs
    """Missed targets and results of another query that meet; a result by its rank."""
    pairs: dict[str, pl.DataFrame]
    """By column, what is called like a target once it is mapped: old, new; each once."""


@dataclass(frozen=True, eq=False)
class _Column:
    """The names in a column of a block, once mapped; most are as they were."""

    recorded: pl.Series
    rows: Ints
    """The rows that change."""
    new: pl.Series
    """What these are called then."""

    @classmethod
    def of(cls, names: pl.Series, how: IdMap) -> "_Column":
        """The column, mapped."""
        return cls(names, *respelled(names, how))

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each name."""
        hashes: Hashes = self.recorded.hash().to_numpy().copy()
        hashes[self.rows] = self.new.hash().to_numpy()
        return hashes

    def changed(self, rows: pl.Series) -> tuple[Ints, pl.Series]:
        """Which of some rows change, by their places among these, and what they are called then."""
        if not self.rows.size:
            return self.rows, self.new
        some = rows.to_numpy()
        place = np.minimum(np.searchsorted(self.rows, some), self.rows.size - 1)
        is_new = np.flatnonzero(self.rows[place] == some)
        return is_new, self.new.gather(as_series(place[is_new]))

    def gather(self, rows: pl.Series) -> pl.Series:
        """The names at some rows."""
        is_new, new = self.changed(rows)
        names = self.recorded.gather(rows)
        return names.scatter(is_new, new) if is_new.size else names


@dataclass(frozen=True, eq=False)
class _Names:
    """What targets are called."""

    names: pl.Series
    keys: Keys
    number: Ints
    """For each target the number of its name; -1 where it has none."""

    @classmethod
    def of(cls, column: pl.Series) -> "_Names":
        """The names in a column."""
        hashes = column.hash().to_numpy()
        known = np.flatnonzero(column.is_not_null().to_numpy())
        rows = known[np.argsort(hashes[known], kind="stable")]
        ordered = column.gather(as_series(rows))
        is_first = np.ones(rows.size, dtype=np.bool_)
        is_first[1:] = (ordered[1:] != ordered[:-1]).to_numpy()
        number = np.full(len(column), -1, dtype=np.int64)
        number[rows] = np.cumsum(is_first) - 1
        names = ordered.filter(as_series(is_first))
        return cls(names, Keys.of(hashes[rows[is_first]]), number)

    def among(self, column: _Column) -> "_Called":
        """The rows of a column that are called so."""
        name, row = self.keys.equal_to(column.hashes)
        order = np.argsort(row, kind="stable")
        rows = as_series(row[order])
        recorded = column.recorded.gather(rows)
        is_new, new = column.changed(rows)
        names = recorded.scatter(is_new, new) if is_new.size else recorded.clone()
        same = (self.names.gather(as_series(name[order])) == names).fill_null(False)
        kept = order[same.to_numpy()]
        at = as_series(is_new)
        pairs = pl.DataFrame({"old": column.recorded.gather(rows.gather(at)), "new": new})
        pairs = pairs.filter(same.gather(at))
        return _Called(row[kept], name[kept], pairs.unique(maintain_order=True))


@dataclass(frozen=True, eq=False)
class _Called:
    """Results that are called like a target, of whatever query."""

    row: Ints
    name: Ints
    """The number of that name."""
    pairs: pl.DataFrame
    """What those that change were called, and are: old, new; each once."""

    def of_queries(self, code: Ints, query: Ints, number: Ints) -> tuple[Ints, Ints]:
        """Places of some targets, by query and name, and the results of that query called so.

        ``code`` is the query of each result.
        """
        names = int(number.max(initial=0)) + 1
        keys = query * names + number
        by_key = np.argsort(keys, kind="stable")
        ordered = keys[by_key]
        known = np.flatnonzero(self.name < names)
        listed = code[self.row[known]] * names + self.name[known]
        begin = np.searchsorted(ordered, listed)
        many = np.searchsorted(ordered, listed, side="right") - begin
        at = np.arange(many.sum()) + np.repeat(begin - (np.cumsum(many) - many), many)
        return by_key[at], np.repeat(self.row[known], many)


def _renamed(
    pair: Matched,
    recorded: Lists,
    targets: pl.DataFrame,
    how: IdMap,
    option: str,
    blocks: Sequence[Context],
) -> MappedIds:
    """The pair with its results renamed; an error where two of them become one target."""
    ours = {column: _Names.of(targets[column]) for column in _COLUMNS}

    def renamed(block: Context) -> _Block:
        names = _new_columns(block, how)
        called = {column: ours[column].among(new) for column, new in names.items()}
        number = ours["item"].number[block.target_rows]
        target, rank = _first_ranks(block, called["item"], number)
        ids = names["item"]
        return _Block(
            first_equal(block.code, ids.hashes, ids.gather),
            *_known_as(block, names),
            target,
            rank,
            _by_chance(block, called["item"], number, pair.targets["item"]),
            {column: those.pairs for column, those in called.items()},
        )

    parts = [*(map(renamed, blocks) if blocks else over_contexts(pair, renamed))]
    for column in _COLUMNS:
        _check_unmistakable(
            [part.pairs[column] for part in parts if column in part.pairs], how
        )
    lists = recorded.renamed(
        [part.same_id for part in parts],
        [part.name for part in parts],
        [part.tops for part in parts],
    )
    target = np.concatenate([part.target for part in parts])
    rank = np.concatenate([part.rank for part in parts])
    query = pair.matches.target_query[target]
    order = order_by(query, rank, target)
    matches = pair.matches.with_edges(
        query[order],
        rank[order],
        target[order],
        np.ones(target.size),
        pair.matches.retrieved,
    )
    mapped = replace(
        pair,
        matching=replace(pair.matching, map_ids=option),
        asked=replace(pair.asked, map_ids=option),
    )
    chance = NearPairs.joined([part.by_chance for part in parts])
    return MappedIds(mapped, matches, lists, lists, chance.meeting(how).target)


def _known_as(
    block: Context, names: Mapping[str, _Column]
) -> tuple[Hashes, pl.DataFrame]:
    """A hash of the document of each result, or else of its id, and the names that stand first."""
    first = as_series(np.flatnonzero(block.rank == 1))
    hashes = names["item"].hashes
    tops = names["item"].gather(first)
    if "document" in names:
        documents = names["document"]
        is_named = documents.recorded.is_not_null().to_numpy()
        hashes = np.where(is_named, documents.hashes, hashes)
        both = pl.DataFrame({"document": documents.gather(first), "item": tops})
        tops = both.select(pl.coalesce("document", "item")).to_series()
    of_tops = hashes[first.to_numpy()]
    return hashes, pl.DataFrame({"hash": of_tops, "name": tops})


def _check_unmistakable(parts: list[pl.DataFrame], how: IdMap) -> None:
    """Raise an error where two different ids of the run become the id of one target."""
    if not parts:
        return
    names = pl.concat(parts).unique(maintain_order=True)
    several = names.filter(names["new"].is_duplicated())
    inverted(dict(several.iter_rows()), how, "run")


def _first_ranks(block: Context, called: _Called, number: Ints) -> tuple[Ints, Ints]:
    """The targets of a block that are among their query's results, and their first ranks.

    ``number`` is that of the name of each target.
    """
    some = np.flatnonzero(number >= 0)
    query = block.matches.target_query[some]
    place, row = called.of_queries(block.code, query, number[some])
    target = some[place]
    rank = block.rank[row]
    order = np.lexsort((rank, target))
    first = order[np.flatnonzero(np.diff(target[order], prepend=-1))]
    return block.target_rows[target[first]], rank[first]


def _by_chance(
    block: Context, called: _Called, number: Ints, recorded: pl.Series
) -> NearPairs:
    """Missed targets of a block and results of another query that meet once ids are mapped.

    ``recorded`` is what all targets are called before.
    """
    missed = missed_ids(block)
    query = of_another(block.matches.target_query[missed])
    if not query.size:
        return no_pairs()
    place, row = called.of_queries(block.code, query, number[missed])
    if not row.size:
        return no_pairs()
    target = block.target_rows[missed[place]]
    order = np.lexsort((block.rank[row], target))
    target = target[order]
    row = row[order]
    return NearPairs(
        target,
        block.rank[row],
        recorded.gather(as_series(target)),
        block.frame["item"].gather(as_series(row)),
    ).without_equal()
