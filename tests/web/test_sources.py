"""Evaluations that share a name are told apart, on every page and in a pool."""

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.questions.report.browse import Browse
from calipers.store import blob
from tests.store.judged import BM25, DENSE, TRUTH
from tests.web.served import shelf_of


@pytest.fixture
def shelf_and_ids(tmp_path):
    store, ids = str(tmp_path / "history.db"), []
    for name, run in (("nightly", BM25), ("nightly", DENSE), ("other", DENSE)):
        pair = calipers.read(ground_truth=TRUTH, run=run)
        scores = calipers.evaluate(pair, metrics="recall@2")
        saved = calipers.save(
            scores, name, store=store, ground_truth=pair.ground_truth, run=pair.run
        )
        ids.append(saved.id)
    return shelf_of(store), ids


def test_those_that_share_a_name_have_their_ids_behind_it(shelf_and_ids):
    shelf, (one, two, other) = shelf_and_ids
    expected = [f"nightly {one[:8]}", f"nightly {two[:8]}"]
    assert list(shelf.systems((one, two))) == expected
    assert list(shelf.systems((one, other))) == ["nightly", "other"]
    assert list(shelf.comparison(shelf.systems((one, two))).systems) == expected


def test_they_can_be_judged_together(shelf_and_ids):
    shelf, (one, two, _) = shelf_and_ids
    desk = shelf.judge_these((one, two), {"q0"})
    assert list(desk.content.runs) == [f"nightly {one[:8]}", f"nightly {two[:8]}"]
    assert " " not in desk.name
    assert desk.items


def test_one_that_is_given_twice_is_refused(shelf_and_ids):
    shelf, (one, two, _) = shelf_and_ids
    with pytest.raises(InvalidInput, match="is given twice"):
        shelf.systems((one, two, one[:8]))


def test_a_query_is_opened_without_its_results_in_memory(shelf_and_ids, monkeypatch):
    monkeypatch.setattr(blob, "BLOCK", 3)
    shelf, (one, *_) = shelf_and_ids
    browse = shelf.open(shelf.find(one))
    pair = calipers.read(ground_truth=TRUTH, run=BM25)
    plain = Browse("nightly", calipers.evaluate(pair, metrics="recall@2"), pair)
    for row in range(plain.table.height):
        found, expected = browse.open(row), plain.open(row)
        assert found.rankings.equals(expected.rankings)
        assert found.misses.table.equals(expected.misses.table)


def test_a_comparison_needs_no_results(shelf_and_ids, monkeypatch):
    """Of two large evaluations only the scores are read."""
    shelf, (one, _, other) = shelf_and_ids
    monkeypatch.setattr("calipers.questions.report.browse.load_retrieved", None)
    assert list(shelf.comparison(shelf.systems((one, other))).systems) == ["nightly", "other"]
