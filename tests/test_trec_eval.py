"""Per query, our numbers are those of trec_eval: on our own seeded data, and on NIST's."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from calipers.measures import parse_one

PARITY = Path(__file__).parent / "data" / "parity"
NIST = Path(__file__).parents[2] / "shared" / "data" / "trec_eval_test"

# trec_eval's name for a measure, with ours where its spelling is not one that we read.
RENAMED = {
    "rbp": "rbp(p=0.9)",
    "rbp_resid": "rbp_residual(p=0.9)",
    "set_recall": "recall@100000",
    "num_rel_ret": "tp@100000",
    **{f"relative_P_{k}": f"capped_recall@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
}
FAMILIES = (
    "P_", "recall_", "map", "map_cut_", "ndcg", "ndcg_cut_", "Rprec", "bpref", "recip_rank",
    "success_",
)  # fmt: skip


def ours(measure: str) -> str | None:
    """Our name for a measure of trec_eval, None where it has no counterpart here."""
    if measure in RENAMED:
        return RENAMED[measure]
    stem = measure.rstrip("0123456789")
    return measure if stem in FAMILIES else None


def of_each_query(scores: calipers.Scores) -> dict[str, dict[str, float]]:
    return {row["query"]: row for row in scores.per_query.iter_rows(named=True)}


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("given_at", ["evaluate", "each metric"])
def test_parity_to_nine_digits(rel: int, given_at: str) -> None:
    expected = json.loads((PARITY / "expected.json").read_text())[f"threshold_{rel}"]
    shared = [name for name in next(iter(expected.values())) if ours(name)]
    assert len(shared) >= 29
    plain = {name: parse_one(str(ours(name))) for name in shared}
    metrics = {name: metric.with_rel(rel) for name, metric in plain.items()}
    found = of_each_query(
        calipers.evaluate(
            ground_truth=PARITY / "qrels.txt",
            run=PARITY / "run.txt",
            metrics=list((plain if given_at == "evaluate" else metrics).values()),
            rel=rel if given_at == "evaluate" else None,
            like="trec_eval",
        )
    )
    assert len(expected) == 57
    for query, values in expected.items():
        for name in shared:
            value = found[query][str(metrics[name])]
            assert value == pytest.approx(values[name], abs=1e-9), (query, name)
    # trec_eval says nothing about a query that the run does not have.
    for query in found.keys() - expected.keys():
        assert all(found[query][str(metric)] is None for metric in metrics.values())


@pytest.mark.parametrize("rel", [1, 2])
def test_parity_of_the_counts(rel: int) -> None:
    expected = json.loads((PARITY / "expected.json").read_text())[f"threshold_{rel}"]
    scores = calipers.evaluate(
        ground_truth=PARITY / "qrels.txt", run=PARITY / "run.txt", metrics="mrr", rel=rel,
        like="trec_eval",
    )  # fmt: skip
    found = of_each_query(scores)
    for query, values in expected.items():
        assert found[query]["targets"] == values["num_rel"]
        assert found[query]["retrieved"] == values["num_ret"]


def printed(name: str) -> dict[str, dict[str, float]]:
    """What trec_eval printed, by query and measure; ``all`` is the mean (or the sum of counts)."""
    values: dict[str, dict[str, float]] = {}
    for line in (NIST / name).read_text().splitlines():
        measure, query, value = line.split("\t")
        if measure.strip() not in ("runid",) and not measure.startswith("relstring"):
            values.setdefault(query, {})[measure.strip()] = float(value)
    return values


# Where the two mean different things by one name, and why.
DIFFERENT = {
    # The highest grade is that of the whole ground truth here, that of the query there; an item
    # of negative grade is judged here and not there.
    ("out.test.aql", "rbp"): None,
    ("out.test.aql", "rbp_resid"): None,
    # A query without results could still have everything added to it here; there it is 0.
    ("out.test.aqc", "rbp_resid"): ("302", "all"),
    ("out.test.aqcM", "rbp_resid"): ("302", "all"),
}

VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "out.test.aq": ("qrels.test", "results.test", {"like": "trec_eval"}),
    "out.test.aqc": ("qrels.test", "results.trunc", {"like": "trec_eval-c"}),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"like": "trec_eval-c"}),
    "out.test.aql": ("qrels.rel_level", "results.test", {"like": "trec_eval", "rel": 2}),
}


@pytest.mark.skipif(not NIST.is_dir(), reason="NIST's test files are not beside the repository")
@pytest.mark.parametrize("variant", VARIANTS)
def test_printed_by_trec_eval(variant: str) -> None:
    judgements, results, settings = VARIANTS[variant]
    run: object = NIST / results
    if variant.endswith("M"):
        run = first_hundred(NIST / results)
    expected = printed(variant)
    shared = [name for name in expected["all"] if ours(name)]
    assert len(shared) >= 52
    rel = settings.get("rel")
    metrics = {name: parse_one(str(ours(name))).with_rel(rel) for name in shared}
    scores = calipers.evaluate(
        ground_truth=NIST / judgements, run=run, metrics=list(metrics.values()), **settings
    )
    assert scores.audit.queries == expected["all"]["num_q"]
    found = of_each_query(scores)
    for query, values in expected.items():
        for name, metric in metrics.items():
            apart = DIFFERENT.get((variant, name), ())
            if apart is None or query in apart:
                continue
            if query == "all":
                mean = scores[str(metric)].mean
                assert mean is not None
                value = mean * len(scores) if name.startswith("num_") else mean
            else:
                value = found[query][str(metric)]
            assert math.isclose(value, values[name], abs_tol=0.000051), (query, name, value)


def first_hundred(path: Path) -> calipers.Run:
    """The run as ``trec_eval -M100`` sees it."""
    from calipers.io.load import load

    run = load(path, "run").run
    assert run is not None
    cut = run.frame.filter(pl.col("rank") <= 100)
    return calipers.Run.from_frame(cut.drop("rank"), order="score", ties="trec")
