"""The places of queries in a ground truth."""

import random

import polars as pl
import pytest

import calipers
from calipers.match.tally import QueryPlaces


@pytest.mark.parametrize("bits", [0, 2, 60])
@pytest.mark.parametrize("seed", range(6))
def test_every_name_has_its_place_also_where_hashes_collide(monkeypatch, bits, seed):
    whole = pl.Series.hash
    monkeypatch.setattr(pl.Series, "hash", lambda names: whole(names) % (1 << bits))
    draw = random.Random(seed)
    known = [f"q{i}" for i in draw.sample(range(100), draw.choice((0, 1, 40)))]
    asked = [f"q{draw.randrange(120)}" for _ in range(draw.choice((0, 1, 60)))]
    places = {name: place for place, name in enumerate(known)}
    codes = QueryPlaces(pl.Series("query", known, dtype=pl.String))
    found = codes.of(pl.Series("query", asked, dtype=pl.String))
    assert found.tolist() == [places.get(name, -1) for name in asked]


def test_places_in_their_order_and_in_any_other():
    places = QueryPlaces(pl.Series("query", ["a", "b", "c", "d"]))
    asked = (["a", "b"], ["d", "x"], ["c"], ["d"], ["a"])
    found = [places.following(pl.Series("query", some)).tolist() for some in asked]
    assert found == [[0, 1], [3, -1], [2], [3], [0]]


def test_queries_that_fail_are_counted_and_named_with_their_error():
    records = [
        {"id": "q1", "query": "Who?", "retrieved": ["a"], "ground_truth": ["a"], "error": "late"},
        {"query": "q2", "retrieved": [], "ground_truth": ["b"], "error": "gone"},
        {"query": "q3", "retrieved": ["c", "x", "c"], "ground_truth": ["c"]},
    ]
    audit = calipers.evaluate(records, metrics="mrr").audit
    assert audit.error_examples == ("q1: Who? (late)", "q2 (gone)")
    assert (audit.errors, audit.unknown, audit.duplicates) == (2, 0, 1)
    assert calipers.evaluate(records, metrics="mrr").of("mrr").tolist() == [0.0, 0.0, 1.0]
