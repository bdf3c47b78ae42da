import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calipers.match.sieve import Sieve
from calipers.model.hashes import mixed_hashes

pairs = st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30)


@given(pairs, pairs)
def test_every_row_of_a_target_passes(targets, others):
    def columns(rows):
        return tuple(pl.Series([row[i] for row in rows], dtype=pl.String) for i in (0, 1))

    sieve = Sieve(*columns(targets))
    rows = targets + others
    query, item = columns(rows)
    passing = sieve.passing(mixed_hashes(query.hash().to_numpy(), item.hash().to_numpy()))
    assert {row for row, pair in enumerate(rows) if pair in targets} <= set(passing.tolist())


def test_most_rows_without_a_target_are_held_back():
    names = pl.Series([str(i) for i in range(20_000)])
    sieve = Sieve(names[:1000], names[:1000])
    strangers = names[1000:].hash().to_numpy()
    assert sieve.passing(mixed_hashes(strangers, strangers)).size < 0.1 * strangers.size
