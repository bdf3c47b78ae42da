"""A k far beyond every list cuts nothing, and is said as no number of results."""

import json
from typing import Any

import pytest

import calipers
from calipers.present.terminal import as_text

FAR = 1_000_000


def run(found: int, again: bool = False) -> list[dict[str, Any]]:
    """Twenty queries with ten results each; some find their one target, at rank 3."""
    records = []
    for at in range(20):
        retrieved = [f"d{at}-{rank}" for rank in range(10)]
        if at < found:
            retrieved[2] = f"t{at}"
        if again:
            retrieved[1::2] = retrieved[::2]
        records.append({"id": f"q{at}", "ground_truth": [f"t{at}"], "retrieved": retrieved})
    return records


OTHER = {one["id"]: one["retrieved"][::-1] for one in run(12)}
RUN = {one["id"]: one["retrieved"] for one in run(12)}
SENTENCES = {
    "eval": (
        lambda k: calipers.evaluate(run(12), k=k),
        "Finds 60% of what it should in its results",
    ),
    "misses": (lambda k: calipers.misses(run(12), k=k), "8 of 20 targets are not in the results."),
    "nothing missed": (
        lambda k: calipers.misses(run(20), k=k),
        "Nothing was missed: every target is in the results.",
    ),
    "changes": (
        lambda k: calipers.diff(RUN, OTHER, k=k),
        "20 of 20 queries changed in the results: the same results in another order.",
    ),
    "repetitions": (
        lambda k: calipers.diagnose(run(12, again=True), k=k),
        "50% of the results repeat one above them",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_k_far_beyond_every_list_is_no_number_of_results(name):
    ask, text = SENTENCES[name]
    far: Any = ask(FAR)
    assert text in " ".join(as_text(far.document(), explain=True).split())
    assert f"first {FAR:,}" not in json.dumps(far.to_dict()["sentences"])
    # Where it is near, it is.
    assert "first 10 results" in " ".join(as_text(ask(10).document(), explain=True).split())
