"""A table of results with a verdict each: what was not returned is not known."""

import random

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from tests.command import calipers_command

NAMES = "question,doc_id,rank,is_relevant"


def put(folder, rows):
    path = folder / "judged.csv"
    path.write_text("\n".join([NAMES, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.mark.parametrize("seed", range(8))
def test_what_can_be_measured_is_over_all_questions(seed, tmp_path):
    draw = random.Random(seed)
    asked = {f"q{n}": [draw.choice((0, 0, 1)) for _ in range(draw.randint(1, 5))] for n in range(6)}
    asked["q0"] = [0, 1]
    asked["q1"] = [0, 0]
    rows = [
        (query, f"d{n}", n, verdict)
        for query, verdicts in asked.items()
        for n, verdict in enumerate(verdicts, 1)
    ]
    scores = evaluate(put(tmp_path, rows))
    every = list(asked.values())
    assert scores["precision@3"].mean == pytest.approx(sum(sum(v[:3]) / 3 for v in every) / 6)
    assert scores["hit_rate@3"].mean == pytest.approx(sum(any(v[:3]) for v in every) / 6)
    first = [1 / (v.index(1) + 1) if any(v) else 0 for v in every]
    assert scores["mrr"].mean == pytest.approx(sum(first) / 6)
    assert scores["mrr"].n == 6
    names = {metric.kind for metric in scores.metrics}
    assert names == {"precision", "hit_rate", "mrr"}
    assert "Only what was returned was judged" in scores.settings["notes"][0]


@pytest.mark.parametrize("metric", ["recall@3", "f1@3", "ndcg@3", "map", "r_precision"])
def test_what_needs_more_is_refused_until_the_user_says_that_nothing_else_is(metric, tmp_path):
    path = put(tmp_path, [("q", "a", 1, 0), ("q", "b", 2, 1)])
    with pytest.raises(InvalidInput, match='judged="complete" if nothing else is relevant'):
        evaluate(path, metrics=metric)
    assert evaluate(path, metrics=metric, judged="complete")[metric].mean is not None
    assert calipers_command("eval", path, "-m", metric).code == 2
    assert calipers_command("eval", path, "-m", metric, "--judged", "complete").code == 0


def test_a_row_that_was_judged_and_not_returned_says_what_was_missed(tmp_path):
    path = put(tmp_path, [("q", "a", 1, 0), ("q", "b", 2, 1), ("q", "z", "", 1)])
    assert evaluate(path, metrics="recall@3")["recall@3"].mean == 0.5
