"""Per query, our numbers are those of trec_eval: on our own seeded data, and on NIST's."""

# mypy: disable-error-code="arg-type"

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import calipers
from calipers.measures import Metric, parse
from calipers.model.arrays import Floats

PARITY = Path(__file__).parent / "data" / "parity"
NIST = Path(__file__).parents[2] / "shared" / "data" / "trec_eval_test"

# Measures of trec_eval that have no counterpart here, some with a number after the name.
NOT_OURS = {
    "G",
    "Rprec_mult",
    "Rndcg",
    "binG",
    "gm_bpref",
    "gm_map",
    "infAP",
    "ndcg_rel",
    "num_nonrel_judged_ret",
    "num_q",
    "set_map",
    "set_relative_P",
    "utility",
    "yaap",
}


def ours(measure: str, like: str = "trec_eval") -> Metric | None:
    """Our metric for a measure of trec_eval under its own name, None where there is none."""
    if measure.rstrip("0123456789.").rstrip("_") in NOT_OURS:
        return None
    [metric] = parse([measure], like=like)
    return metric


def of_each_query(scores: calipers.Scores) -> dict[str, dict[str, float]]:
    return {row["query"]: row for row in scores.per_query.iter_rows(named=True)}


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("given_at", ["evaluate", "each metric"])
def test_parity_to_nine_digits(rel: int, given_at: str) -> None:
    expected = json.loads((PARITY / "expected.json").read_text())[f"threshold_{rel}"]
    names = next(iter(expected.values()))
    plain = {name: metric for name in names if (metric := ours(name))}
    shared = list(plain)
    assert (len(shared), len(names)) == (45, 47)
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
        ground_truth=PARITY / "qrels.txt",
        run=PARITY / "run.txt",
        metrics="mrr",
        rel=rel,
        like="trec_eval",
    )
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


VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "out.test.aq": ("qrels.test", "results.test", {"like": "trec_eval"}),
    "out.test.aqc": ("qrels.test", "results.trunc", {"like": "trec_eval", "missing": "zero"}),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"like": "trec_eval", "missing": "zero"}),
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
    rel = settings.get("rel")
    metrics = {
        name: metric.with_rel(rel)
        for name in expected["all"]
        if (metric := ours(name, settings["like"]))
    }
    assert len(metrics) >= 76
    scores = calipers.evaluate(
        ground_truth=NIST / judgements, run=run, metrics=list(metrics.values()), **settings
    )
    assert scores.audit.queries == expected["all"]["num_q"]
    found = of_each_query(scores)
    for query, values in expected.items():
        for name, metric in metrics.items():
            if query == "all":
                value = of_all(scores.of(str(metric)), metric)
            else:
                value = found[query][str(metric)]
            assert math.isclose(value, values[name], abs_tol=0.000051), (query, name, value)


def of_all(values: Floats, metric: Metric) -> float:
    """The one number for all queries."""
    defined = values[~np.isnan(values)]
    return float(defined.sum() if metric.definition.aggregate == "sum" else defined.mean())


def test_the_smallest_examples_of_rank_biased_precision() -> None:
    """By hand: p is 0.9 in trec_eval, and grades are divided by the best one of their query."""
    truth = {"judged": {"a": 1}, "open": {"a": 2, "b": 1}, "missing": {"a": 1}}
    run = {"judged": ["a"], "open": ["b", "x", "a"]}
    scores = calipers.evaluate(
        ground_truth=truth, run=run, metrics="rbp,rbp_resid", like="trec_eval", missing="zero"
    )
    found = of_each_query(scores)
    rbp, residual = scores
    assert found["judged"][rbp] == pytest.approx(0.1)
    assert found["open"][rbp] == pytest.approx(0.1 * (1 / 2 + 0.81))
    assert found["missing"][rbp] == 0
    # Where every result is judged, trec_eval counts nothing below the last one.
    assert found["judged"][residual] == found["missing"][residual] == 0
    assert found["open"][residual] == pytest.approx(0.1 * 0.9 + 0.9**3)


def first_hundred(path: Path) -> calipers.Run:
    """The run as ``trec_eval -M100`` sees it."""
    from calipers.io.load import load

    run = load(path, "run").run
    assert run is not None
    cut = run.frame.filter(pl.col("rank") <= 100)
    return calipers.Run.from_frame(cut.drop("rank"), order="score", ties="trec")
