"""What a pool to judge is made of: results of runs, and targets that no run returned."""

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.labels.new_pool import with_targets
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.model.run import Run

ITEMS = st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("abcd")), unique=True)


@given(ITEMS, ITEMS.filter(bool), st.sampled_from([{"p": "P?", "q": "Q?"}, {"p": "P?"}]))
def test_everything_returned_and_everything_expected_is_there_once(rows, targets, asked):
    truth = GroundTruth.from_targets(pl.DataFrame(targets, schema=["query", "item"], orient="row"))
    rows = [one for one in rows if one[0] in asked]
    given_rows = [Label(query, item=item) for query, item in rows]
    found = with_targets(given_rows, truth, [], asked, seed=3)
    expected = {one for one in targets if one[0] in asked}
    assert sorted((one.query_id, one.item) for one in found) == sorted({*rows, *expected})
    # Question by question, and where a target comes from does not show in its place.
    assert [one.query_id for one in found] == sorted(one.query_id for one in found)
    more = [*given_rows, *(Label(query, item=item) for query, item in expected)]
    other = with_targets(more, truth, [], asked, seed=3)
    assert [one.pair for one in found] == [one.pair for one in other]


def test_texts_come_from_wherever_a_run_knows_them():
    names = ("query", "rank", "item", "text", "document", "start", "end")
    rows = [
        ("q", 1, "c1", "Door.", "d", 0, 5),
        ("q", 2, "c2", "0123456789", "d", 100, 110),
        ("q", 3, "c3", "short", "d", 500, 510),
    ]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    targets: list[dict[str, Any]] = [
        {"item": "c1"},
        {"quote": "a sentence"},
        {"document": "d", "start": 102, "end": 105},
        {"document": "d", "start": 500, "end": 510},
    ]
    truth = GroundTruth.from_targets(pl.DataFrame([{"query": "r", **one} for one in targets]))
    run = Run.from_frame(frame, order="rank", name="one")
    found = with_targets([], truth, [run], {"r": "R?"}, seed=0)
    # Of the last span there is nothing to read: the text of its chunk has another length.
    assert {one.text for one in found} == {"Door.", "a sentence", "234"}
    assert {one.query for one in found} == {"R?"}


def test_a_target_that_no_run_returns_can_be_put_right(tmp_path):
    quotes = ("a sentence", "another way to say it", "gone")
    targets = [{"quote": one, "group": "g"} for one in quotes[:2]]
    truth = [{"query": "q ?", "ground_truth": [*targets, {"quote": quotes[2]}]}]
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
    assert [rows[quote]["grade"] for quote in quotes] == [1, 3, 0]
    # Two ways to say it are still two ways to say the same.
    assert rows["a sentence"]["group"] == rows["another way to say it"]["group"] is not None
