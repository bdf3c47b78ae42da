"""Nights as a colleague would judge them by eye: the first line of the alarm and its exit code."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import calipers
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
    "6 identical nights, then 14 of 200 lost": (
        lost(same(7), 14),
        1,
        "▼ recall@5 1.000 → 0.930: 14 lost, 0 gained of 200 since the reference (a loss of more",
    ),
    "7 identical nights, then 7 lost": (lost(same(8), 7), 1, "▼ recall@5 1.000 → 0.965: 7 lost"),
    "the same a night later": (lost(same(9), 7, 2), 1, "▼ recall@5 1.000 → 0.965: 7 lost"),
    "6 noisy nights, then -0.24": (lost(noisy(7), 48), 1, "▼ recall@5 0."),
    "the same from the fifth night on": (lost(noisy(7), 48, 3), 1, "▼ recall@5 0."),
    "7 noisy nights, then -0.10 for a week": (lost(noisy(14), 20, 7), 1, "▼ recall@5 0."),
    "noisy nights": (noisy(12), 0, ("✓ recall@5 0.", "~ recall@5 0.")),
    "identical nights": (
        same(4),
        0,
        "✓ recall@5 1.000 → 1.000: 0 lost, 0 gained of 200 since the reference",
    ),
    "4 of 200 lost": (lost(same(8), 4), 0, "✓ recall@5 1.000 → 0.980: 4 lost, 0 gained of 200"),
    "two evaluations": (same(2), 0, "✓ recall@5 1.000 → 1.000: 0 lost"),
    "two evaluations, 14 lost": (lost(same(2), 14), 1, "▼ recall@5 1.000 → 0.930: 14 lost"),
    "two evaluations, 8 lost": (lost(same(2), 8), 0, "~ recall@5 1.000 → 0.960: 8 lost"),
    "two good ones and a bad one, then the bad one again": (
        lost(same(3), 8, 2),
        0,
        "~ recall@5 1.000 → 0.960: 8 lost",
    ),
    "12 queries, 3 lost": (lost(same(8, 200)[:, 188:], 3), 0, "~ recall@5 1.000 → 0.750: 3 lost"),
    "5 queries, 4 lost": (lost(same(8, 200)[:, 195:], 4), 0, "~ recall@5 1.000 → 0.200: 4 lost"),
    "a bad night that is over": (
        np.vstack([lost(same(8), 60), same(1)]),
        0,
        "✓ recall@5 1.000 → 1.000: 0 lost",
    ),
    "one evaluation": (same(1), 0, "~ nightly has one evaluation, and nothing to compare"),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_first_line_and_the_exit_code(name, tmp_path, monkeypatch):
    values, code, line = SITUATIONS[name]
    assert isinstance(line, str | tuple)
    monkeypatch.chdir(tmp_path)
    for night, row in enumerate(values):
        calipers.save(
            calipers.evaluate(
                ground_truth={f"q{i}": ["a"] for i in range(len(row))},
                run={f"q{i}": ["a" if found else "b"] for i, found in enumerate(row)},
                metrics="recall@5",
            ),
            "nightly",
            store="h.db",
            now=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=night),
        )
    printed = calipers_command("history", "alarm", "nightly", "--store", "h.db", columns=300)
    first = printed.out.splitlines()[0]
    assert (printed.code, first.startswith(line)) == (code, True), first
