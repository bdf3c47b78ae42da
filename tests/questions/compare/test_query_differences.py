"""The queries that contrast most come first, as a loop over them says."""

from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.questions.compare.query_differences import contrast

RANKS = st.lists(st.integers(1, 4), min_size=3, max_size=9)


def comparison(first, second):
    def run(ranks):
        return [
            {
                "query": f"what is {n}",
                "retrieved": [*"xyzw"[: rank - 1], "hit"],
                "ground_truth": ["hit"],
            }
            for n, rank in enumerate(ranks)
        ]

    return calipers.compare({"a": run(first), "b": run(second)}, metrics="mrr", anyway=True)


@settings(max_examples=25)
@given(st.data(), RANKS, st.booleans(), st.integers(1, 4))
def test_a_page_is_what_a_loop_gives(data, first, different, size):
    second = data.draw(st.lists(st.integers(1, 4), min_size=len(first), max_size=len(first)))
    apart = [1 / b - 1 / a for a, b in zip(first, second, strict=True)]
    order = sorted(range(len(first)), key=lambda n: (-abs(apart[n]), n))
    order = [n for n in order if apart[n] or not different]
    page = data.draw(st.integers(1, 3))
    found = contrast(comparison(first, second), "mrr", different=different, page=page, size=size)
    pages = max(1, -(-len(order) // size))
    at = min(page, pages)
    assert [one.query for one in found.rows] == [
        f"what is {n}" for n in order[(at - 1) * size : at * size]
    ]
    assert (found.found, found.pages, found.page) == (len(order), pages, at)
    for one in found.rows:
        n = int(one.query.split()[-1])
        assert one.values == (1 / first[n], 1 / second[n])
        assert one.difference == one.values[1] - one.values[0]


def test_words_leave_out_other_queries():
    found = contrast(comparison([1, 2, 3], [2, 2, 1]), "mrr", text="IS 2")
    assert [one.query for one in found.rows] == ["what is 2"]
