"""A ground truth and a run, matched as asked or as the data says."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.match.by_id import match_by_id, may_be_alike, nearly_alike
from calipers.match.choose import Choice, check_level, choose, parse_matching
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched, Tally
from calipers.model.matches import MISSING, Matches
from calipers.model.policy import Policy, check_rel
from calipers.model.ranking import query_starts
from calipers.model.run import SAMPLE, Run, Scan, Scored

if TYPE_CHECKING:
    from calipers.match.calls import CallEdges


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
    check_matching(match, level, rel, corpus_size)
    at = check_level(level)
    as_read = truth, run
    ties_asked = policy.ties
    policy = policy.with_changes(ties=policy.ties or run.ties)
    first, run = _beginning(run)
    whole = run
    if first is not None and "call" in first.columns:
        from calipers.match.calls import one_ranking

        each = partial(_match_call, policy=policy, match=match, level=level, map_ids=map_ids)
        run = one_ranking(truth, run, policy.calls, each, rel)
    settings: dict[str, Any] = {"rel": rel, "corpus_size": corpus_size, "matched_at": at}
    read_notes, whole_pair = run.notes, as_read
    if map_ids is not None:
        from calipers.match.map_ids import map_ids as mapped
        from calipers.match.map_ids import parse_id_map

        whole_pair = mapped(*as_read, parse_id_map(map_ids))
        truth, run = mapped(truth, run, parse_id_map(map_ids))
        settings["map_ids"] = map_ids
    if at == "document":
        from calipers.match.level import to_documents

        read_notes = (*truth.notes, *read_notes)
        truth, run = to_documents(truth, run, policy)
        matches, tally = match_by_id(truth, run, policy, corpus_size, fingerprint=fingerprints)
        settings |= {"match": "document", "notes": [*read_notes, *_imitation_notes(truth, like)]}
    else:
        choice, run = _choose(match, truth, run, whole if whole is not run else None)
        truth = choice.ground_truth
        if corpus_size is not None and choice.matching.kind != "id":
            raise InvalidInput(
                f"The size of the corpus is given and targets are matched by "
                f"{choice.matching.kind}: how many of its chunks hold a target is not known. Leave "
                "it out, or match by id."
            )
        said = (
            *choice.notes, *read_notes, *check_evidence(choice), *_imitation_notes(truth, like),
        )  # fmt: skip
        matches, tally = match_as_chosen(
            choice, run, policy, corpus_size,
            together=at == "evidence", fingerprint=fingerprints,
        )  # fmt: skip
        settings |= {"match": str(choice.matching), "notes": list(said)}
    as_it_came = map_ids is None and at != "document"
    some = first if as_it_came else peek(run)[0]
    settings["notes"] += _nearly_found(truth, some, matches, settings["match"])
    settings["notes"] += _nearly_asked(truth, tally)
    settings["notes"] += _may_be_swapped(truth, some)
    if as_read[0].forbidden is not None:
        from calipers.match.forbidden import match_forbidden

        leaked, notes = match_forbidden(*whole_pair, policy.ties, matches.queries["status"])
        matches = replace(matches, leaked=leaked)
        settings["notes"] += notes
    return Matched(
        truth, run, matches, tally, policy, rel, settings, as_read, match, like, ties_asked
    )


def _nearly_found(
    truth: GroundTruth, some: pl.DataFrame | None, matches: Matches, match: str
) -> list[str]:
    """A note where a target that was not found has nearly the name of a result of its query."""
    column = "document" if match.startswith("span") else "item"
    if match.startswith("quote") or some is None or column not in some.columns:
        return []
    found = np.zeros(int(matches.target_unit.max(initial=-1)) + 1, dtype=np.bool_)
    found[matches.target_unit[matches.edge_target]] = True
    missed = ~found[matches.target_unit] & matches.relevant()
    if not missed.any():
        return []
    results = some.head(SAMPLE)
    # Few queries are in the sample, so few of the targets are looked at.
    few = pl.Series([*dict.fromkeys(results["query"].to_list())], dtype=pl.String)
    seen = truth.queries["query"].is_in(few.implode()).to_numpy()
    sorted_ = np.argsort(truth.target_query, kind="stable")[missed]
    rows = sorted_[seen[truth.target_query[sorted_]]]
    asked = pl.DataFrame({"query": truth.targets["query"][rows],
                          "wanted": truth.targets[column][rows]})  # fmt: skip
    results = pl.DataFrame({"query": results["query"], "called": results[column]})
    if not rows.size or not may_be_alike(asked, results):
        return []
    pairs = nearly_alike(asked, "wanted", results, "called", on=["query"])
    if not pairs.height:
        return []
    from calipers.match.likely_rule import likely_reason

    one, n = pairs.row(0, named=True), pairs.select("query", "wanted").n_unique()
    return [
        f"{n} {'target' if n == 1 else 'targets'} not found, and a result of the same query is "
        f"called nearly so: {one['called']!r:.60} for {one['wanted']!r:.60}. "
        f"{likely_reason(pairs['called'].to_list(), pairs['wanted'].to_list())}"
    ]


def _nearly_asked(truth: GroundTruth, tally: Tally) -> list[str]:
    """A note where queries that only the run has are nearly those that it lacks."""
    if not tally.unknown:
        return []
    lacking = truth.queries["query"].filter(tally.status == MISSING).head(SAMPLE).to_list()
    if not lacking:
        return []
    from calipers.match.likely_rule import likely_rule

    rule = likely_rule(tally.unknown_examples, lacking, mapped=False)
    if rule is None:
        return []
    return [f"Some queries seem to be named in two ways, so they count as missing. {rule}"]


def _may_be_swapped(truth: GroundTruth, some: pl.DataFrame | None) -> list[str]:
    """A note where the grades look like scores, and the run has none or what looks like grades."""
    if some is None or not truth.targets.height:
        return []
    grades = truth.targets["grade"].head(SAMPLE).to_numpy()
    # Grades that are means of several judges are broken numbers too, but few different ones.
    many = np.unique(grades).size > grades.size / 2
    if (grades != grades.round()).mean() <= 0.5 or not many:
        return []
    scores = some.get_column("score", default=pl.Series([], dtype=pl.Float64)).head(SAMPLE)
    scores = scores.drop_nulls()
    if not (scores.is_between(0, 5) & (scores == scores.round(0))).all():
        return []
    look = f"scores like grades ({scores[0]:g})" if len(scores) else "no scores"
    return [
        f"The grades look like scores ({grades[0]:g}) and the run has {look}: check that run and "
        "ground truth are not exchanged."
    ]


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


def edges_by_call(pair: Matched) -> "CallEdges | None":
    """Which call of the retriever holds which target; None where the run has no calls."""
    truth, run = pair.as_read
    first, run = _beginning(run)
    if first is None or "call" not in first.columns:
        return None
    from calipers.match.calls import call_edges

    match = "id" if pair.settings["match"] == "document" else pair.settings["match"]
    level = pair.settings["matched_at"]
    mapped = pair.settings.get("map_ids")
    truth = truth if level == "document" or mapped is not None else pair.ground_truth
    each = partial(_match_call, policy=pair.policy, match=match, level=level, map_ids=mapped)
    return call_edges(truth, run, each)


def match_again(pair: Matched, run: Run) -> Matched:
    """Another run against the ground truth of a pair, under the same policies."""
    mapped = pair.settings.get("map_ids")
    truth = pair.ground_truth if mapped is None else pair.as_read[0]
    return match_pair(
        truth, run, policy=replace(pair.policy, ties=pair.ties_asked),
        match=pair.match_asked,
        level=pair.settings["matched_at"], rel=pair.rel, corpus_size=pair.settings["corpus_size"],
        like=pair.like, map_ids=mapped,
    )  # fmt: skip


def _choose(
    match: str | None, truth: GroundTruth, run: Run, whole: Run | None
) -> tuple[Choice, Run]:
    """The way of matching; ids may be in common with the ``whole`` of which ``run`` is a part."""
    first, run = _beginning(run)
    columns = [] if first is None else first.columns
    # Asked for by name, plain strings with spaces in them are texts and not ids.
    by_quote = match is not None and parse_matching(match).kind == "quote"
    plain = by_quote and "item" in columns and "text" not in columns
    if plain and first is not None and first["item"].str.contains(r"\s").any():
        run = with_ids_as_texts(run)
        columns = ["text" if name == "item" else name for name in columns]
    return choose(match, truth, columns, lambda: _have_ids_in_common(truth, whole or run)), run


def _have_ids_in_common(truth: GroundTruth, run: Run) -> bool:
    wanted = truth.targets["item"].unique().implode()
    return any(frame["item"].is_in(wanted).any() for frame in run.scan())


def _imitation_notes(truth: GroundTruth, like: str | None) -> tuple[str, ...]:
    if like is None:
        return ()
    from calipers.match.imitation import imitation_notes

    return imitation_notes(truth, like)


def check_evidence(choice: Choice) -> tuple[str, ...]:
    """Refuse quotes and spans that cannot be meant; returns what is to be said of the others."""
    # Ids are the usual case, and need none of what evidence needs.
    if choice.matching.kind == "quote":
        from calipers.match.check_quotes import check_target_quotes

        return check_target_quotes(choice.ground_truth)
    if choice.matching.kind == "span":
        from calipers.match.check_spans import check_target_spans

        check_target_spans(choice.ground_truth)
    return ()


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
    truth, matching = choice.ground_truth, choice.matching
    if isinstance(run.scan, _Resumed) and run.scan.mixes_queries():
        # Known from the first rows: so nothing is read for a ranking that cannot be made.
        run = run.grouped()
    if matching.kind == "quote":
        from calipers.match.by_quote import QuoteRule, match_by_quote

        rule = QuoteRule(matching.least, matching.ignore_case, together)
        return match_by_quote(truth, run, policy, rule)
    if matching.kind == "span":
        from calipers.match.by_span import match_by_span

        return match_by_span(truth, run, policy, matching.least, together=together)
    return match_by_id(truth, run, policy, corpus_size, fingerprint=fingerprint)


class _Resumed:
    """The first call goes on behind the frames that were looked at; later calls read again."""

    def __init__(self, seen: list[pl.DataFrame], rest: Iterator[pl.DataFrame], again: Scan) -> None:
        self._begun: Iterator[pl.DataFrame] | None = chain(seen, rest)
        self._again = again
        self._queries = pl.concat([frame["query"] for frame in seen])

    def mixes_queries(self) -> bool:
        """Whether a query comes back behind another in the frames that were looked at."""
        several = self._queries[query_starts(self._queries)]
        return several.n_unique() < len(several)

    def __call__(self) -> Iterator[pl.DataFrame]:
        begun, self._begun = self._begun, None
        return self._again() if begun is None else begun


def _beginning(run: Run) -> tuple[pl.DataFrame | None, Run]:
    """The first rows of a run that has rows, and the run to use from here on."""
    # Those of mappings are known without making a table of all.
    return (run.scan.head, run) if isinstance(run.scan, Scored) else peek(run, SAMPLE)


def peek(run: Run, rows: int = 1) -> tuple[pl.DataFrame | None, Run]:
    """At least so many of the first rows, if there are, and the run to use from here on."""
    frames, seen, n = run.scan(), [], 0
    for one in frames:
        if one.height:
            seen.append(one)
            n += one.height
        if n >= rows:
            break
    if not seen:
        return None, run
    first = seen[0] if len(seen) == 1 else pl.concat(seen, how="diagonal_relaxed")
    return first, replace(run, scan=_Resumed(seen, frames, run.scan))


def with_ids_as_texts(run: Run) -> Run:
    """The run whose plain strings are texts and not ids."""
    scan = run.scan
    return replace(run, scan=lambda: (frame.rename({"item": "text"}) for frame in scan()))
