"""Runs one tool on one input, in a process of its own; only that tool is imported.

``worker.py TOOL files GROUND_TRUTH RUN`` prints the means as JSON;
``worker.py TOOL memory MAPPINGS TIMES`` prints also the quickest of several calls. It imports
nothing of ours for a peer, whose Python need not have it.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
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
IR_NAMES = {
    "map": "AP",
    "map_cut": "AP",
    "P": "P",
    "recall": "R",
    "ndcg": "nDCG",
    "ndcg_cut": "nDCG",
    "recip_rank": "RR",
    "success": "Success",
    "Rprec": "Rprec",
    "bpref": "Bpref",
}
RANX_NAMES = {
    "map": "map",
    "map_cut": "map",
    "P": "precision",
    "recall": "recall",
    "ndcg": "ndcg",
    "ndcg_cut": "ndcg",
    "recip_rank": "mrr",
    "success": "hit_rate",
    "Rprec": "r-precision",
    "bpref": "bpref",
}


def translated(metric: str, names: dict[str, str]) -> str:
    name, _, cutoff = metric.rpartition("_")
    return f"{names[name]}@{cutoff}" if cutoff.isdigit() else names[metric]


def calipers_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import calipers

    scores = calipers.evaluate(ground_truth=judged, run=run, metrics=metrics)
    means = [summary.mean or 0.0 for summary in scores.summaries.values()]
    return dict(zip(metrics, means, strict=True))


def calipers_intervals_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import calipers

    scores = calipers.evaluate(ground_truth=judged, run=run, metrics=metrics)
    summaries = scores.summaries.values()
    assert all(summary.interval for summary in summaries)
    return {m: summary.mean or 0.0 for m, summary in zip(metrics, summaries, strict=True)}


def pytrec_eval_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import pytrec_eval

    names = {
        m.rpartition("_")[0] + "." + m.rpartition("_")[2] if m[-1].isdigit() else m for m in metrics
    }
    values = pytrec_eval.RelevanceEvaluator(judged, names).evaluate(run).values()
    return {metric: sum(one[metric] for one in values) / len(values) for metric in metrics}


def ir_measures_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ir_measures

    measures = {m: ir_measures.parse_measure(translated(m, IR_NAMES)) for m in metrics}
    means = ir_measures.calc_aggregate(list(measures.values()), judged, run)
    return {metric: means[measure] for metric, measure in measures.items()}


def ranx_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ranx

    return _ranx(ranx.Qrels(judged), ranx.Run(run), metrics)


def by_hand_memory(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    from bench.by_hand import evaluate

    return evaluate(judged, run, metrics)


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
    from bench.by_hand import evaluate, read_judgements, read_run

    return evaluate(read_judgements(judged), read_run(run), metrics)


def _ranx(judged: Any, run: Any, metrics: Sequence[str]) -> Means:
    import ranx

    names = {metric: translated(metric, RANX_NAMES) for metric in metrics}
    means = ranx.evaluate(judged, run, list(names.values()))
    return {metric: float(means[name]) for metric, name in names.items()}


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
