"""Runs one tool on one input, in a process of its own; only that tool is imported.

``worker.py TOOL files GROUND_TRUTH RUN`` prints the means as JSON;
``worker.py TOOL memory MAPPINGS TIMES`` prints also the quickest of several calls. It imports
nothing of ours for a peer, whose Python need not have it.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path
from typing import Any

Means = dict[str, float]

TREC_MEASURES = (
    "map",
    "P.1,5,10,100",
    "recall.1,5,10,100,1000",
    "ndcg",
    "ndcg_cut.5,10,100",
    "recip_rank",
    "success.1,5,10",
    "Rprec",
    "bpref",
    "map_cut.10,100",
)
FEW = ("map", "ndcg_cut_10", "P_10", "recall_100", "recip_rank")


def written_out(measures: tuple[str, ...]) -> list[str]:
    """One name per cut-off, as trec_eval prints them.

    >>> written_out(("map", "P.1,5"))
    ['map', 'P_1', 'P_5']
    """
    names = []
    for measure in measures:
        name, _, cutoffs = measure.partition(".")
        names += [f"{name}_{k}" for k in cutoffs.split(",")] if cutoffs else [name]
    return names


MANY = tuple(written_out(TREC_MEASURES))
PEER_NAMES = {
    "map": ("AP", "map"),
    "map_cut": ("AP", "map"),
    "P": ("P", "precision"),
    "recall": ("R", "recall"),
    "ndcg": ("nDCG", "ndcg"),
    "ndcg_cut": ("nDCG", "ndcg"),
    "recip_rank": ("RR", "mrr"),
    "success": ("Success", "hit_rate"),
    "Rprec": ("Rprec", "r-precision"),
    "bpref": ("Bpref", "bpref"),
}
"""What ir_measures and ranx call the metrics of trec_eval."""
IR_MEASURES, RANX = 0, 1


def translated(metric: str, peer: int) -> str:
    name, _, cutoff = metric.rpartition("_")
    return f"{PEER_NAMES[name][peer]}@{cutoff}" if cutoff.isdigit() else PEER_NAMES[metric][peer]


def calipers_memory(
    judged: Any, run: Any, metrics: Sequence[str], *, intervals: bool = False
) -> Means:
    import calipers

    scores = calipers.evaluate(ground_truth=judged, run=run, metrics=metrics)
    summaries = list(scores.summaries.values())
    assert not intervals or all(one.interval for one in summaries)
    return {m: one.mean or 0.0 for m, one in zip(metrics, summaries, strict=True)}


def calipers_intervals_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    return calipers_memory(judged, run, metrics, intervals=True)


def calipers_as_table_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    """As if there were no path of its own for mappings: they become a table, which is matched."""
    from calipers.match import by_id

    by_id.look_up = lambda *_: None
    return calipers_memory(judged, run, metrics, intervals=True)


def pytrec_eval_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import pytrec_eval

    names = {
        m.rpartition("_")[0] + "." + m.rpartition("_")[2] if m[-1].isdigit() else m for m in metrics
    }
    values = pytrec_eval.RelevanceEvaluator(judged, names).evaluate(run).values()
    return {metric: sum(one[metric] for one in values) / len(values) for metric in metrics}


def ir_measures_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ir_measures

    measures = {m: ir_measures.parse_measure(translated(m, IR_MEASURES)) for m in metrics}
    means = ir_measures.calc_aggregate(list(measures.values()), judged, run)
    return {metric: means[measure] for metric, measure in measures.items()}


def ranx_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ranx

    return _ranx(ranx.Qrels(judged), ranx.Run(run), metrics)


def by_hand_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    return evaluate_by_hand(judged, run, metrics)


def pytrec_eval_files(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import pytrec_eval

    with Path(judged).open() as judged_file, Path(run).open() as run_file:
        grades, scores = pytrec_eval.parse_qrel(judged_file), pytrec_eval.parse_run(run_file)
    return pytrec_eval_memory(grades, scores, metrics)


def ir_measures_files(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ir_measures

    return ir_measures_memory(
        list(ir_measures.read_trec_qrels(judged)), ir_measures.read_trec_run(run), metrics
    )


def ranx_files(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ranx

    return _ranx(
        ranx.Qrels.from_file(judged, kind="trec"), ranx.Run.from_file(run, kind="trec"), metrics
    )


def by_hand_files(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    return evaluate_by_hand(read_judgements(judged), read_run(run), metrics)


def _ranx(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ranx

    names = {metric: translated(metric, RANX) for metric in metrics}
    means = ranx.evaluate(judged, run, list(names.values()))
    return {metric: float(means[name]) for metric, name in names.items()}


# The loops that people write by hand: one query, one metric, one result at a time.

Grade = dict[str, int]
Grades = dict[str, Grade]
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


def evaluate_by_hand(judged: Grades, run: Scores, metrics: Sequence[str]) -> Means:
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


def precision(ranking: list[str], grades: Grade, k: int | None) -> float:
    return sum(grades.get(item, 0) > 0 for item in ranking[:k]) / (k or len(ranking))


def recall(ranking: list[str], grades: Grade, k: int | None) -> float:
    relevant = sum(grade > 0 for grade in grades.values())
    return sum(grades.get(item, 0) > 0 for item in ranking[:k]) / relevant if relevant else 0.0


def success(ranking: list[str], grades: Grade, k: int | None) -> float:
    return float(any(grades.get(item, 0) > 0 for item in ranking[:k]))


def reciprocal_rank(ranking: list[str], grades: Grade, k: int | None) -> float:
    for rank, item in enumerate(ranking, 1):
        if grades.get(item, 0) > 0:
            return 1 / rank
    return 0.0


def average_precision(ranking: list[str], grades: Grade, k: int | None) -> float:
    relevant = sum(grade > 0 for grade in grades.values())
    hits = total = 0.0
    for rank, item in enumerate(ranking[:k], 1):
        if grades.get(item, 0) > 0:
            hits += 1
            total += hits / rank
    return total / relevant if relevant else 0.0


def ndcg(ranking: list[str], grades: Grade, k: int | None) -> float:
    gains = [max(grades.get(item, 0), 0) for item in ranking[:k]]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    ideal = sum(gain / log2(rank + 1) for rank, gain in enumerate(best, 1))
    return (
        sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1)) / ideal if ideal else 0.0
    )


def r_precision(ranking: list[str], grades: Grade, k: int | None) -> float:
    relevant = sum(grade > 0 for grade in grades.values())
    return precision(ranking, grades, relevant) if relevant else 0.0


def bpref(ranking: list[str], grades: Grade, k: int | None) -> float:
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


VALUES: dict[str, Callable[[list[str], Grade, int | None], float]] = {
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


def quickest(call: Callable[[], Means], times: int) -> dict[str, Any]:
    means = call()
    took = []
    for _ in range(times):
        started = time.perf_counter(), time.process_time()
        call()
        took.append((time.perf_counter() - started[0], time.process_time() - started[1]))
    seconds, cpu_seconds = map(min, zip(*took, strict=True))
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "means": means}


def main(tool: str, task: str, *arguments: str) -> None:
    function = globals()[f"{tool.replace(' ', '_').replace('loops_', '')}_{task}"]
    if task == "files":
        print(json.dumps({"means": function(*arguments, MANY)}))
        return
    path, times = arguments
    content = json.loads(Path(path).read_text())
    judged, run = content["ground_truth"], content["run"]
    print(json.dumps(quickest(lambda: function(judged, run, FEW), int(times))))


if __name__ == "__main__":
    main(*sys.argv[1:])
