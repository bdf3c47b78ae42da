"""A ground truth and a run, matched as asked or as the data says."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from calipers.errors import check_number
from calipers.match.by_id import match_by_id
from calipers.match.choose import (
    Choice,
    Level,
    check_corpus_size,
    check_evidence,
    check_level,
    check_ties,
    choose_from,
    parse_matching,
)
from calipers.match.notes import (
    all_differ,
    imitation_notes,
    may_be_swapped,
    missed_targets,
    nearly_asked,
    nearly_found,
)
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import MISSING, Matched, Matches, Tally, with_status
from calipers.model.pages import MARK
from calipers.model.policy import Policy, Ties, check_rel
from calipers.model.ranking import NotGroupedError
from calipers.model.run import (
    SAMPLE,
    FirstResults,
    Run,
    beginning,
    brought_together,
    in_query_order,
    peek,
)

if TYPE_CHECKING:
    from calipers.match.calls import CallEdges


def check_matching(
    match: str | None, level: str | None, rel: float | None, corpus_size: int | None
) -> None:
    """Refuse what cannot be meant before any file is read."""
    check_rel(rel)
    if corpus_size is not None:
        check_number("The size of the corpus", corpus_size, whole=True, least=1)
    check_level(level)
    if match is not None:
        parse_matching(match)


def match_pair(
    truth: GroundTruth,
    run: Run,
    *,
    policy: Policy,
    match: str | None = None,
    level: str | None = None,
    rel: float | None = None,
    corpus_size: int | None = None,
    like: str | None = None,
    map_ids: str | None = None,
    fingerprints: bool = True,
) -> Matched:
    """Match a run with a ground truth, once for all metrics and cut-offs.

    ``match`` is "id", "quote", "span", or one with parameters such as "quote(min=0.8)"; without
    it the data says. ``level`` is "evidence" (several chunks together may hold a target),
    "chunk" (one must hold it alone) or "document". ``map_ids`` is what does not count in ids, such
    as "prefix=docs/,extension,case". Without ``fingerprints`` the run's may be
    left out, which saves time on a large file.
    """
    settled = settle(
        truth,
        run,
        policy=policy,
        match=match,
        level=level,
        rel=rel,
        corpus_size=corpus_size,
        like=like,
        map_ids=map_ids,
    )
    choice, run, policy = settled.choice, settled.run, settled.policy
    truth = choice.ground_truth
    matches, tally = match_as_chosen(
        choice, run, policy, corpus_size, together=settled.together, fingerprint=fingerprints
    )
    some = settled.some()
    notes = [*settled.notes]
    if not all_differ(truth, matches, some) and (named := settled.named(some)) is not None:
        notes += nearly_found(missed_targets(truth, matches, named), named)
    missing = with_status(tally.status, MISSING)
    notes += nearly_asked(tally.unknown_examples, lambda: truth.queries["query"].filter(missing))
    notes += may_be_swapped(truth, some)
    if settled.as_read[0].forbidden is not None:
        from calipers.match.forbidden import match_forbidden

        leaked, said = match_forbidden(*settled.whole, policy.ties, matches.queries["status"])
        matches = replace(matches, leaked=leaked)
        notes += said
    return Matched(
        truth,
        run,
        matches,
        tally,
        policy,
        rel,
        {**settled.settings, "notes": notes},
        settled.as_read,
        match,
        like,
        settled.ties_asked,
    )


@dataclass(frozen=True, eq=False)
class Settled:
    """Both sides as they are matched, and all that is decided before the first result is."""

    choice: Choice
    run: Run
    policy: Policy
    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    """What a reader of results must know, as far as it is known by now."""
    as_read: tuple[GroundTruth, Run]
    whole: tuple[GroundTruth, Run]
    """The same, with their ids written in one way where that is asked for."""
    first: FirstResults | None
    """The first results as they came; None where there are none."""
    ties_asked: Ties | None

    @property
    def together(self) -> bool:
        """Whether several chunks may hold a target."""
        return bool(self.settings["matched_at"] == "evidence")

    def some(self) -> FirstResults | None:
        """The first results as they are matched."""
        at_documents = self.settings["matched_at"] in ("page", "document")
        if not at_documents and "map_ids" not in self.settings:
            return self.first
        try:
            return peek(self.run)[0]
        except NotGroupedError:
            # To bring all of them together once more only to look at some would take too long.
            from calipers.match.level import paged, rolled_up

            what = self.settings["matched_at"]
            run = paged(self.whole[1]) if what == "page" else self.whole[1]
            few, _ = peek(run, SAMPLE)
            frames = () if few is None else (in_query_order([few.frame]),)
            return peek(rolled_up(replace(run, scan=lambda: iter(frames)), self.policy, what))[0]

    def named(self, some: FirstResults | None) -> pl.DataFrame | None:
        """Query and name of some results; None where targets are not recognised by names."""
        match = self.settings["match"]
        column = "document" if match.startswith("span") else "item"
        if match.startswith("quote") or some is None or column not in some.columns:
            return None
        return some.frame.head(SAMPLE)[["query", column]]


def settle(
    truth: GroundTruth,
    run: Run,
    *,
    policy: Policy,
    match: str | None,
    level: str | None,
    rel: float | None,
    corpus_size: int | None,
    like: str | None,
    map_ids: str | None,
) -> Settled:
    """Decide how to match, from the ground truth and the first results."""
    check_matching(match, level, rel, corpus_size)
    at: Level = check_level(level)
    ties_asked = policy.ties
    if hasattr(run.scan, "over_blocks"):
        check_ties(ties_asked, run.order)
    policy = policy.with_changes(ties=policy.ties or run.ties)
    given = run
    first, run = beginning(run)
    notes = run.notes
    if first is not None and not _knows(truth, first):
        from calipers.match.query_names import named_alike

        truth, said = named_alike(truth, run, first)
        notes = (*notes, *said)
    as_read = whole_pair = truth, given
    whole = run
    if level is None and match is None and _may_be_pages(truth):
        from calipers.match.level import level_of_pages

        at, said = level_of_pages(truth, first, run)
        notes = (*notes, *said)
    if first is not None and "call" in first.columns:
        from calipers.match.calls import one_ranking

        each = partial(_match_call, policy=policy, match=match, level=at, map_ids=map_ids)
        run = one_ranking(truth, run, policy.calls, each, rel)
    settings: dict[str, Any] = {"rel": rel, "corpus_size": corpus_size, "matched_at": at}
    if map_ids is not None:
        from calipers.match.map_ids import map_ids as mapped
        from calipers.match.map_ids import parse_id_map

        whole_pair = mapped(*as_read, parse_id_map(map_ids))
        truth, run = mapped(truth, run, parse_id_map(map_ids))
        settings["map_ids"] = map_ids
    if at in ("page", "document"):
        from calipers.match.level import to_documents, to_pages

        notes = (*truth.notes, *notes)
        truth, run = (to_pages if at == "page" else to_documents)(truth, run, policy)
        choice, settings["match"] = Choice(parse_matching("id"), truth), "document"
    else:
        is_whole = run is whole
        some, run = beginning(run)
        choice, run = choose_from(match, truth, some, run, run if is_whole else whole)
        check_corpus_size(corpus_size, choice.matching.kind)
        settings["match"] = str(choice.matching)
        notes = (*choice.notes, *notes, *check_evidence(choice))
    notes = (*notes, *imitation_notes(choice.ground_truth, like))
    return Settled(choice, run, policy, settings, notes, as_read, whole_pair, first, ties_asked)


def _may_be_pages(truth: GroundTruth) -> bool:
    """Whether the first target is a page, as all are then."""
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


def match_again(pair: Matched, run: Run) -> Matched:
    """Another run against the ground truth of a pair, under the same policies."""
    return match_pair(
        _to_match_again(pair),
        run,
        policy=replace(pair.policy, ties=pair.ties_asked),
        match=pair.match_asked,
        level=pair.settings["matched_at"],
        rel=pair.rel,
        corpus_size=pair.settings["corpus_size"],
        like=pair.like,
        map_ids=pair.settings.get("map_ids"),
    )


def _to_match_again(pair: Matched) -> GroundTruth:
    """The ground truth of a pair, before ids were mapped and targets rolled up to documents."""
    changed = pair.settings["matched_at"] in ("page", "document") or "map_ids" in pair.settings
    return pair.as_read[0] if changed else pair.ground_truth


def match_as_chosen(
    choice: Choice,
    run: Run,
    policy: Policy,
    corpus_size: int | None,
    *,
    together: bool,
    fingerprint: bool,
) -> tuple[Matches, Tally]:
    """The matches by the rule that was chosen; ``together``: several chunks may hold a target."""
    truth, matching, run = choice.ground_truth, choice.matching, brought_together(run)
    if hasattr(run.scan, "over_blocks"):
        from calipers.match.elsewhere import BlockRule, match_elsewhere

        how = BlockRule(match_as_chosen, matching, policy, together, fingerprint)
        return match_elsewhere(truth, run, how, corpus_size)

    def matched(run: Run) -> tuple[Matches, Tally]:
        if matching.kind == "quote":
            from calipers.match.by_quote import QuoteRule, match_by_quote

            rule = QuoteRule(matching.least, matching.ignore_case, together)
            return match_by_quote(truth, run, policy, rule)
        if matching.kind == "span":
            from calipers.match.by_span import match_by_span

            return match_by_span(truth, run, policy, matching.least, together=together)
        return match_by_id(truth, run, policy, corpus_size, fingerprint=fingerprint)

    try:
        return matched(run)
    except NotGroupedError:
        return matched(run.grouped())


def edges_by_call(pair: Matched) -> "CallEdges | None":
    """Which call of the retriever holds which target; None where the run has no calls."""
    first, run = beginning(pair.as_read[1])
    if first is None or "call" not in first.columns:
        return None
    match = "id" if pair.settings["match"] == "document" else pair.settings["match"]
    level, mapped = pair.settings["matched_at"], pair.settings.get("map_ids")
    from calipers.match.calls import call_edges

    each = partial(_match_call, policy=pair.policy, match=match, level=level, map_ids=mapped)
    return call_edges(_to_match_again(pair), run, each)


def _match_call(
    truth: GroundTruth,
    run: Run,
    *,
    policy: Policy,
    match: str | None,
    level: str | None,
    map_ids: str | None,
) -> Matches:
    """The matches of single calls, of which some find nothing, and that is no mistake."""
    lenient = policy.with_changes(nothing_in_common="zero")
    return match_pair(truth, run, policy=lenient, match=match, level=level, map_ids=map_ids).matches
