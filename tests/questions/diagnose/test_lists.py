"""Matches after results were moved are those of the run that was moved."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.questions.diagnose import rule
from calipers.questions.diagnose.lists import Lists, matches_after
from calipers.questions.shown_results import over_contexts

items = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8)


@given(
    st.lists(items, min_size=1, max_size=4),
    st.lists(st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3), min_size=4, max_size=4),
    st.randoms(use_true_random=False),
)
def test_moved_matches_are_those_of_the_moved_lists(lists, targets, rng):
    run = {f"q{at}": names for at, names in enumerate(lists)}
    truth = {f"q{at}": sorted(targets[at]) for at in range(len(lists))}
    pair = calipers.read(run=run, ground_truth=truth, nothing_in_common="zero")
    read = Lists.joined([*over_contexts(pair, Lists.of)], pair.matches.n_queries)
    keys = np.array([rng.random() for _ in range(read.rank.size)])
    left_out = np.array([rng.random() < 0.2 for _ in range(read.rank.size)])
    for place in (read.ranked_by(keys), read.without(left_out), read.without(read.repeats)):
        moved: dict[str, list[str]] = {query: [] for query in run}
        order = np.lexsort((place, read.query))
        for row in order[place[order] > 0]:
            query = f"q{read.query[row]}"
            moved[query].append(run[query][read.rank[row] - 1])
        again = calipers.read(run=moved, ground_truth=truth, nothing_in_common="zero")
        after = matches_after(pair.matches, read, place, by_id=True)
        for name in ("edge_query", "edge_rank", "edge_target", "retrieved"):
            assert getattr(after, name).tolist() == getattr(again.matches, name).tolist()
        twice = read.moved(place)
        assert twice.rank.tolist() == [
            rank for query in run for rank in range(1, len(moved[query]) + 1)
        ]
        repeats = [name in names[:at] for names in moved.values() for at, name in enumerate(names)]
        assert twice.repeats.tolist() == repeats


@given(st.lists(items, min_size=1, max_size=9), st.integers(1, 4))
def test_without_some_results_only_lists_that_have_any_need_be_measured(lists, k):
    records = [
        {"query": f"q{at}", "retrieved": names, "ground_truth": ["a", "b"]}
        for at, names in enumerate(lists)
    ]
    pair = calipers.read(records, nothing_in_common="zero")
    seen = rule._read(pair, k, None, None)[1]
    if seen.lists.repeats.any():
        whole = seen.measured_at(seen.lists.without(seen.lists.repeats))
        some = seen.measured_without(seen.lists.repeats)
        assert some.tolist() == whole.tolist()
