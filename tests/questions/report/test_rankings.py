"""Every ranking as it was, against a walk through the records."""

from hypothesis import given
from hypothesis import strategies as st

from calipers import read
from calipers.questions.report.browse import rank_table

ITEMS = st.lists(st.sampled_from("abcdef"), max_size=6)
GRADES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0, 1, 2]), max_size=4)


def naive(retrieved, grades, depth):
    rows = []
    for rank, item in enumerate(retrieved[:depth], 1):
        if item in retrieved[: rank - 1]:
            state = "repeated"
        elif item not in grades:
            state = "unjudged"
        else:
            state = "relevant" if grades[item] > 0 else "not relevant"
        rows.append((rank, item, state))
    return rows


@given(st.lists(st.tuples(ITEMS, GRADES), min_size=1, max_size=4), st.integers(1, 5))
def test_states_are_those_a_reader_would_give(queries, depth):
    records = [
        {
            "id": f"q{i}",
            "query": f"q{i}",
            "retrieved": [*items, "shared"],
            "ground_truth": {**grades, "shared": 1},
        }
        for i, (items, grades) in enumerate(queries)
    ]
    made = read(records)
    table = rank_table(made, depth)
    for i, record in enumerate(records):
        mine = table.filter(table["query"] == i)
        assert mine.select("rank", "item", "state").rows() == naive(
            record["retrieved"], record["ground_truth"], depth
        )


def test_the_grade_from_which_a_target_counts_is_kept():
    records = [{"query": "q", "retrieved": ["a", "b"], "ground_truth": {"a": 1, "b": 2}}]
    table = rank_table(read(records, rel=2), 9)
    assert table["state"].to_list() == ["not relevant", "relevant"]
    assert table["grade"].to_list() == [1.0, 2.0]


def test_a_run_without_results_gives_an_empty_table():
    made = read([{"query": "q", "retrieved": [], "ground_truth": ["a"]}])
    table = rank_table(made, 9)
    assert table.height == 0
    assert {"query", "rank", "item", "text", "state", "targets"} <= set(table.columns)
