"""What a colleague says who looks at the same lanes: `fuse` must say it first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calipers

Lane = dict[str, dict[str, float]]
DEPTH = 30


def lane(n: int, rank: Callable[[int], int | None], tag: str = "x", shared: int = 3) -> Lane:
    """A lane whose target stands at a rank, or nowhere; every ``shared`` other result is common."""
    found = {}
    for i in range(n):
        items = [f"{tag}{i}-{j}" if j % shared else f"s{i}-{j}" for j in range(DEPTH)]
        if at := rank(i):
            items[at - 1] = f"d{i}"
        found[f"q{i:03}"] = {item: 1.0 - j / DEPTH for j, item in enumerate(items)}
    return found


def truth(n: int) -> dict[str, list[str]]:
    return {f"q{i:03}": [f"d{i}"] for i in range(n)}


def first_line(words: Lane, vectors: Lane, **how: Any) -> str:
    targets = truth(len(words))
    found = calipers.fuse({"words": words, "vectors": vectors}, targets, **how)
    line = found.claim.line
    assert " ".join(str(found).split("\n\n")[0].split()) == line
    # What -o writes is what the line advises.
    scores = calipers.evaluate(ground_truth=targets, run=found.run, metrics=found.metrics)
    for name in found.metrics:
        assert scores[name].mean == pytest.approx(found.advised.means[name], abs=1e-12)
    assert found.advised.name in line
    return line


def drawn(n: int, low: int, high: int, missed: float, seed: int) -> Callable[[int], int | None]:
    rng = np.random.default_rng(seed)
    at = np.where(rng.random(n) < missed, 0, rng.integers(low, high + 1, n))
    return lambda i: int(at[i]) or None


def upside_down(run: Lane) -> Lane:
    return {
        q: dict(zip(list(found)[::-1], found.values(), strict=True)) for q, found in run.items()
    }


N = 60
GOOD = lane(N, lambda i: 1, "w")
ZOO: dict[str, tuple[Lane, Lane, dict[str, Any], str]] = {
    "one lane is useless": (
        lane(N, lambda i: 9, "w"),
        lane(N, lambda i: None if i else 25, "v"),
        {},
        "▲ Use words alone. It is better than RRF 60: recall@10 is 1.000, it was 0.017.",
    ),
    "one lane collapsed: all is found, and ranked low": (
        GOOD,
        lane(N, lambda i: 25, "v", shared=1),
        {},
        "▲ Use words alone. It is better than RRF 60: ndcg@10 is 1.000, it was 0.431.",
    ),
    "both lanes are right": (
        GOOD,
        lane(N, lambda i: 1, "v"),
        {},
        "~ words alone is enough: RRF 60 adds nothing on 60 queries.",
    ),
    "equal lanes, both mediocre": (
        lane(N, drawn(N, 1, 14, 0.2, 1), "w"),
        lane(N, drawn(N, 1, 14, 0.2, 2), "v"),
        {},
        "~ Keep RRF 60: no setting is clearly better on 60 queries.",
    ),
    "each lane has half of the targets": (
        lane(N, lambda i: 1 if i % 2 else None, "w", shared=10),
        lane(N, lambda i: None if i % 2 else 1, "v", shared=10),
        {},
        "▲ Use RRF 5. It is better than RRF 60: ndcg@10 is 0.815, it was 0.465.",
    ),
    "one lane in reverse order": (
        lane(N, lambda i: 1 + i % 3, "w"),
        upside_down(lane(N, lambda i: 1 + i % 3, "w")),
        {},
        "▲ Use words alone. It is better than RRF 60: ndcg@10 is 0.710, it was 0.629.",
    ),
    "the default is best": (
        lane(N, drawn(N, 1, 14, 0, 3), "w", shared=10),
        lane(N, drawn(N, 1, 14, 0, 4), "v", shared=10),
        {},
        "✓ Keep RRF 60. It is better than each lane alone; no setting is clearly better.",
    ),
    "each lane finds all, and both together order it better": (
        lane(N, drawn(N, 2, 6, 0, 3), "w", shared=10),
        lane(N, drawn(N, 2, 6, 0, 4), "v", shared=10),
        {},
        "✓ Keep RRF 60. It is better than each lane alone in ndcg@10; no setting is clearly "
        "better.",
    ),
    "a weight helps": (
        lane(N, drawn(N, 1, 4, 0.2, 1), "w"),
        lane(N, drawn(N, 8, 20, 0, 2), "v"),
        {},
        "▲ Use RRF 60, words 0.9, vectors 0.1. It is better than RRF 60: ndcg@10 is 0.562, it was "
        "0.414.",
    ),
    "twelve queries": (
        lane(12, drawn(12, 1, 14, 0.3, 5), "w"),
        lane(12, drawn(12, 1, 14, 0.3, 6), "v"),
        {},
        "~ Keep RRF 60: no setting is clearly better on 12 queries.",
    ),
    "twelve queries, both right: too few to drop a lane": (
        lane(12, lambda i: 1, "w"),
        lane(12, lambda i: 1, "v"),
        {},
        "~ Keep RRF 60: no setting is clearly better on 12 queries.",
    ),
    "a lane fails on half of the queries": (
        lane(N, drawn(N, 1, 12, 0.2, 7), "w"),
        {q: run for q, run in lane(N, drawn(N, 1, 12, 0.2, 8), "v").items() if int(q[1:]) % 2},
        {},
        "✓ Keep RRF 60. It is better than each lane alone in ndcg@10; no setting is clearly "
        "better. vectors returned nothing for 30 of 60 queries.",
    ),
    "today finds more, a lane ranks better": (
        lane(N, lambda i: 1 if i % 2 else None, "w"),
        lane(N, lambda i: None if i else 25, "v"),
        {"today": lane(N, lambda i: 10, "t")},
        "~ Keep today's run: words alone is better in ndcg@10 (0.500, it was 0.289) but worse in "
        "recall@10 (0.500, it was 1.000).",
    ),
    "a lane ranks better, and may find less": (
        lane(40, lambda i: None if i < 4 else 1, "w"),
        lane(40, lambda i: 25 if i % 2 else None, "v"),
        {"today": lane(40, lambda i: 9, "t")},
        "▲ Use words alone. It is better than today's run: ndcg@10 is 0.900, it was 0.301; "
        "recall@10 fell from 1.000 to 0.900, which may be chance.",
    ),
    "a lane ranks better, and may lose more than it gains": (
        lane(40, lambda i: None if i >= 30 else 2, "w"),
        lane(40, lambda i: 25 if i % 2 else None, "v"),
        {"today": lane(40, lambda i: 5 if i >= 4 else None, "t")},
        "~ Keep today's run: words alone is better in ndcg@10 (0.473, it was 0.348), but "
        "recall@10 fell from 0.900 to 0.750, which may be chance.",
    ),
    "today is far below": (
        GOOD,
        lane(N, lambda i: 2, "v"),
        {"today": lane(N, lambda i: 10 if i % 2 else None, "t")},
        "▲ Use words alone. It is better than today's run: recall@10 is 1.000, it was 0.500.",
    ),
}


@pytest.mark.parametrize("name", ZOO)
def test_the_first_line_is_what_a_colleague_says(name: str) -> None:
    words, vectors, how, said = ZOO[name]
    assert first_line(words, vectors, **how) == said


def test_a_lane_without_results_for_some_queries_is_named_whatever_it_is_called() -> None:
    """Its name is in other words of the answer, as "b" is in "better"."""
    lanes = {
        "a": lane(N, drawn(N, 1, 12, 0.2, 7), "w"),
        "b": {q: run for q, run in lane(N, drawn(N, 1, 12, 0.2, 8), "v").items() if int(q[1:]) % 8},
    }
    assert "b returned nothing for 8 queries." in str(calipers.fuse(lanes, truth(N)))


def test_what_is_expected_on_new_queries_is_possible() -> None:
    deep = {
        name: {
            f"q{i:03}": [f"{name}{i}-{j}" for j in range(rank - 1)]
            + [f"d{i}"]
            + [f"{name}{i}-{j}" for j in range(rank, 300)]
            for i in range(25)
            for rank in [1 + i * 11 if name == "a" else 300 - i * 11]
        }
        for name in "ab"
    }
    gain = calipers.fuse(deep, truth(25)).expected_gain
    assert gain.high == 1.0
    assert gain.low is not None
    assert gain.low < gain.expected < gain.high


@pytest.mark.parametrize("seed", [21, 35, 37, 77])
def test_a_gain_that_no_setting_clearly_has_may_be_nothing(seed: int) -> None:
    n, far = (30, 40, 60)[seed % 3], (8, 14, 20)[seed // 3 % 3]
    words = lane(n, drawn(n, 1, far, 0.1, seed), "w")
    vectors = lane(n, drawn(n, 1, 14, 0.4, seed + 1000), "v")
    lanes = {"words": words, "vectors": vectors}
    found = calipers.fuse(lanes, truth(n))
    assert "no setting is clearly better" in found.claim.fact or "enough" in found.claim.fact
    # Two metrics are asked together, so the range is as wide as for each of two.
    assert "on new queries expect about" in (found.claim.range or "")
    low, high = found.expected_gain.low, found.expected_gain.high
    assert low is not None
    assert high is not None
    assert low <= 0 < high
