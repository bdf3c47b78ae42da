"""A run whose ids are spelled as ``--map-ids`` would, on what was read and matched already."""

from dataclasses import replace

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.match.id_hashes import Keys
from calipers.match.near_ids import spelled
from calipers.match.pair import match_pair
from calipers.model.arrays import Hashes, Ints, as_series
from calipers.model.fingerprint import mixed_hashes
from calipers.model.matched import Matched, Matches
from calipers.model.matching import IdMap, inverted, parse_id_map
from calipers.questions.diagnose.lists import Lists
from calipers.questions.shown_results import Context, over_contexts

_COLUMNS = ("item", "document")


@dataclass(frozen=True, eq=False)
class MappedIds:
    """The matches and lists of a run as it was recorded, once its ids are mapped."""

    pair: Matched
    """What is asked of it, ``map_ids`` included, and how it was read."""
    matches: Matches
    lists: Lists


def with_ids_mapped(pair: Matched, recorded: Lists, option: str) -> MappedIds | None:
    """The run as ``--map-ids`` would match it; None where two ids would become one.

    Most runs are read once more, and only their edges change. Where the ids do more than name
    results (they order equal scores, name documents or alternatives), all is matched anew.
    """
    how = parse_id_map(option)
    asked = replace(pair.asked, map_ids=option)
    try:
        targets = _mapped_targets(pair, how)
        if targets is not None:
            return _renamed(pair, recorded, targets, how, option)
        mapped = match_pair(*pair.as_read, asked, fingerprints=False)
    except InvalidInput:
        return None
    same = mapped.matches.target_query.size == pair.matches.target_query.size
    if not same or mapped.matching.rule.kind != "id":
        return None
    n_queries = mapped.matches.n_queries
    lists = Lists.joined([*over_contexts(mapped, Lists.of)], n_queries)
    return MappedIds(mapped, mapped.matches, lists)


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
    wanted: dict[str, pl.DataFrame]
    """By column, what is called like a target once mapped: old, new; each once."""


@dataclass(frozen=True, eq=False)
class _Names:
    """What targets are called."""

    names: pl.Series
    keys: Keys

    @classmethod
    def of(cls, column: pl.Series) -> "_Names":
        """The names in a column."""
        names = column.drop_nulls().unique()
        return cls(names, Keys.of(names.hash().to_numpy()))

    def pairs(self, old: pl.Series, new: pl.Series) -> pl.DataFrame:
        """The names that become one of these: old and new, each pair once."""
        name, row = map(as_series, self.keys.equal_to(new.hash().to_numpy()))
        names = pl.DataFrame({"old": old.gather(row), "new": new.gather(row)})
        names = names.filter(names["new"] == self.names.gather(name))
        return names.unique(maintain_order=True)


def _renamed(
    pair: Matched, recorded: Lists, targets: pl.DataFrame, how: IdMap, option: str
) -> MappedIds:
    """The pair with its results renamed; an error where two of them become one target."""
    ours = {column: _Names.of(targets[column]) for column in _COLUMNS}

    def renamed(block: Context) -> _Block:
        names = {
            column: spelled(block.frame[column], how)
            for column in _COLUMNS
            if column in block.frame.columns
        }
        there = {
            column: ours[column].pairs(block.frame[column], names[column])
            for column in names
        }
        changed = replace(
            block,
            frame=block.frame.with_columns(new.alias(old) for old, new in names.items()),
        )
        lists = Lists.of(changed)
        target, rank = _first_ranks(changed)
        return _Block(lists.same_id, lists.name, lists.tops, target, rank, there)

    blocks = [*over_contexts(pair, renamed, targets)]
    for column in _COLUMNS:
        _check_unmistakable(
            [block.wanted[column] for block in blocks if column in block.wanted], how
        )
    lists = recorded.renamed(
        [block.same_id for block in blocks],
        [block.name for block in blocks],
        [block.tops for block in blocks],
    )
    target = np.concatenate([block.target for block in blocks])
    rank = np.concatenate([block.rank for block in blocks])
    query = pair.matches.target_query[target]
    order = np.lexsort((target, rank, query))
    matches = replace(
        pair.matches,
        edge_query=query[order],
        edge_rank=rank[order],
        edge_target=target[order],
        edge_overlap=np.ones(target.size),
    )
    mapped = replace(
        pair,
        matching=replace(pair.matching, map_ids=option),
        asked=replace(pair.asked, map_ids=option),
    )
    return MappedIds(mapped, matches, lists)


def _check_unmistakable(parts: list[pl.DataFrame], how: IdMap) -> None:
    """Raise an error where two different ids of the run become the id of one target."""
    if not parts:
        return
    names = pl.concat(parts).unique(maintain_order=True)
    several = names.filter(names["new"].is_duplicated())
    inverted(dict(several.iter_rows()), how, "run")


def _first_ranks(block: Context) -> tuple[Ints, Ints]:
    """The targets of a block that are among their query's results, and their first ranks."""
    matches = block.matches
    wanted = block.targets["item"]
    items = block.frame["item"]
    keys = mixed_hashes(matches.target_query.astype(np.uint64), wanted.hash().to_numpy())
    target, row = Keys.of(keys).equal_to(
        mixed_hashes(block.code.astype(np.uint64), items.hash().to_numpy())
    )
    equal = wanted.gather(as_series(target)) == items.gather(as_series(row))
    same = equal.fill_null(False).to_numpy()
    same &= matches.target_query[target] == block.code[row]
    target = target[same]
    rank = block.rank[row[same]]
    order = np.lexsort((rank, target))
    first = order[np.flatnonzero(np.diff(target[order], prepend=-1))]
    return block.target_rows[target[first]], rank[first]
