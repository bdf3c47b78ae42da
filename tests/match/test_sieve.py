import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calipers.match.sieve import Sieve, suspected_duplicates
from calipers.model.ranking import mixed_hashes

hashes = st.lists(st.integers(0, 2**64 - 1), max_size=50)
# Few different upper halves, so that hashes collide there without being equal.
crowded = st.lists(
    st.builds(lambda upper, lower: (upper << 32) | lower, st.integers(0, 8), st.integers(0, 3)),
    max_size=50,
)
pairs = st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30)


@given(st.one_of(hashes, crowded))
def test_rows_of_equal_hashes_are_found_and_no_others(some):
    rows = suspected_duplicates(np.array(some, dtype=np.uint64)).tolist()
    assert rows == [row for row, one in enumerate(some) if some.count(one) > 1]


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
