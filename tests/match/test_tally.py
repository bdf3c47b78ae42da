"""The places of queries in a ground truth."""

import random

import polars as pl
import pytest

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
