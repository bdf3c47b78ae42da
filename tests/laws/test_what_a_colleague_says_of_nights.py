"""Nights as a colleague would judge them by eye: the first line of the alarm and its exit code."""

import json
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
import pytest

import calipers
from calipers.model.scores import Scores
from tests.command import calipers_command

RNG = np.random.default_rng(25)


def same(nights: int, n: int = 200) -> np.ndarray:
    return np.ones((nights, n))


def noisy(nights: int) -> np.ndarray:
    """A fifth of the queries is found every other night."""
    return np.where(np.arange(200) < 40, RNG.random((nights, 200)) < 0.5, 1.0)


def lost(values: np.ndarray, queries: int, last: int = 1) -> np.ndarray:
    values = values.copy()
    values[-last:, -1 - queries : -1] = 0.0
    return values


SITUATIONS = {
    "0.70 for 8 nights, 0.90 for 12, then 30 lost": (
        np.vstack([lost(same(8), 60, 8), lost(same(12), 20, 12), lost(same(1), 50)]),
        1,
        "✗ nightly got worse: recall@5 is 0.750, it was 0.900 since",
    ),
    "first night 0.50 by accident, 0.95 since, then 20 lost": (
        np.vstack([lost(same(1), 100), lost(same(9), 10, 9), lost(same(1), 30)]),
        1,
        "✗ nightly got worse: recall@5 is 0.850, it was 0.950 since",
    ),
    "50 queries, 5 lost for 8 nights": (
        lost(same(16, 50), 5, 8),
        1,
        "✗ nightly got worse: recall@5 is 0.900, it was 1.000 until",
    ),
    "one query lost a night for 15 nights": (
        np.vstack([same(7), *(lost(same(1), night) for night in range(1, 16))]),
        1,
        "✗ nightly got worse: recall@5 is 0.925, it was 1.000 until",
    ),
    "7 identical nights, then 5 of 200 lost": (
        lost(same(8), 5),
        1,
        "✗ nightly got worse: recall@5 is 0.975",
    ),
    "noisy nights, then -0.24": (lost(noisy(12), 48), 1, "✗ nightly got worse: recall@5 is 0."),
    "noisy nights, then -0.10 for a week": (lost(noisy(16), 20, 7), 1, "✗ nightly got worse"),
    "noisy nights": (noisy(12), 0, ("✓ nightly is no worse", "~ nightly shows no clear")),
    "identical nights": (same(4), 0, "✓ nightly is no worse: recall@5 is 1.000, unchanged since"),
    "4 of 200 lost": (lost(same(8), 4), 0, "~ nightly shows no clear difference: recall@5 is 0.98"),
    "two evaluations, 8 lost": (lost(same(2), 8), 1, "✗ nightly got worse: recall@5 is 0.960"),
    "12 queries, 2 lost": (
        lost(same(8, 12), 2),
        0,
        "~ nightly fell: recall@5 is 0.833, it was 1.000 since",
    ),
    "12 queries, 3 lost": (lost(same(8, 12), 3), 1, "✗ nightly got worse: recall@5 is 0.750"),
    "a bad night that is over": (
        np.vstack([lost(same(8), 60), same(1)]),
        0,
        "✓ nightly is no worse: recall@5 is 1.000, as on",
    ),
    "one evaluation": (same(1), 0, "~ nightly has one evaluation, and nothing to compare"),
}


@cache
def measured(row: tuple[float, ...]) -> Scores:
    """The evaluation of a night: most nights are like others."""
    return calipers.evaluate(
        ground_truth={f"q{i}": ["a"] for i in range(len(row))},
        run={f"q{i}": ["a" if found else "b"] for i, found in enumerate(row)},
        metrics="recall@5",
    )


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_first_line_and_the_exit_code(name, tmp_path, monkeypatch):
    values, code, line = SITUATIONS[name]
    assert isinstance(line, str | tuple)
    monkeypatch.chdir(tmp_path)
    last = datetime.now(UTC)
    for night, row in enumerate(values):
        now = last - timedelta(days=len(values) - 1 - night)
        calipers.save(measured(tuple(row.tolist())), "nightly", store="h.db", now=now)
    printed = calipers_command("history", "alarm", "nightly", "--store", "h.db", columns=300)
    first = printed.out.splitlines()[0]
    assert (printed.code, first.startswith(line)) == (code, True), first


def test_a_night_in_which_only_wrong_documents_come_back(tmp_path, monkeypatch):
    """It is saved as the collapse it is, and rings; the retriever is not merely misread."""
    monkeypatch.chdir(tmp_path)
    for night, found in enumerate(("a", "a", "z")):
        records = [
            {"id": f"q{i}", "query": f"question {i}", "ground_truth": ["a"], "retrieved": [found]}
            for i in range(20)
        ]
        (tmp_path / f"{night}.json").write_text(json.dumps(records))
        kept = calipers_command(
            "eval", f"{night}.json", "-m", "recall@5", "--save", "nightly", "--store", "h.db"
        )
        assert kept.code == 0, kept.err
    printed = calipers_command("history", "alarm", "nightly", "--store", "h.db", columns=300)
    assert printed.code == 1
    assert printed.out.startswith("✗ nightly got worse: recall@5 is 0.000, it was 1.000 since")


def test_the_printed_p_is_that_of_compare(tmp_path):
    """Also where some queries have the same text, and count as one."""
    store, rng = str(tmp_path / "h.db"), np.random.default_rng(3)
    before = rng.choice([0.0, 0.5, 1.0], 60)
    now = np.where(rng.random(60) < 0.4, 0.0, before)
    last = datetime.now(UTC)
    lists = {0.0: ["x{}"], 0.5: ["x{}", "a{}"], 1.0: ["a{}"]}
    for night, row in enumerate([before] * 4 + [now]):
        records = [
            {
                "id": f"q{i}",
                "query": f"question {i // 2 if i < 20 else i}",
                "ground_truth": [f"a{i}"],
                "retrieved": [one.format(i) for one in lists[value]],
            }
            for i, value in enumerate(row)
        ]
        scores = calipers.evaluate(records, metrics="mrr")
        calipers.save(scores, "n", store=store, now=last - timedelta(days=4 - night))
    found = calipers.history_alarm("n", store=store).checks[0].change
    compared = calipers.compare(["@n~1", "@n"], store=store).difference("@n", "mrr")
    same = ("p_value", "interval", "wins", "losses")
    assert [getattr(found, one) for one in same] == [getattr(compared, one) for one in same]
