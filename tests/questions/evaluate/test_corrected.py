"""A machine's scores corrected by people, through the public operation."""

from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.statistics.prediction_powered import corrected_mean

N = 60
DRAWN: dict[str, Any] = {"sampled": "at-random"}


def drawn(rng, wrong=0.3):
    """A run, what people would say of all queries, and a machine that is too generous."""
    run = {f"q{i}": ["a", "b"] for i in range(N)}
    truth = {q: {"a" if rng.random() < 0.5 else "b": 1} for q in run}
    machine = {q: {"a": 1} if rng.random() < wrong else dict(found) for q, found in truth.items()}
    return run, truth, machine


def test_each_metric_is_the_kernel_on_values_put_in_line():
    run, truth, machine = drawn(np.random.default_rng(1))
    sample = dict(reversed(list(truth.items())[:20]))
    found = calipers.corrected(ground_truth=machine, run=run, people=sample, metrics="mrr", **DRAWN)
    by_machine = calipers.evaluate(ground_truth=machine, run=run, metrics="mrr").of("mrr")
    by_people = np.full(N, np.nan)
    by_people[:20] = [1.0 if "a" in truth[f"q{i}"] else 0.5 for i in range(20)]
    expected = corrected_mean(by_machine, by_people)
    one = found["mrr"]
    assert (one.value, one.weight, one.machine) == (
        expected.value,
        expected.weight,
        expected.machine,
    )
    assert (one.interval.low, one.interval.high) == expected.interval
    assert (found.queries, found.sampled, one.sampled) == (N, 20, 20)


def test_what_cannot_be_corrected_is_said():
    run, truth, machine = drawn(np.random.default_rng(3))
    settings = {"ground_truth": machine, "run": run, "metrics": "mrr", **DRAWN}
    with pytest.raises(InvalidInput, match="1 query that the machine did not, such as 'other'"):
        calipers.corrected(people={**truth, "other": {"a": 1}}, **settings)
    with pytest.raises(InvalidInput, match="No metric can be corrected"):
        calipers.corrected(people={"q0": truth["q0"]}, **settings)


def test_clusters_are_refused():
    records = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a"], "tags": {"intent": "x"}}]
    with pytest.raises(InvalidInput, match="counts every query as one"):
        calipers.corrected(records, people=records, cluster="intent", **DRAWN)
