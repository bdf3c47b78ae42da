import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.hashes import mixed_hashes, suspected_duplicates

hashes = st.lists(st.integers(0, 2**64 - 1), max_size=50)
# Few different upper halves, so that hashes collide there without being equal.
crowded = st.lists(
    st.builds(lambda upper, lower: (upper << 32) | lower, st.integers(0, 8), st.integers(0, 3)),
    max_size=50,
)


@given(st.one_of(hashes, crowded))
def test_rows_of_equal_hashes_are_found_and_no_others(some):
    rows = suspected_duplicates(np.array(some, dtype=np.uint64)).tolist()
    assert rows == [row for row, one in enumerate(some) if some.count(one) > 1]


def test_the_two_sides_of_a_pair_are_told_apart():
    a, b = (np.array([one], dtype=np.uint64) for one in (3, 5))
    assert mixed_hashes(a, b) != mixed_hashes(b, a)
    assert mixed_hashes(a, a) != mixed_hashes(b, b)
