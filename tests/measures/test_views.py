"""What views count for many cut-offs at once is what they count for each."""

from hypothesis import given
from hypothesis import strategies as st

from calipers import read
from calipers.measures.views import Found

lists = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6, unique=True), min_size=1)


@given(lists, st.sets(st.integers(1, 9), min_size=1))
def test_hits_at_each_k_are_those_at_that_k(lists: list[list[str]], ks: set[int]) -> None:
    records = [
        {"query": f"q{at}", "retrieved": names, "ground_truth": ["a", "b"]}
        for at, names in enumerate(lists)
    ]
    found = Found.of(read(records, nothing_in_common="zero", match="id").matches)
    table = found.hits_at_each(sorted(ks))
    for column, k in enumerate(sorted(ks)):
        assert table[:, column].tolist() == found.hits(k).tolist()
