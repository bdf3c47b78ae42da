"""The loops that people write by hand: one query, one metric, one result at a time."""

from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path

Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def read_judgements(path: str) -> Grades:
    judged: Grades = {}
    with Path(path).open() as file:
        for line in file:
            query, _, item, grade = line.split()
            judged.setdefault(query, {})[item] = int(grade)
    return judged


def read_run(path: str) -> Scores:
    run: Scores = {}
    with Path(path).open() as file:
        for line in file:
            query, _, item, _, score, _ = line.split()
            run.setdefault(query, {})[item] = float(score)
    return run


def evaluate(judged: Grades, run: Scores, metrics: Sequence[str]) -> dict[str, float]:
    """The mean of each metric over all queries of the ground truth."""
    totals = dict.fromkeys(metrics, 0.0)
    for query, grades in judged.items():
        scores = run.get(query, {})
        ranking = sorted(scores, key=lambda item: (scores[item], item), reverse=True)
        for metric in metrics:
            name, _, cutoff = metric.rpartition("_")
            if not cutoff.isdigit():
                name, cutoff = metric, ""
            totals[metric] += VALUES[name](ranking, grades, int(cutoff) if cutoff else None)
    return {metric: total / len(judged) for metric, total in totals.items()}


def precision(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    return sum(grades.get(item, 0) > 0 for item in ranking[:k]) / (k or len(ranking))


def recall(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    relevant = sum(grade > 0 for grade in grades.values())
    return sum(grades.get(item, 0) > 0 for item in ranking[:k]) / relevant if relevant else 0.0


def success(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    return float(any(grades.get(item, 0) > 0 for item in ranking[:k]))


def reciprocal_rank(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    for rank, item in enumerate(ranking, 1):
        if grades.get(item, 0) > 0:
            return 1 / rank
    return 0.0


def average_precision(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    relevant = sum(grade > 0 for grade in grades.values())
    hits = total = 0.0
    for rank, item in enumerate(ranking[:k], 1):
        if grades.get(item, 0) > 0:
            hits += 1
            total += hits / rank
    return total / relevant if relevant else 0.0


def ndcg(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    gains = [max(grades.get(item, 0), 0) for item in ranking[:k]]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    ideal = sum(gain / log2(rank + 1) for rank, gain in enumerate(best, 1))
    return (
        sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1)) / ideal if ideal else 0.0
    )


def r_precision(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    relevant = sum(grade > 0 for grade in grades.values())
    return precision(ranking, grades, relevant) if relevant else 0.0


def bpref(ranking: list[str], grades: dict[str, int], k: int | None) -> float:
    relevant = sum(grade > 0 for grade in grades.values())
    irrelevant = len(grades) - relevant
    above = total = 0.0
    for item in ranking:
        if item in grades:
            if grades[item] > 0:
                total += 1 - min(above, relevant) / min(irrelevant, relevant) if above else 1
            else:
                above += 1
    return total / relevant if relevant else 0.0


VALUES: dict[str, Callable[[list[str], dict[str, int], int | None], float]] = {
    "P": precision,
    "recall": recall,
    "success": success,
    "recip_rank": reciprocal_rank,
    "map": average_precision,
    "map_cut": average_precision,
    "ndcg": ndcg,
    "ndcg_cut": ndcg,
    "Rprec": r_precision,
    "bpref": bpref,
}
