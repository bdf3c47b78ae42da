"""A world: questions, what each system returned, and what is true of them, in plain Python."""

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

Ranking = Sequence[str]
WEIGHT = "times"
"""The tag that says how often a question was asked."""
CLUSTER = "intent"
"""The tag that questions with one meaning share."""
UNKNOWN = ("recall", "ndcg")
"""What nobody knows where only returned rows were judged."""


@dataclass(frozen=True)
class Question:
    """A question with what should be found for it."""

    id: str
    targets: tuple[str, ...]
    tags: Mapping[str, str | float] = field(default_factory=dict)
    grades: Mapping[str, float] = field(default_factory=dict)
    """The grades of targets that have another than 1, and of what was judged as not relevant."""

    def grade(self, item: str) -> float:
        """What an item is worth; 0 where nothing is known of it."""
        return self.grades.get(item, 1.0 if item in self.targets else 0.0)


@dataclass(frozen=True)
class World:
    """Questions, and the ranking of each system for each of them."""

    name: str
    questions: tuple[Question, ...]
    systems: Mapping[str, Mapping[str, Ranking]]
    scores: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The scores of the first system's results by question, where it has scores."""
    named: str | None = None
    """What the first line of `diagnose` must name, where a fault was planted."""
    judged_rows: bool = False
    """Whether only returned rows were judged, in a table of results with a verdict each."""
    weighted: bool = False
    """Whether a mean counts each question as often as it was asked."""

    def file(self, system: str) -> str:
        """The file with what a system returned."""
        return f"{system}.csv" if self.judged_rows else f"{system}.jsonl"

    def write(self, folder: Path) -> None:
        """One file for each system, with the ground truth in it, and the ground truth alone."""
        if self.judged_rows:
            for system in self.systems:
                self._write_rows(folder / self.file(system), system)
            return
        rows = [self._row(question) for question in self.questions]
        _lines(folder / "truth.jsonl", rows)
        first = next(iter(self.systems))
        for system, rankings in self.systems.items():
            lines = []
            for question, row in zip(self.questions, rows, strict=True):
                results: list[Any] = list(rankings[question.id])
                if system == first and question.id in self.scores:
                    pairs = zip(results, self.scores[question.id], strict=True)
                    results = [{"id": item, "score": score} for item, score in pairs]
                lines.append({**row, "retrieved": results})
            _lines(folder / self.file(system), lines)

    def _row(self, question: Question) -> dict[str, Any]:
        row: dict[str, Any] = {"id": question.id, "query": f"Where is {question.id} kept?"}
        row["ground_truth"] = list(question.targets)
        if question.grades:
            every = dict.fromkeys([*question.targets, *question.grades])
            row["ground_truth"] = [{"id": item, "grade": question.grade(item)} for item in every]
        return {**row, "tags": dict(question.tags)} if question.tags else row

    def _write_rows(self, path: Path, system: str) -> None:
        """A table of what one system returned, with a verdict on each row."""
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["question", "doc_id", "rank", "is_relevant"])
            for question in self.questions:
                for rank, item in enumerate(self.systems[system][question.id], 1):
                    is_relevant = int(item in question.targets)
                    rows.writerow([question.id, item, rank, is_relevant])

    def value(self, system: str, metric: str, question: Question) -> float | None:
        """A metric of one question, by its definition; None where it is undefined."""
        kind, _, cut = metric.partition("@")
        relevant = [item for item in question.targets if question.grade(item) > 0]
        if self.judged_rows:
            if kind in UNKNOWN:
                return None
        elif not relevant:
            return None
        ranking = list(self.systems[system][question.id])
        k = int(cut) if cut else len(ranking)
        ranks = [at for at, item in enumerate(ranking[:k], 1) if item in relevant]
        if kind == "recall":
            return len(ranks) / len(relevant)
        if kind == "hit_rate":
            return float(bool(ranks))
        if kind == "precision":
            return len(ranks) / k
        if kind == "mrr":
            return 1.0 / ranks[0] if ranks else 0.0
        if kind == "ndcg":
            return _ndcg(question, ranking, k)
        raise KeyError(metric)

    def values(self, system: str, metric: str, where: str | None = None) -> list[float]:
        """The values of the questions that have one, of a slice if that is named."""
        chosen = [one for one in self.questions if where is None or _within(one, where)]
        values = (self.value(system, metric, one) for one in chosen)
        return [value for value in values if value is not None]

    def mean(self, system: str, metric: str, where: str | None = None) -> float:
        """The mean of those values, by how often each question was asked if that counts."""
        total = 0.0
        weights = 0.0
        for question in self.questions:
            value = self.value(system, metric, question)
            if value is None or (where is not None and not _within(question, where)):
                continue
            weight = float(question.tags[WEIGHT]) if self.weighted else 1.0
            total += weight * value
            weights += weight
        return total / weights if weights else math.nan

    def moved(self, old: str, new: str, metric: str) -> tuple[int, int]:
        """How many questions got better and how many worse."""
        pairs = zip(self.values(old, metric), self.values(new, metric), strict=True)
        changes = [after - before for before, after in pairs]
        return (sum(one > 1e-12 for one in changes), sum(one < -1e-12 for one in changes))

    def turned(self, system: str) -> "World":
        """The world in which every list of a system is turned round."""
        lists = {query: list(reversed(one)) for query, one in self.systems[system].items()}
        return replace(self, systems={**self.systems, system: lists})

    def within(self, where: str | None) -> "World":
        """The world of the questions with a tag, if that is named."""
        chosen = [one for one in self.questions if where is None or _within(one, where)]
        return replace(self, questions=tuple(chosen))

    @cached_property
    def unanswerable(self) -> int:
        """Questions for which nothing is to be found."""
        return sum(not any(map(one.grade, one.targets)) for one in self.questions)


def _ndcg(question: Question, ranking: Ranking, k: int) -> float:
    """The discounted grades of the first k over those of the best order of all targets."""
    grades = sorted((question.grade(item) for item in question.targets), reverse=True)
    gain = math.fsum(
        question.grade(item) / math.log2(rank + 1) for rank, item in enumerate(ranking[:k], 1)
    )
    most = math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))
    return gain / most


def _within(question: Question, where: str) -> bool:
    tag, _, value = where.partition("=")
    return str(question.tags.get(tag)) == value


def _lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
