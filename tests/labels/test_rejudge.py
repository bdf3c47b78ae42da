"""What a ground truth says already, judged once more."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.labels.rejudge import with_targets
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.model.run import Run

ITEMS = st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("abcd")), unique=True)


@given(ITEMS, ITEMS.filter(bool), st.none() | st.just({"p"}))
def test_everything_returned_and_everything_expected_is_there_once(rows, targets, queries):
    truth = GroundTruth.from_targets(pl.DataFrame(targets, schema=["query", "item"], orient="row"))
    given_rows = [Label(query, item=item) for query, item in rows]
    found = with_targets(given_rows, truth, [], {"p": "P?", "q": "Q?"}, queries=queries, seed=3)
    expected = {one for one in targets if queries is None or one[0] in queries}
    assert sorted((one.query_id, one.item) for one in found) == sorted({*rows, *expected})
    # Question by question, and where a target comes from does not show in its place.
    assert [one.query_id for one in found] == sorted(one.query_id for one in found)
    other = with_targets(
        [*given_rows, *(Label(query, item=item) for query, item in expected)],
        truth,
        [],
        {"p": "P?", "q": "Q?"},
        queries=queries,
        seed=3,
    )
    assert [one.pair for one in found] == [one.pair for one in other]


def test_texts_come_from_wherever_a_run_knows_them():
    frame = pl.DataFrame(
        {
            "query": ["q", "q"],
            "rank": [1, 2],
            "item": ["c1", "c2"],
            "text": ["Door.", "0123456789"],
            "document": ["d", "d"],
            "start": [0, 100],
            "end": [5, 110],
        }
    )
    targets = pl.DataFrame(
        {
            "query": ["r"] * 4,
            "item": ["c1", None, None, None],
            "quote": [None, "a sentence", None, None],
            "document": [None, None, "d", "d"],
            "start": [None, None, 102, 500],
            "end": [None, None, 105, 510],
        }
    )
    truth = GroundTruth.from_targets(targets)
    run = Run.from_frame(frame, order="rank", name="one")
    found = with_targets([], truth, [run], {"r": "R?"}, queries=None, seed=0)
    # The last span stands in no chunk, so there is nothing to read.
    assert {one.text for one in found} == {"Door.", "a sentence", "234"}
    assert {one.query for one in found} == {"R?"}


def test_a_target_that_no_run_returns_can_be_put_right(tmp_path):
    quotes = ("a sentence", "another way to say it", "gone")
    truth = [
        {
            "query": "q ?",
            "ground_truth": [
                {"quote": quotes[0], "group": "g"},
                {"quote": quotes[1], "group": "g"},
                {"quote": quotes[2]},
            ],
        }
    ]
    run = [{"query": "q ?", "retrieved": [{"id": "c", "text": "Here is a sentence."}]}]
    desk = calipers.labels_pool(
        "again", {"one": run}, ground_truth=truth, again=True, store=str(tmp_path / "h.db")
    )
    before = desk.truth().ground_truth
    at = {one.label.text: one.position for one in desk.items}
    assert set(at) == {"Here is a sentence.", "a sentence", "another way to say it", "gone"}
    desk.give("me", at["gone"], 0)
    desk.give("me", at["another way to say it"], 3)
    after = desk.truth().ground_truth
    assert after.fingerprint != before.fingerprint
    rows = {row["quote"]: row for row in after.targets.iter_rows(named=True)}
    assert {quote: row["grade"] for quote, row in rows.items()} == {
        "a sentence": 1,
        "another way to say it": 3,
        "gone": 0,
    }
    # Two ways to say it are still two ways to say the same.
    assert rows["a sentence"]["group"] == rows["another way to say it"]["group"] is not None
