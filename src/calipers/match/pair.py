"""A ground truth and a run, matched as asked or as the data says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.match.by_id import match_by_id, may_be_alike, nearly_alike
from calipers.match.choose import (
    Choice,
    check_evidence,
    check_level,
    choose_from,
    parse_matching,
)
from calipers.model.arrays import Ints, as_series
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched, Tally
from calipers.model.matches import MISSING, Matches, with_status
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


def check_matching(
    match: str | None, level: str | None, rel: float | None, corpus_size: int | None
) -> None:
    """Refuse what cannot be meant before any file is read."""
    check_rel(rel)
    if corpus_size is not None and (not isinstance(corpus_size, int) or corpus_size < 1):
        raise InvalidInput(
            f"The size of the corpus is {corpus_size!r}; it must be a whole number of at least 1."
        )
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
    if not _all_differ(truth, matches, some) and (named := settled.named(some)) is not None:
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
        at_documents = self.settings["matched_at"] == "document"
        if not at_documents and "map_ids" not in self.settings:
            return self.first
        try:
            return peek(self.run)[0]
        except NotGroupedError:
            # To bring all of them together once more only to look at some would take too long.
            from calipers.match.level import rolled_up

            run = self.whole[1]
            few, _ = peek(run, SAMPLE)
            frames = () if few is None else (in_query_order([few.frame]),)
            return peek(rolled_up(replace(run, scan=lambda: iter(frames)), self.policy))[0]

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
    at = check_level(level)
    as_read = whole_pair = truth, run
    ties_asked = policy.ties
    policy = policy.with_changes(ties=policy.ties or run.ties)
    first, run = beginning(run)
    whole = run
    if first is not None and "call" in first.columns:
        from calipers.match.call_pairs import as_one_ranking

        run = as_one_ranking(
            truth, run, rel, policy=policy, match=match, level=level, map_ids=map_ids
        )
    settings: dict[str, Any] = {"rel": rel, "corpus_size": corpus_size, "matched_at": at}
    notes = run.notes
    if map_ids is not None:
        from calipers.match.map_ids import map_ids as mapped
        from calipers.match.map_ids import parse_id_map

        whole_pair = mapped(*as_read, parse_id_map(map_ids))
        truth, run = mapped(truth, run, parse_id_map(map_ids))
        settings["map_ids"] = map_ids
    if at == "document":
        from calipers.match.level import to_documents

        notes = (*truth.notes, *notes)
        truth, run = to_documents(truth, run, policy)
        choice, settings["match"] = Choice(parse_matching("id"), truth), "document"
    else:
        is_whole = run is whole
        some, run = beginning(run)
        choice, run = choose_from(match, truth, some, run, run if is_whole else whole)
        if corpus_size is not None and choice.matching.kind != "id":
            raise InvalidInput(
                f"The size of the corpus is given and targets are matched by "
                f"{choice.matching.kind}: how many of its chunks hold a target is not known. Leave "
                "it out, or match by id."
            )
        settings["match"] = str(choice.matching)
        notes = (*choice.notes, *notes, *check_evidence(choice))
    notes = (*notes, *_imitation_notes(choice.ground_truth, like))
    return Settled(choice, run, policy, settings, notes, as_read, whole_pair, first, ties_asked)


def _all_differ(truth: GroundTruth, matches: Matches, some: FirstResults | None) -> bool:
    """Whether lists that are at hand show that no result is called nearly as a missed target."""
    if some is None or some.listed is None or not truth.is_listed:
        return False
    queries, names, ids = some.listed["query"], truth.names, truth.ids
    few, rows = {*queries}, _missed(truth, matches)
    asked = zip(truth.target_query[rows].tolist(), rows.tolist(), strict=True)
    wanted = [(names[code], ids[row]) for code, row in asked if names[code] in few]
    return not may_be_alike(wanted, zip(queries, some.listed["item"], strict=True))


def _missed(truth: GroundTruth, matches: Matches) -> Ints:
    """The rows of relevant targets that were not found."""
    found = np.zeros(int(matches.target_unit.max(initial=-1)) + 1, dtype=np.bool_)
    found[matches.target_unit[matches.edge_target]] = True
    missed = ~found[matches.target_unit] & matches.relevant()
    if truth.is_grouped:
        return np.flatnonzero(missed)
    return np.argsort(truth.target_query, kind="stable")[missed]


def missed_targets(truth: GroundTruth, matches: Matches, named: pl.DataFrame) -> pl.DataFrame:
    """Query and name of the relevant targets that were not found, of queries of some results."""
    rows = _missed(truth, matches)
    if rows.size:
        # Few queries are in the sample, so few of the targets are looked at.
        seen = truth.queries["query"].is_in(named["query"].implode()).to_numpy()
        rows = rows[seen[truth.target_query[rows]]]
    column = named.columns[1]
    taken = truth.targets[as_series(rows)]
    return pl.DataFrame({"query": taken["query"], "wanted": taken[column]})


def nearly_found(missed: pl.DataFrame, named: pl.DataFrame) -> list[str]:
    """A note where a target that was not found has nearly the name of a result of its query."""
    results = pl.DataFrame({"query": named["query"], "called": named[named.columns[1]]})
    if not may_be_alike(missed.iter_rows(), results.iter_rows()):
        return []
    pairs = nearly_alike(missed, "wanted", results, "called", on=["query"])
    if not pairs.height:
        return []
    from calipers.match.likely_rule import likely_reason

    one, n = pairs.row(0, named=True), pairs.select("query", "wanted").n_unique()
    return [
        f"{n} {'target' if n == 1 else 'targets'} not found, and a result of the same query is "
        f"called nearly so: {one['called']!r:.60} for {one['wanted']!r:.60}. "
        f"{likely_reason(pairs['called'].to_list(), pairs['wanted'].to_list())}"
    ]


def nearly_asked(unknown: Sequence[str], missing: Callable[[], pl.Series]) -> list[str]:
    """A note where queries that only the run has are nearly those that it lacks."""
    lacking = missing().head(SAMPLE).to_list() if unknown else []
    if not lacking:
        return []
    from calipers.match.likely_rule import likely_rule

    rule = likely_rule(unknown, lacking, mapped=False)
    if rule is None:
        return []
    return [f"Some queries seem to be named in two ways, so they count as missing. {rule}"]


def may_be_swapped(truth: GroundTruth, some: FirstResults | None) -> list[str]:
    """A note where the grades look like scores, and the run has none or what looks like grades."""
    grades = truth.grades[:SAMPLE]
    if some is None or not grades.size:
        return []
    broken = np.count_nonzero(grades != np.rint(grades))
    # Grades that are means of several judges are broken numbers too, but few different ones.
    if broken <= grades.size / 2 or len({*grades.tolist()}) <= grades.size / 2:
        return []
    scores = some.frame.get_column("score", default=pl.Series([], dtype=pl.Float64)).head(SAMPLE)
    scores = scores.drop_nulls()
    if not (scores.is_between(0, 5) & (scores == scores.round(0))).all():
        return []
    look = f"scores like grades ({scores[0]:g})" if len(scores) else "no scores"
    return [
        f"The grades look like scores ({grades[0]:g}) and the run has {look}: check that run and "
        "ground truth are not exchanged."
    ]


def match_again(pair: Matched, run: Run) -> Matched:
    """Another run against the ground truth of a pair, under the same policies."""
    mapped = pair.settings.get("map_ids")
    truth = pair.ground_truth if mapped is None else pair.as_read[0]
    return match_pair(
        truth,
        run,
        policy=replace(pair.policy, ties=pair.ties_asked),
        match=pair.match_asked,
        level=pair.settings["matched_at"],
        rel=pair.rel,
        corpus_size=pair.settings["corpus_size"],
        like=pair.like,
        map_ids=mapped,
    )


def _imitation_notes(truth: GroundTruth, like: str | None) -> tuple[str, ...]:
    if like is None:
        return ()
    from calipers.match.compatibility_notes import imitation_notes

    return imitation_notes(truth, like)


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
    if matching.kind == "quote":
        from calipers.match.by_quote import QuoteRule, match_by_quote

        rule = QuoteRule(matching.least, matching.ignore_case, together)
        return match_by_quote(truth, run, policy, rule)
    if matching.kind == "span":
        from calipers.match.by_span import match_by_span

        return match_by_span(truth, run, policy, matching.least, together=together)
    return match_by_id(truth, run, policy, corpus_size, fingerprint=fingerprint)
