"""A page of queries is what a loop over them gives."""

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.questions.misses.rule import explain_misses
from calipers.questions.report.browse import Browse, View

ITEMS = st.lists(st.sampled_from("abcdefgh"), max_size=5)
RECORDS = st.lists(
    st.tuples(ITEMS, st.lists(st.sampled_from("abcxyz"), max_size=3, unique=True)),
    min_size=1,
    max_size=8,
).filter(lambda some: any(set(r) & set(t) for r, t in some))


def browse(records, k=2):
    data = [
        {
            "id": f"q{n}",
            "query": f"Question {n} about {'cats' if n % 2 else 'Dogs'}",
            "retrieved": list(retrieved),
            "ground_truth": list(truth),
            "tags": {"kind": "odd" if n % 2 else "even"},
        }
        for n, (retrieved, truth) in enumerate(records)
    ]
    pair = calipers.read(data)
    return Browse("one", calipers.evaluate(pair, metrics="recall", k=k), pair)


@settings(max_examples=6)
@given(RECORDS)
def test_a_query_is_listed_with_its_misses(records):
    made = browse(records)
    misses = explain_misses(made.pair, made.k).table.select("query", "reason").to_dicts()
    assert [made.row(n).missed for n in range(len(records))] == [
        sum(one["query"] == f"q{n}" for one in misses) for n in range(len(records))
    ]


SIZE = 3
VIEWS = st.builds(
    View,
    text=st.sampled_from(["", "dogs", "q1", "nothing"]),
    failures=st.booleans(),
    sort=st.sampled_from(["query", "missed", "recall@2"]),
    down=st.booleans(),
    page=st.integers(1, 4),
    slices=st.sampled_from([{}, {"kind": "odd"}]),
)


@given(RECORDS, VIEWS)
def test_a_page_is_what_a_loop_over_all_queries_gives(records, view):
    made = browse(records)
    rows = [made.row(n) for n in range(len(records))]

    def failed(row):
        retrieved, truth = records[row]
        return bool(truth) and not set(retrieved[:2]) & set(truth)

    def fits(one):
        return (
            view.text in f"{one.query}\n{one.text}".lower()
            and all(one.tags[tag] == value for tag, value in view.slices.items())
            and not (view.failures and not failed(one.row))
        )

    def key(one):
        if view.sort == "query":
            return f"{one.query}\n{one.text}".lower()
        return one.missed if view.sort == "missed" else one.values[view.sort]

    fitting = [one for one in rows if fits(one)]
    known = [one for one in fitting if key(one) is not None]
    ordered = sorted(known, key=key, reverse=view.down)
    if view.down:
        # Equal ones stay in the order of the evaluation in both directions.
        ordered = sorted(sorted(known, key=lambda one: one.row), key=key, reverse=True)
    ordered += [one for one in fitting if key(one) is None]
    with patch("calipers.questions.report.browse.PAGE_SIZE", SIZE):
        found = made.select(view)
    pages = max(1, -(-len(ordered) // SIZE))
    page = min(view.page, pages)
    assert list(found.rows) == ordered[(page - 1) * SIZE : page * SIZE]
    assert (found.found, found.page, found.pages) == (len(ordered), page, pages)


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        (View(sort="recal@2"), r"have no 'recal@2'.* Did you mean recall@2\?"),
        (View(slices={"no": "x"}), "have no tag 'no'"),
    ],
)
def test_what_does_not_exist_gets_a_sentence(view, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        browse([("ab", "a")]).select(view)


def test_a_row_that_does_not_exist_gets_a_sentence():
    with pytest.raises(InvalidInput, match="There is no query number 5"):
        browse([("ab", "a")]).row(5)
