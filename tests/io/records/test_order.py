import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load


@pytest.mark.parametrize(
    "run",
    [
        {"q": {"a": 1.0, "z": 1.0}},
        [{"query": "q", "retrieved": {"a": 1.0, "z": 1.0}}],
        [{"query": "q", "item": "a", "score": 1}, {"query": "q", "item": "z", "score": 1}],
    ],
)
def test_a_constant_scorer_gains_nothing_from_the_order_of_arrival(run):
    for wanted, value in (("a", 0.5), ("z", 1.0)):
        scores = evaluate(run, ground_truth={"q": [wanted]}, metrics="mrr")
        assert scores["mrr"].mean == value


def test_lists_keep_their_order():
    listed = [{"id": "a", "score": 1.0}, {"id": "z", "score": 1.0}]
    for run in ({"q": ["a", "z"]}, [{"query": "q", "retrieved": listed}]):
        assert evaluate(run, ground_truth={"q": ["a"]}, metrics="mrr")["mrr"].mean == 1


def test_scores_that_rise_along_a_list_are_said():
    listed = [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.9}]
    run = [{"query": "q", "retrieved": listed}]
    scores = evaluate(run, ground_truth={"q": ["a"]}, metrics="mrr")
    assert scores["mrr"].mean == 1
    assert "The scores of 1 query rise along the list" in " ".join(scores.settings["notes"])
    falling = [{"query": "q", "retrieved": listed[::-1]}]
    assert not evaluate(falling, ground_truth={"q": ["a"]}, metrics="mrr").settings["notes"]


def test_ranks_of_ms_marco_with_gaps_are_refused(tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text("q\ta\t1\nq\tb\t2\nq\tc\t5\n")
    run = load(path, "run").run
    assert run is not None
    with pytest.raises(InvalidInput, match=r"ranks of query 'q' in .* have gaps: 3 results, .* 5"):
        _ = run.frame
    path.write_text("q\ta\t1\nq\tb\t3\nr\td\t1\nq\tc\t2\n")
    run = load(path, "run").run
    assert run is not None
    assert run.frame.filter(query="q")["item"].to_list() == ["a", "c", "b"]
