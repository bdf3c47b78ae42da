"""One query, asked live or looked up in a run: the rank of every target, or why it is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.load import load
from calipers.io.tables.columns import Columns
from calipers.match.notes import likely_reason, likely_rule
from calipers.match.pair import match_pair
from calipers.measures.views import NEVER
from calipers.model.document import Cell, Cells, Column, Document, Heads, Table
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run
from calipers.present.escape import printable
from calipers.questions.inputs import below, read_pair
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.misses.rule import explain_misses
from calipers.questions.misses.table import best_ranks
from calipers.words import did_you_mean, first_results

if TYPE_CHECKING:
    from calipers.questions.misses.settings import ExplainSettings


CUT = 200
"""Characters of a text that are kept."""
MOST_ALIKE = 5_000
"""The most questions that are searched for a similar one."""


@dataclass(frozen=True)
class ShownResult:
    """One result, in the order of the retriever."""

    rank: int
    id: str | None
    score: float | None
    text: str | None
    """Its beginning."""
    target: bool | None
    """Whether it contains a target; None without a ground truth."""


@dataclass(frozen=True)
class TargetFate:
    """One piece of ground truth: its rank, or why it is not in the first k."""

    name: str
    grade: float
    rank: int | None
    found: bool
    """Whether it is in the first k."""
    reason: str | None = None
    """One of the reasons of ``misses``; None if it or an alternative was found."""
    near: str | None = None
    """The id of the result that is the target in another spelling."""


@dataclass(frozen=True, repr=False)
class Explanation(Plain, HasRows):
    """What a retriever returned for one question, and why targets are missing."""

    shown_by: ClassVar[str] = "calipers.questions.misses.one_query"

    question: str
    id: str | None
    """The id of the question in the ground truth; None if it is not there."""
    retriever: str
    k: int
    latency_ms: float | None
    error: str | None
    """Why the retriever failed, as the run recorded it."""
    results: tuple[ShownResult, ...]
    targets: tuple[TargetFate, ...]
    sought: int
    """The number of targets to find; alternatives count as one."""
    found: int
    """How many of them are in the first k."""
    notes: tuple[str, ...]


def explain_question(asked: str, settings: "ExplainSettings") -> Explanation:
    """Ask one question, or look it up in a run; every target gets a rank or a reason."""
    if not asked.strip():
        raise InvalidInput(
            "The question is empty; give the words that the retriever is asked."
        )
    if settings.run is None and settings.retriever is None:
        raise InvalidInput(
            "Nothing answers the question; give a live retriever with --retriever, or results "
            "with --run (retriever= or run= in Python)."
        )
    k = settings.k
    latency = None
    truth, run = _given(settings)
    known = None if truth is None else _known(truth, asked)
    name, text = (asked, asked) if known is None else known.queries.row(0)[:2]
    if run is not None:
        if known is None:
            near = _nearest(truth, asked)
            raise InvalidInput(
                f"The ground truth does not have the question {asked!r:.80}.{near}"
            )
        found = _only(run, name)
        retriever = run.name or "The run"
    else:
        from calipers.live.adapters.base import Question
        from calipers.live.retrieve import ask_once

        found, retriever, latency = ask_once(
            settings.retriever,
            Question(name, text or name),
            below(k),
            settings.timeout,
            settings.options,
        )
    whole = Explanation(
        question=text or name,
        id=None if known is None else name,
        retriever=retriever,
        k=k,
        latency_ms=latency,
        error=_recorded_error(found),
        results=_results(found, k),
        targets=(),
        sought=0,
        found=0,
        notes=(),
    )
    if truth is None:
        return whole
    if known is None:
        note = sentence(
            "The ground truth does not have this question, so nothing is judged.{near.text}",
            near=named(_nearest(truth, asked)),
        )
        return replace(whole, notes=(note,))
    policy = Policy(nothing_in_common="zero")
    match = settings.match
    if match is None and run is not None and _meets_by_id(truth, run):
        match = "id"  # as for all questions, whatever this one returned
    matching = Matching(match=match, policy=policy, map_ids=settings.map_ids)
    pair = match_pair(known, found, matching)
    judged = _judged(whole, pair, truth, settings.corpus)
    notes = judged.notes or _note_on_spelling(judged.targets, settings.map_ids)
    return replace(judged, notes=notes)


def _given(settings: "ExplainSettings") -> tuple[GroundTruth | None, Run | None]:
    """The ground truth and the run, as far as they are given."""
    columns = Columns.of(settings.columns)
    if settings.run is not None:
        # One file may hold both.
        both = settings.run if settings.ground_truth is None else None
        alone = settings.run if both is None else None
        pair = read_pair(both, settings.ground_truth, alone, settings.store, columns)
        columns.check_used()
        return pair
    if settings.ground_truth is None:
        return None, None
    truth = load(settings.ground_truth, "ground_truth", columns).ground_truth
    columns.check_used()
    return truth, None


def _judged(
    whole: Explanation, pair: Matched, truth: GroundTruth, corpus: object
) -> Explanation:
    """Add to an explanation the rank of each target, or the reason of ``misses``."""
    matches = pair.matches
    counted = pair.matches.relevant(pair.rel)
    useful = set(matches.edge_rank[counted[matches.edge_target]].tolist())
    why = explain_misses(pair, whole.k, corpus=corpus)
    return replace(
        whole,
        results=tuple(
            replace(result, target=result.rank in useful) for result in whole.results
        ),
        targets=_fates(pair, np.flatnonzero(counted).tolist(), why),
        sought=why.targets,
        found=why.found,
        notes=_note_unknown_ids(truth, pair.as_read[1]),
    )


def _meets_by_id(truth: GroundTruth, run: Run) -> bool:
    """Whether targets are ids, and a result of any question has one of them."""
    if truth.kinds != {"item"}:
        return False
    ids = truth.targets["item"].unique().implode()
    frames = (frame for frame in run.scan() if "item" in frame.columns)
    return any(frame["item"].is_in(ids).any() for frame in frames)


def _known(truth: GroundTruth, asked: str) -> GroundTruth | None:
    """The ground truth of one question, found by its id or text; None if it has none."""
    for name in ("query", "text"):
        found = (truth.queries[name] == asked).fill_null(False)
        if found.any():
            return truth.only(pl.Series(np.arange(len(found)) == found.arg_max()))
    return None


def _nearest(truth: GroundTruth | None, asked: str) -> str:
    """Suggest a similar question of the ground truth, unless that is large."""
    if truth is None or truth.n_queries > MOST_ALIKE:
        return ""
    texts = truth.queries.select(pl.coalesce("text", "query")).to_series().to_list()
    return did_you_mean(asked, texts).replace("??", "?")


def _only(run: Run, query: str) -> Run:
    """The run of one query, read batch by batch."""
    asked = run.queries
    return Run.from_frame(
        pl.concat([frame.filter(pl.col("query") == query) for frame in run.scan()]),
        order=run.order,
        ties=run.ties,
        queries=None if asked is None else asked.filter(pl.col("query") == query),
        name=run.name,
        stages={name: _only(stage, query) for name, stage in run.stages.items()},
    )


def _recorded_error(run: Run) -> str | None:
    """The error that a run of one query recorded for it, if any."""
    queries = run.queries
    if queries is None or "error" not in queries.columns or queries.is_empty():
        return None
    error: str | None = queries["error"][0]
    return error


def _results(run: Run, k: int) -> tuple[ShownResult, ...]:
    return tuple(
        ShownResult(
            rank=rank,
            id=row.get("item"),
            score=row.get("score"),
            text=None if row.get("text") is None else row["text"][:CUT],
            target=None,
        )
        for rank, row in enumerate(run.first(k).iter_rows(named=True), 1)
    )


def _fates(pair: Matched, counted: list[int], why: Misses) -> tuple[TargetFate, ...]:
    """Each target with its rank or reason; missed alternatives share one reason."""
    rank = best_ranks(pair.matches).tolist()
    rows = pair.targets.to_dicts()
    unit = pair.matches.target_unit.tolist()
    known = zip(why.numbers.tolist(), why.table["reason"], why.table["near"], strict=True)
    reasons = {unit[target]: (reason, near) for target, reason, near in known}
    return tuple(
        TargetFate(
            name=_name(rows[at]),
            grade=rows[at]["grade"],
            rank=None if rank[at] == NEVER else rank[at],
            found=rank[at] <= why.k,
            reason=reasons.get(unit[at], (None, None))[0],
            near=reasons.get(unit[at], (None, None))[1],
        )
        for at in counted
    )


def _name(row: Mapping[str, object]) -> str:
    """The id or the quote of a target, or where it stands."""
    name = row["item"] or row["quote"]
    place = f"{row['document']}, characters {row['start']} to {row['end']}"
    return str(name or place)[:CUT]


def _note_unknown_ids(truth: GroundTruth, run: Run) -> tuple[str, ...]:
    """A note if no result has an id that occurs anywhere in the ground truth."""
    items = truth.targets["item"].drop_nulls()
    frame = run.frame
    returned = frame["item"].drop_nulls() if "item" in frame.columns else items.clear()
    if (
        not items.len()
        or not returned.len()
        or returned.is_in(items.unique().implode()).any()
    ):
        return ()
    reason = likely_reason(returned.to_list(), items.unique().to_list())
    return (
        sentence(
            "No id that came back, such as {returned.text}, stands anywhere in the ground truth, "
            "which has ids such as {wanted.text}. {reason.text}",
            returned=named(f"{returned[0]!r:.60}"),
            wanted=named(f"{items[0]!r:.60}"),
            reason=named(reason),
        ),
    )


def _note_on_spelling(targets: Sequence[TargetFate], said: str | None) -> tuple[str, ...]:
    """What ``--map-ids`` takes for targets that are there under another id; ``said`` says some."""
    near = {target.near: target.name for target in targets if target.near is not None}
    rule = likely_rule([*near], [*near.values()], said) if near else None
    if rule is None:
        return ()
    other, name = next(iter(near.items()))
    return (
        sentence(
            "{other.text} is {name.text} in another spelling. {rule.text}",
            other=named(f"{other!r:.60}"),
            name=named(f"{name!r:.60}"),
            rule=named(rule),
        ),
    )


def document(explanation: Explanation) -> Document:
    """The targets with their ranks or the reasons why they are missing, and the results."""
    return Document(
        _verdict(explanation),
        blocks=[
            *([_targets(explanation)] if explanation.targets else []),
            *([_listed(explanation)] if explanation.results else []),
        ],
        notes=[*explanation.notes],
        rows=lambda: explanation.results,
    )


def _verdict(explanation: Explanation) -> str:
    """The outcome in one line."""
    took = sentence("")
    if explanation.latency_ms is not None:
        took = sentence(" ({it.text})", it=named(f"{explanation.latency_ms:.0f} ms"))
    if explanation.error is not None:
        return sentence(
            "The retriever failed on this question: {error.text}",
            error=named(printable(explanation.error, CUT)),
        )
    if not explanation.results:
        return sentence(
            "{who.text} returned nothing{took}.",
            who=named(explanation.retriever),
            took=took,
        )
    if not explanation.targets:
        what = (
            "no answer exists"
            if explanation.id is not None
            else "nobody said what should be found"
        )
        return sentence(
            "{it.count:result|results}{took}; {what}.",
            it=Fact(about="count", count=len(explanation.results), text="results"),
            took=took,
            what=what,
        )
    at = ", ".join(str(target.rank) for target in explanation.targets if target.found)
    size = Fact(
        about="count", count=explanation.found, of=explanation.sought, k=explanation.k
    )
    first = first_results(explanation.k)
    if explanation.k > len(explanation.results):
        # The list ends before k.
        first = "results"
    if explanation.sought == 1 and not explanation.found:
        template = "Not found: the target is not in the {first}."
        return sentence(template, first=first, it=size)
    if explanation.sought == 1:
        template = "Found: the target is in the {first} (rank {at.text})."
        return sentence(template, first=first, at=named(at), it=size)
    return sentence(
        "{it.count} of {it.of:target|targets} {verb} in the {first}{where}.",
        it=size,
        verb="is" if explanation.found == 1 else "are",
        first=first,
        where=sentence(" (rank {at.text})", at=named(at)) if at else "",
    )


def _targets(explanation: Explanation) -> Table:
    """The table of targets; names are wrapped, not cut, so that an id can be copied."""
    known = {reason.name: (reason.means, reason.remedy) for reason in REASONS}
    # For a target that was not returned, only the corpus can explain more.
    known["not_returned"] = (
        known["not_returned"][0],
        "give --corpus to see where it was lost",
    )
    rows: list[Cells] = []
    for target in explanation.targets:
        other = ("" if target.found else "an alternative was found", "")
        rank = "" if target.rank is None else str(target.rank)
        means, remedy = known.get(target.reason or "", other)
        if target.near is not None:
            means = f"{means}: {printable(target.near)}"
        rows.append((printable(target.name), rank, means, remedy))
    columns: Heads = (
        Column("target", prose=True),
        "rank",
        Column("why it is missing", prose=True),
        Column("what to do", prose=True),
    )
    return Table(columns, rows)


def _listed(explanation: Explanation) -> Table:
    rows: list[Cells] = [
        (
            Cell(str(result.rank), "passed" if result.target else None),
            "" if result.id is None else printable(result.id),
            "" if result.score is None else f"{result.score:.3f}",
            "" if result.text is None else printable(" ".join(result.text.split()), CUT),
        )
        for result in explanation.results
    ]
    return Table(
        ("rank", Column("id", prose=True), "score", Column("text", words=True)), rows
    )
