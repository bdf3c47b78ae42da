"""Matching block by block where the rows of a run are, put together here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from calipers.match.choose import Choice, MatchRule
from calipers.match.tally import assemble
from calipers.model.arrays import Floats, Ints
from calipers.model.elsewhere import Block, RowsElsewhere
from calipers.model.fingerprint import RankingFingerprint
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES, Matches, Tally
from calipers.model.policy import Policy
from calipers.model.run import Run


@dataclass(frozen=True)
class BlockRule:
    """How a block is matched, wherever it is; the arguments of ``match_as_chosen``."""

    match: Callable[..., tuple[Matches, Tally]]
    matching: MatchRule
    policy: Policy
    together: bool
    fingerprint: bool

    def matches(self, block: Block) -> tuple[Matches, Tally]:
        """The matches of a block alone."""
        # Whether nothing at all is in common is known once every block was seen.
        return self.match(
            Choice(self.matching, block.ground_truth),
            block.run,
            replace(self.policy, nothing_in_common="zero"),
            None,
            together=self.together,
            fingerprint=self.fingerprint,
        )


def match_elsewhere(
    truth: GroundTruth, run: Run, how: BlockRule, corpus_size: int | None
) -> tuple[Matches, Tally]:
    """The matches of a run whose rows stay where they are: edges and counts come back."""
    there = cast(RowsElsewhere, run.scan)
    blocks = list(there.over_blocks(truth, partial(_match_block, how)))
    tally = _tally(truth, blocks, how)
    overlaps = [one.overlap for one in blocks if one.overlap is not None]
    matches = assemble(
        truth,
        tally,
        rank=_joined(one.rank for one in blocks),
        target=_joined(one.target for one in blocks),
        overlap=np.concatenate(overlaps) if overlaps else None,
        corpus_size=corpus_size,
    )
    return _checked(truth, run, how, matches, tally), tally


@dataclass(frozen=True, eq=False)
class _MatchedBlock:
    """What was found and counted in some whole queries, small enough to be sent."""

    codes: Ints
    target: Ints
    rank: Ints
    overlap: Floats | None
    """None: all of each target, as when matched by id."""
    tally: Tally


def _match_block(how: BlockRule, block: Block) -> _MatchedBlock:
    matches, tally = how.matches(block)
    if tally.fingerprint is not None:
        tally.fingerprint.sum()  # what it was left to make needs the results
    # The matches number targets by query, and so do the rows of a block.
    return _MatchedBlock(
        _small(block.codes),
        _small(block.rows[matches.edge_target]),
        _small(matches.edge_rank),
        None if how.matching.kind == "id" else matches.edge_overlap,
        replace(tally, tied_targets=block.rows[tally.tied_targets]),
    )


def _tally(truth: GroundTruth, blocks: Sequence[_MatchedBlock], how: BlockRule) -> Tally:
    """The counts of blocks in any order as those of the one pair that they are parts of."""
    retrieved = np.zeros(truth.n_queries, dtype=np.int64)
    status = np.zeros(truth.n_queries, dtype=np.uint8)
    of_run = RankingFingerprint()
    parts = [one.tally for one in blocks]
    for one, part in zip(blocks, parts, strict=True):
        retrieved[one.codes], status[one.codes] = part.retrieved, part.status
        if part.fingerprint is not None:
            of_run.merge(part.fingerprint)
    return Tally(
        retrieved,
        status,
        sum(one.unknown for one in parts),
        _first(one.unknown_examples for one in parts),
        sum(one.duplicates for one in parts),
        sum(one.ties for one in parts),
        of_run if how.fingerprint or how.matching.kind != "id" else None,
        _first(one.sample_queries for one in parts),
        np.sort(_joined(one.tied_targets for one in parts)),
        np.sort(_joined(one.copy_ranks for one in parts)),
    )


def _checked(
    truth: GroundTruth, run: Run, how: BlockRule, matches: Matches, tally: Tally
) -> Matches:
    """The matches, unless both sides speak of different things; spans are looked up when asked."""
    kind, policy = how.matching.kind, how.policy
    if not matches.edge_query.size:
        from calipers.match.no_common_ids import check_in_common

        n, some = int(tally.retrieved.sum()), tally.sample_queries
        check_in_common(kind, truth, run, policy, n, some)
    if kind != "span":
        return matches
    from calipers.match.by_span import span_table

    return replace(matches, spans=lambda: span_table(truth, run, policy))


def _first(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The first by name, whatever block came first."""
    return tuple(sorted(name for several in names for name in several)[:EXAMPLES])


def _joined(parts: Iterator[Ints]) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)


def _small(numbers: Ints) -> Ints:
    """The same in half the room, where all are small enough."""
    return numbers.astype(np.int32) if numbers.max(initial=0) < 1 << 31 else numbers
