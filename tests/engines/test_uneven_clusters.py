"""A note where a few clusters decide: in `eval`, `compare` and `gate`, and not elsewhere."""

from typing import Any

import pytest

import calipers

LARGE = [0] * 30 + [1 + i // 2 for i in range(40)]
EVEN = [i // 3 for i in range(70)]


def records(clusters, found):
    return [
        {
            "query": f"q{i}",
            "retrieved": ["a", "b"] if found(one) else ["b", "a"],
            "ground_truth": ["a"],
            "tags": {"intent": f"i{one}"},
        }
        for i, one in enumerate(clusters)
    ]


def answers(clusters):
    new, old = (records(clusters, lambda one, by=by: one % by) for by in (3, 2))
    ask: dict[str, Any] = {"metrics": "mrr", "cluster": "intent"}
    baseline = calipers.evaluate(old, **ask)
    return {
        "eval": calipers.evaluate(new, **ask).settings["notes"],
        "compare": calipers.compare({"old": old, "new": new}, **ask).settings["notes"],
        "gate": calipers.gate(new, baseline=baseline, **ask).notes,
    }


@pytest.mark.parametrize("way", ["eval", "compare", "gate"])
def test_one_cluster_of_30_among_pairs_is_named(way):
    notes = [note for note in answers(LARGE)[way] if "decides" in note]
    assert len(notes) == 1
    assert "the largest by intent holds 30 of 70 queries" in notes[0]
    assert "21 clusters of such different sizes tell as much as about 5 of one size" in notes[0]


def test_clusters_of_one_size_are_not_remarked_on():
    assert not any("decide" in note for notes in answers(EVEN).values() for note in notes)
