"""Asking one question, and looking at what came back as ``misses`` looks at many."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.tables.columns import Columns
from calipers.live.adapters.base import Question
from calipers.live.retrieve import ask_once
from calipers.match.notes import likely_reason
from calipers.match.pair import match_pair
from calipers.measures.views import NEVER
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run
from calipers.questions.asking import below
from calipers.questions.misses.reasons import best_ranks
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.misses.rule import explain_misses
from calipers.questions.seal.rule import part_of
from calipers.words import did_you_mean


@dataclass(frozen=True)
class ShownResult:
    """One result, in the order of the retriever."""

    rank: int
    id: str | None
    score: float | None
    text: str | None
    """Its beginning."""
    target: bool | None
    """Whether it holds a target; None where nobody said what is one."""


@dataclass(frozen=True)
class TargetFate:
    """One piece of ground truth: its rank, or why it is not in the first k."""

    name: str
    grade: float
    rank: int | None
    found: bool
    """Whether it stands in the first k."""
    reason: str | None = None
    """One of the reasons of ``misses``; None where it was found, or an alternative to it."""

    @property
    def means(self) -> str:
        """The reason in words."""
        return next((one.means for one in REASONS if one.name == self.reason), "")

    @property
    def remedy(self) -> str:
        """What to do about it; of one that was not returned, only the corpus may tell more."""
        if self.reason == "not_returned":
            return "give --corpus to see where it was lost"
        return next((one.remedy for one in REASONS if one.name == self.reason), "")


@dataclass(frozen=True, repr=False)
class Explanation(Plain, HasRows):
    """What a retriever returned for one question, and why targets are not among it."""

    shown_by: ClassVar[str] = "calipers.questions.explain.document"

    question: str
    id: str | None
    """The id of the question in the ground truth; None where that does not have it."""
    retriever: str
    k: int
    latency_ms: float | None
    results: tuple[ShownResult, ...]
    targets: tuple[TargetFate, ...]
    sought: int
    """Targets that should be found; alternatives for one another count as one."""
    found: int
    """Those of them in the first k."""
    notes: tuple[str, ...]

    @property
    def table(self) -> pl.DataFrame:
        """The results as rows."""
        schema: dict[str, Any] = {
            "rank": pl.Int64,
            "id": pl.String,
            "score": pl.Float64,
            "text": pl.String,
            "target": pl.Boolean,
        }
        return pl.DataFrame([vars(one) for one in self.results], schema=schema)


CUT = 200
"""Characters of a text that are kept."""
MOST_ALIKE = 5_000
"""Questions among which the nearest one is looked for."""


def explain_question(
    asked: str,
    retriever: Any,
    ground_truth: Any,
    *,
    k: int,
    corpus: Any,
    match: str | None,
    map_ids: str | None,
    columns: Any,
    timeout: float | None,
    options: Any,
) -> Explanation:
    """Ask one question, and say of every target its rank or why it is missing."""
    if not asked.strip():
        raise InvalidInput("The question is empty; give the words that the retriever is asked.")
    said = Columns.of(columns)
    truth = None
    if ground_truth is not None:
        truth = load(ground_truth, "ground_truth", None, said).ground_truth
        said.check_used()
    known = None if truth is None else _known(truth, asked)
    question = Question(asked, asked) if known is None else _question(known)
    found, name, latency = ask_once(retriever, question, below(k), timeout, options)
    results = _results(found, k)
    notes: list[str] = []
    targets: tuple[TargetFate, ...] = ()
    sought = in_k = 0
    if known is not None and truth is not None:
        policy = Policy(nothing_in_common="zero")
        pair = match_pair(known, found, Matching(match=match, policy=policy, map_ids=map_ids))
        matches, rank = pair.matches, best_ranks(pair.matches)
        counted = matches.relevant(pair.rel)
        useful = set(matches.edge_rank[counted[matches.edge_target]].tolist())
        results = tuple(replace(one, target=one.rank in useful) for one in results)
        why = explain_misses(pair, k, corpus=corpus)
        sought, in_k = why.targets, why.found
        targets = _fates(pair, rank.tolist(), np.flatnonzero(counted).tolist(), why)
        notes += _strangers(truth, found)
    elif truth is not None:
        texts = truth.queries.select(pl.coalesce("text", "query")).to_series()
        near = did_you_mean(asked, texts.to_list()) if texts.len() <= MOST_ALIKE else ""
        notes.append(
            "The ground truth does not have this question, so nothing is judged."
            + near.replace("??", "?")
        )
    return Explanation(
        question=question.text,
        id=None if known is None else question.id,
        retriever=name,
        k=k,
        latency_ms=latency,
        results=results,
        targets=targets,
        sought=sought,
        found=in_k,
        notes=tuple(notes),
    )


def _known(truth: GroundTruth, asked: str) -> GroundTruth | None:
    """The part of the ground truth that is about the question, by its id or its text."""
    queries = truth.queries
    for name in ("query", "text"):
        mask = (queries[name] == asked).fill_null(False).to_numpy()
        if mask.any():
            first = np.zeros_like(mask)
            first[int(mask.argmax())] = True
            return part_of(truth, first)
    return None


def _question(known: GroundTruth) -> Question:
    name, text = known.queries.select("query", "text").row(0)
    return Question(name, text or name)


def _results(found: Run, k: int) -> tuple[ShownResult, ...]:
    frame = found.kept().frame
    rows = frame.sort("rank").head(k).iter_rows(named=True)
    return tuple(
        ShownResult(
            rank=row["rank"],
            id=row.get("item"),
            score=row.get("score"),
            text=None if row.get("text") is None else row["text"][:CUT],
            target=None,
        )
        for row in rows
    )


def _fates(
    pair: Matched, rank: list[int], counted: list[int], why: Misses
) -> tuple[TargetFate, ...]:
    """Each target; of alternatives that were all missed, one has the reason of them all."""
    rows, unit = pair.targets.to_dicts(), pair.matches.target_unit.tolist()
    reason_of = {_key(row): row["reason"] for row in why.table.iter_rows(named=True)}
    reasons = {unit[at]: reason_of[_key(rows[at])] for at in counted if _key(rows[at]) in reason_of}
    return tuple(
        TargetFate(
            name=_name(rows[at]),
            grade=rows[at]["grade"],
            rank=None if rank[at] == NEVER else rank[at],
            found=rank[at] <= why.k,
            reason=reasons.get(unit[at]),
        )
        for at in counted
    )


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("item", "quote", "document", "start", "end"))


def _name(row: Mapping[str, Any]) -> str:
    name = row["item"] or row["quote"]
    return (name or f"{row['document']}, characters {row['start']} to {row['end']}")[:CUT]


def _strangers(truth: GroundTruth, found: Run) -> list[str]:
    """A word where no result has an id that the ground truth knows for any question."""
    items = truth.targets["item"].drop_nulls()
    if not items.len() or "item" not in found.kept().frame.columns:
        return []
    returned = found.kept().frame["item"].drop_nulls()
    if not returned.len() or returned.is_in(items.unique().implode()).any():
        return []
    return [
        f"No id that came back, such as {returned[0]!r:.60}, stands anywhere in the ground truth, "
        f"which has ids such as {items[0]!r:.60}. "
        f"{likely_reason(returned.to_list(), items.unique().to_list())}"
    ]
