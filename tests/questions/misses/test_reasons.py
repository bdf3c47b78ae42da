"""Reasons against a reference that walks through one target at a time."""

from hypothesis import given
from hypothesis import strategies as st

from calipers import misses

ITEMS = [f"i{n}" for n in range(8)]
LISTS = st.lists(st.sampled_from(ITEMS), max_size=8)


def naive_reason(item, returned, k, candidates, exact, corpus):
    """The rules as the documentation tells them, for one target that is not in the first k."""
    first = list(dict.fromkeys(returned[:k]))
    rank = returned.index(item) + 1 if item in returned else None
    moved_down = rank and candidates is not None and item in candidates[:k]
    somewhere = rank or item in (candidates or []) or item in (exact or [])
    if corpus is not None and item not in corpus and not somewhere:
        return "not_in_corpus"
    if rank and not moved_down:
        above = returned[: rank - 1]
        return "crowded_out" if len(set(above)) < k else "below_k"
    repeats = len(returned[:k]) - len(first)
    repeated = repeats and 2 * repeats >= len(returned[:k])
    if not rank and repeated and (candidates is None or item in candidates):
        return "crowded_out"
    if not returned:
        return "nothing_returned"
    if candidates is not None and item in candidates:
        return "lost_by_reranker"
    if exact is not None and item in exact:
        return "missed_by_index"
    return "never_a_candidate" if candidates is not None else "not_returned"


def staged(truth, returned, candidates, exact):
    """The query in question; one more keeps ids in common between run, corpus and ground truth."""
    stages = {"candidates": candidates, "exact": exact}
    known = {name: found for name, found in stages.items() if found is not None}
    return [
        {"query": "q", "retrieved": returned, "ground_truth": sorted(truth), "stages": known},
        {"query": "safe", "retrieved": ["s"], "ground_truth": ["s"]},
    ]


@given(
    truth=st.sets(st.sampled_from(ITEMS), min_size=1),
    returned=LISTS,
    k=st.integers(1, 6),
    candidates=st.none() | LISTS,
    exact=st.none() | LISTS,
    corpus=st.none() | st.sets(st.sampled_from(ITEMS)),
)
def test_every_miss_has_the_reason_that_the_rules_give(
    truth, returned, k, candidates, exact, corpus
):
    records = staged(truth, returned, candidates, exact)
    chunks = None if corpus is None else dict.fromkeys([*corpus, "s"], "text")
    found = misses(records, k=k, corpus=chunks)
    expected = {
        item: naive_reason(item, returned, k, candidates, exact, corpus)
        for item in truth
        if item not in returned[:k]
    }
    assert dict(found.table.select("item", "reason").iter_rows()) == expected
    assert found.targets == len(truth) + 1
    assert found.found == found.targets - len(expected)
    assert sum(found.reasons.values()) == len(expected)
