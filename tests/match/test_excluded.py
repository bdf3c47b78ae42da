"""Results that count neither for nor against a ranking."""

import pytest

import calipers

FIRST = {"id": "a1", "document": "a", "start": 0, "end": 20, "text": "How to wait, see there."}
SECOND = {"id": "b1", "document": "b", "start": 0, "end": 20, "text": "It waits for ten seconds."}
RECORD = {
    "query": "How long?",
    "retrieved": [FIRST, SECOND],
    "ground_truth": [{"quote": "ten seconds"}],
}
OTHER = {"query": "Who?", "retrieved": [FIRST, SECOND], "ground_truth": [{"quote": "see there"}]}


@pytest.mark.parametrize(
    "excluded",
    ["a1", {"document": "a"}, {"document": "a", "start": 5, "end": 9}, {"quote": "to  wait, see"}],
)
def test_later_results_move_up_for_that_query_alone(excluded):
    scores = calipers.evaluate([{**RECORD, "excluded": [excluded]}, OTHER], metrics="mrr")
    assert scores.of("mrr").tolist() == [1.0, 1.0]


def test_what_is_not_returned_changes_nothing_and_the_rest_keeps_its_order():
    changed = {**RECORD, "excluded": ["z", {"quote": "never written"}]}
    assert calipers.evaluate([changed, OTHER], metrics="mrr").of("mrr").tolist() == [0.5, 1.0]


def test_it_is_part_of_the_ground_truth_and_is_written_back(tmp_path):
    excluded = {**RECORD, "excluded": [{"quote": "see there"}]}
    first, second = (
        calipers.evaluate([one, OTHER], metrics="mrr").fingerprints["ground_truth"]
        for one in (RECORD, excluded)
    )
    assert first != second
    calipers.convert([excluded, OTHER], tmp_path / "out.jsonl")
    again = calipers.evaluate(tmp_path / "out.jsonl", metrics="mrr")
    assert again.of("mrr").tolist() == [1.0, 1.0]
    part = calipers.evaluate(
        [{**excluded, "tags": {"a": "b"}}, OTHER], metrics="mrr", where={"a": "b"}
    )
    assert part.of("mrr").tolist() == [1.0]
