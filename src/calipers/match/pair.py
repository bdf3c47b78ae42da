"""Match a ground truth with a run, as asked or as the data decides."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calipers.errors import NoCommonIds
from calipers.frozen import dataclass
from calipers.match.by_id import match_by_id
from calipers.match.choose import check_corpus_size, check_evidence, check_ties, choose
from calipers.match.notes import (
    check_in_common,
    made_from_documents,
    may_be_swapped,
    nearly_asked,
    nearly_found,
)
from calipers.match.tally import assemble
from calipers.model.arrays import Floats, Ints
from calipers.model.fingerprint import RankingFingerprint
from calipers.model.ground_truth import MARK, GroundTruth
from calipers.model.matched import EXAMPLES, Matched, Matches, Tally
from calipers.model.matching import Matching, check_level, parse_id_map
from calipers.model.ranking import NotGroupedError
from calipers.model.run import (
    FirstResults,
    Run,
    beginning,
    brought_together,
    peek,
    remote_rows,
)

if TYPE_CHECKING:
    from calipers.model.matched import TokenTable
    from calipers.model.run import Block, RemoteRows


def match_pair(
    truth: GroundTruth,
    run: Run,
    matching: Matching = Matching(),  # noqa: B008 - a frozen value
    *,
    fingerprints: bool = True,
) -> Matched:
    """Match a run with a ground truth, once for all metrics and cut-offs.

    Without ``fingerprints`` the run's may be left out, which saves time on a large file.
    Targets that name the documents of the results, and none of their ids, are matched at
    the level of documents.
    """
    try:
        return _match_pair(truth, run, matching, fingerprints=fingerprints)
    except NoCommonIds:
        if matching.level is not None or matching.match is not None:
            raise
        from calipers.match.level import targets_as_documents

        named = targets_as_documents(truth, run)
        if named is None:
            raise
    return match_documents(named, run, matching, fingerprints=fingerprints)


def match_documents(
    truth: GroundTruth, run: Run, matching: Matching, *, fingerprints: bool = True
) -> Matched:
    """Match at the level of documents, whose names are the targets."""
    at = replace(matching, level="document")
    return _match_pair(truth, run, at, fingerprints=fingerprints)


def _match_pair(
    truth: GroundTruth, run: Run, matching: Matching, *, fingerprints: bool
) -> Matched:
    """Match a run with a ground truth as they stand."""
    settled = settle(truth, run, matching)
    truth = settled.ground_truth
    run = settled.run
    how = settled.matching
    matches, tally = match_settled(truth, run, how, fingerprint=fingerprints)
    some = settled.some()
    column = {"id": "item", "span": "document"}.get(how.rule.kind)
    near = nearly_found(truth, matches, some, column, settled.matching.map_ids)
    notes = [*settled.notes, *near]
    notes += [*nearly_asked(truth, tally), *may_be_swapped(truth, some)]
    notes += made_from_documents(truth)
    if settled.as_read[0].forbidden is not None:
        from calipers.match.forbidden import match_forbidden

        leaked, said = match_forbidden(
            *settled.whole, how.policy.ties, matches.queries["status"]
        )
        matches = replace(matches, leaked=leaked)
        notes += said
    settings = {**how.to_settings(), "notes": notes}
    matches = matches.with_tokens(partial(_token_table, truth, run, how))
    return Matched(truth, run, matches, tally, how, settings, settled.as_read, matching)


def _token_table(truth: GroundTruth, run: Run, how: Matching) -> "TokenTable | None":
    """The tokens of the results; few evaluations ask for them."""
    from calipers.match.tokens import token_table

    return token_table(truth.queries["query"], run, how.policy.ties)


@dataclass(frozen=True, eq=False)
class Settled:
    """Both sides as they are matched, with everything that is decided before matching."""

    ground_truth: GroundTruth
    run: Run
    matching: Matching
    """With the way of matching, the level and the rule for ties that the data decided."""
    notes: tuple[str, ...]
    """What a reader of results must know, as far as it is known before matching."""
    as_read: tuple[GroundTruth, Run]
    whole: tuple[GroundTruth, Run]
    """``as_read``, with ids normalised where that is asked for."""
    first: FirstResults | None
    """The first results as they came; None where there are none."""

    def some(self) -> FirstResults | None:
        """The first results as they are matched."""
        how = self.matching
        if not how.at_documents and how.map_ids is None:
            return self.first
        return peek(self.run.as_matched)[0]


def settle(truth: GroundTruth, run: Run, asked: Matching) -> Settled:
    """Decide how to match, from the ground truth and the first results."""
    at = check_level(asked.level)
    policy = asked.policy
    if truth.only_returned:
        # Its queries without a relevant row were asked, too: nothing was found for them.
        policy = replace(policy, unanswerable="zero")
    if hasattr(run.scan, "over_blocks"):
        check_ties(policy.ties, run.order)
    policy = policy.with_changes(ties=policy.ties or run.ties)
    given = run
    first, run = beginning(run)
    notes = run.notes
    if first is not None and not _knows(truth, first):
        truth, said = _named_alike(truth, run, first)
        notes = (*notes, *said)
    if truth.excluded is not None:
        from calipers.match.forbidden import without_excluded

        first, run = beginning(without_excluded(truth.excluded, run, policy.ties))
    as_read = whole_pair = truth, given
    whole = run
    if asked.level is None and asked.match is None and _may_be_pages(truth):
        from calipers.match.level import level_of_pages

        at, said = level_of_pages(truth, first, run)
        notes = (*notes, *said)
    matching = replace(asked, level=at, policy=policy)
    if first is not None and "call" in first.columns:
        from calipers.match.calls import one_ranking

        run = one_ranking(run, policy.calls)
    if matching.map_ids is not None:
        from calipers.match.level import map_ids

        how = parse_id_map(matching.map_ids)
        whole_pair = map_ids(*as_read, how)
        unmapped = truth
        truth, mapped = map_ids(unmapped, whole, how)
        run = mapped if run is whole else map_ids(unmapped, run, how)[1]
        whole = mapped
    if matching.at_documents:
        from calipers.match.level import to_documents, to_pages

        notes = (*truth.notes, *notes)
        truth, run = (to_pages if at == "page" else to_documents)(truth, run, policy)
        matching = replace(matching, match="id")
    else:
        is_whole = run is whole
        some, run = beginning(run)
        whole = run if is_whole else whole
        way = asked.match
        if matching.map_ids is not None and truth.kinds == {"item"} and some is not None:
            # Who says how ids are written means ids, whatever texts stand beside them.
            way = way or ("id" if "item" in some.columns else None)
        rule, truth, run, said = choose(way, truth, some, run, whole)
        check_corpus_size(matching.corpus_size, rule.kind)
        matching = replace(matching, match=str(rule))
        notes = (*said, *notes, *check_evidence(truth, rule))
    return Settled(truth, run, matching, notes, as_read, whole_pair, first)


def _may_be_pages(truth: GroundTruth) -> bool:
    """Whether the first target is a page; then all are."""
    if truth.kinds != {"item"}:
        return False
    return MARK in (truth.ids[0] if truth.is_listed else truth.targets["item"][0])


def _knows(truth: GroundTruth, first: FirstResults) -> bool:
    """Whether the first query of the results is one of the ground truth, as is usual."""
    listed = first.listed
    asked = first.frame["query"][0] if listed is None else listed["query"][0]
    if truth.is_listed:
        return asked in truth.names
    return bool((truth.queries["query"] == asked).any())


_LOOKED_AT = 50
"""Queries of the first results whose names are compared."""
BY_TEXT = "The run names its queries by their texts, and so they are compared."
BY_ID = "The ground truth names its queries by their texts, the run by ids: texts are compared."


def _named_alike(
    truth: GroundTruth, run: Run, first: FirstResults
) -> tuple[GroundTruth, tuple[str, ...]]:
    """The ground truth with its queries renamed as in the run, and a note about that.

    Nothing changes where a name is in common, or where texts do not link the names.
    """
    known = _text_names(truth.queries)
    answered = (
        run.queries if run.queries is not None and "text" in run.queries.columns else None
    )
    ids = None if answered is None else _text_names(answered)
    if known is None and ids is None:
        return truth, ()
    asked = first.frame["query"].unique(maintain_order=True).head(_LOOKED_AT)
    names = truth.queries["query"]
    if asked.is_in(names.implode()).any():
        return truth, ()
    if known is not None and asked.is_in(known["text"].implode()).any():
        return _with_queries_named(truth, known.select(old="query", new="text")), (
            BY_TEXT,
        )
    if ids is not None and ids["text"].is_in(names.implode()).any():
        return _with_queries_named(truth, ids.select(old="text", new="query")), (BY_ID,)
    return truth, ()


def _text_names(queries: pl.DataFrame) -> pl.DataFrame | None:
    """Names and texts, if each text belongs to one query and is not its name."""
    texts = queries.select("query", pl.col("text").str.strip_chars())
    texts = texts.filter(
        pl.col("text").is_not_null() & (pl.col("text") != pl.col("query"))
    )
    return None if not texts.height or texts["text"].is_duplicated().any() else texts


def _with_queries_named(truth: GroundTruth, names: pl.DataFrame) -> GroundTruth:
    def changed(frame: pl.DataFrame) -> pl.DataFrame:
        new = frame["query"].replace(names["old"], names["new"])
        return frame.with_columns(new.alias("query"))

    queries = truth.queries.with_columns(text=pl.coalesce("text", "query"))
    further = truth.changing_further(changed)
    return replace(
        truth, targets=changed(truth.targets), queries=changed(queries), **further
    )


def match_again(pair: Matched, run: Run) -> Matched:
    """Another run against the ground truth of a pair, under the same policies."""
    return match_pair(_to_match_again(pair), run, pair.asked_again)


def _to_match_again(pair: Matched) -> GroundTruth:
    """The ground truth of a pair, before ids were mapped and targets rolled up to documents."""
    changed = pair.matching.at_documents or pair.matching.map_ids is not None
    return pair.as_read[0] if changed else pair.ground_truth


def with_ids_mapped(pair: Matched) -> Matched:
    """The same pair, its sides read with the ids that ``map_ids`` makes of theirs."""
    if pair.matching.map_ids is None:
        return pair
    from calipers.match.level import map_ids

    sides = map_ids(*pair.as_read, parse_id_map(pair.matching.map_ids))
    return match_pair(*sides, replace(_lenient(pair.asked_again), map_ids=None))


def match_call(pair: Matched, run: Run) -> Matches:
    """The matches of one call of the retriever; that it finds nothing is no error."""
    return match_pair(_to_match_again(pair), run, _lenient(pair.matching)).matches


def _lenient(matching: Matching) -> Matching:
    return replace(matching, policy=replace(matching.policy, nothing_in_common="zero"))


def match_settled(
    truth: GroundTruth, run: Run, matching: Matching, *, fingerprint: bool
) -> tuple[Matches, Tally]:
    """Match two settled sides."""
    rule = matching.rule
    policy = matching.policy
    run = brought_together(run)
    together = matching.level == "evidence"

    def matched(run: Run) -> tuple[Matches, Tally]:
        if (there := remote_rows(run)) is not None:
            return _match_remote(truth, run, there, matching, fingerprint=fingerprint)
        if rule.kind == "quote":
            from calipers.match.by_quote import match_by_quote

            return match_by_quote(truth, run, policy, rule, together=together)
        if rule.kind == "span":
            from calipers.match.by_span import match_by_span

            return match_by_span(truth, run, policy, rule, together=together)
        return match_by_id(
            truth, run, policy, matching.corpus_size, fingerprint=fingerprint
        )

    try:
        matches, tally = matched(run)
    except NotGroupedError:
        run = run.grouped()
        matches, tally = matched(run)
    if not matches.edge_query.size and policy.nothing_in_common == "error":
        check_in_common(rule.kind, truth, run, tally, matching.map_ids)
    return matches, tally


def match_block(
    block: "Block", matching: Matching, *, fingerprint: bool
) -> tuple[Matches, Tally]:
    """Match one block, on whatever machine it is."""
    # Whether nothing is in common is only known after every block.
    how = replace(_lenient(matching), corpus_size=None)
    return match_settled(block.ground_truth, block.run, how, fingerprint=fingerprint)


@dataclass(frozen=True, eq=False)
class _MatchedBlock:
    """The edges and counts of some whole queries, small enough to be sent."""

    codes: Ints
    target: Ints
    rank: Ints
    overlap: Floats | None
    """None: all of each target, as when matched by id."""
    tally: Tally


def _match_remote(
    truth: GroundTruth,
    run: Run,
    there: "RemoteRows",
    matching: Matching,
    *,
    fingerprint: bool,
) -> tuple[Matches, Tally]:
    """Match a run on other machines: only edges and counts come back."""
    work = partial(_edges_of_block, matching=matching, fingerprint=fingerprint)
    blocks = list(there.over_blocks(truth, work))
    kind = matching.rule.kind
    tally = _tally(truth, blocks, fingerprint=fingerprint or kind != "id")
    overlaps = [block.overlap for block in blocks if block.overlap is not None]
    matches = assemble(
        truth,
        tally,
        rank=_joined(block.rank for block in blocks),
        target=_joined(block.target for block in blocks),
        overlap=np.concatenate(overlaps) if overlaps else None,
        corpus_size=matching.corpus_size,
    )
    if kind == "span":
        from calipers.match.by_span import span_table

        matches = replace(matches, spans=lambda: span_table(truth, run, matching.policy))
    return matches, tally


def _edges_of_block(
    block: "Block", *, matching: Matching, fingerprint: bool
) -> _MatchedBlock:
    matches, tally = match_block(block, matching, fingerprint=fingerprint)
    if tally.fingerprint is not None:
        tally.fingerprint.sum()  # what is added later needs the results
    # The matches number targets by query, and so do the rows of a block.
    return _MatchedBlock(
        block.codes,
        block.rows[matches.edge_target],
        matches.edge_rank,
        None if matching.rule.kind == "id" else matches.edge_overlap,
        replace(tally, tied_targets=block.rows[tally.tied_targets]),
    )


def _tally(
    truth: GroundTruth, blocks: Sequence[_MatchedBlock], *, fingerprint: bool
) -> Tally:
    """Merge the counts of blocks, in any order."""
    retrieved = np.zeros(truth.n_queries, dtype=np.int64)
    status = np.zeros(truth.n_queries, dtype=np.uint8)
    of_run = RankingFingerprint()
    parts = [block.tally for block in blocks]
    for one, part in zip(blocks, parts, strict=True):
        retrieved[one.codes] = part.retrieved
        status[one.codes] = part.status
        if part.fingerprint is not None:
            of_run.merge(part.fingerprint)
    return Tally(
        retrieved,
        status,
        sum(part.unknown for part in parts),
        _first(part.unknown_examples for part in parts),
        sum(part.duplicates for part in parts),
        sum(part.ties for part in parts),
        of_run if fingerprint else None,
        _first(part.sample_queries for part in parts),
        np.sort(_joined(part.tied_targets for part in parts)),
        np.sort(_joined(part.copy_ranks for part in parts)),
    )


def _first(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The first by name, whatever block came first."""
    return tuple(sorted(name for several in names for name in several)[:EXAMPLES])


def _joined(parts: Iterator[Ints]) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)
