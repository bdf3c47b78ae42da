"""A world: questions, what each system returned, and what is true of them, in plain Python."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

Ranking = Sequence[str]


@dataclass(frozen=True)
class Question:
    """A question with what should be found for it."""

    id: str
    targets: tuple[str, ...]
    tags: Mapping[str, str] = field(default_factory=dict)


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

    def write(self, folder: Path) -> None:
        """One file for each system, with the ground truth in it, and the ground truth alone."""
        rows = [self._row(one) for one in self.questions]
        _lines(folder / "truth.jsonl", rows)
        for system, rankings in self.systems.items():
            first = system == next(iter(self.systems))
            found = []
            for question, row in zip(self.questions, rows, strict=True):
                results: list[Any] = list(rankings[question.id])
                if first and question.id in self.scores:
                    pairs = zip(results, self.scores[question.id], strict=True)
                    results = [{"id": one, "score": score} for one, score in pairs]
                found.append({**row, "retrieved": results})
            _lines(folder / f"{system}.jsonl", found)

    def _row(self, one: Question) -> dict[str, Any]:
        row: dict[str, Any] = {"id": one.id, "query": f"Where is {one.id} kept?"}
        row["ground_truth"] = list(one.targets)
        return {**row, "tags": dict(one.tags)} if one.tags else row

    def value(self, system: str, metric: str, question: Question) -> float | None:
        """A metric of one question, by its definition; None where nothing is to be found."""
        if not question.targets:
            return None
        kind, _, cut = metric.partition("@")
        ranking = list(self.systems[system][question.id])
        k = int(cut) if cut else len(ranking)
        ranks = [at for at, one in enumerate(ranking[:k], 1) if one in question.targets]
        if kind == "recall":
            return len(ranks) / len(question.targets)
        if kind == "hit_rate":
            return float(bool(ranks))
        if kind == "precision":
            return len(ranks) / k
        if kind == "mrr":
            return 1.0 / ranks[0] if ranks else 0.0
        if kind == "ndcg":
            gain = math.fsum(1.0 / math.log2(rank + 1) for rank in ranks)
            most = range(1, min(k, len(question.targets)) + 1)
            return gain / math.fsum(1.0 / math.log2(rank + 1) for rank in most)
        raise KeyError(metric)

    def values(self, system: str, metric: str, where: str | None = None) -> list[float]:
        """The values of the questions that have one, of a slice if that is named."""
        chosen = [one for one in self.questions if where is None or _within(one, where)]
        values = (self.value(system, metric, one) for one in chosen)
        return [value for value in values if value is not None]

    def mean(self, system: str, metric: str, where: str | None = None) -> float:
        """The mean of those values."""
        values = self.values(system, metric, where)
        return math.fsum(values) / len(values)

    def moved(self, old: str, new: str, metric: str) -> tuple[int, int]:
        """How many questions got better and how many worse."""
        pairs = zip(self.values(old, metric), self.values(new, metric), strict=True)
        changes = [after - before for before, after in pairs]
        return (sum(one > 1e-12 for one in changes), sum(one < -1e-12 for one in changes))

    def turned(self, system: str) -> "World":
        """The world in which every list of a system is turned round."""
        lists = {query: list(reversed(one)) for query, one in self.systems[system].items()}
        return replace(self, systems={**self.systems, system: lists})

    @cached_property
    def unanswerable(self) -> int:
        """Questions for which nothing is to be found."""
        return sum(not one.targets for one in self.questions)


def _within(one: Question, where: str) -> bool:
    tag, _, value = where.partition("=")
    return one.tags.get(tag) == value


def _lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
