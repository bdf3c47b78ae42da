import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import read
from calipers.engines.scoring import compute
from calipers.errors import InvalidInput
from calipers.measures import parse, parse_one
from tests.match.test_by_span import characters

place = st.integers(0, 15)
span = st.tuples(st.sampled_from("ab"), place, place).map(lambda s: (s[0], min(s[1:]), max(s[1:])))
target = st.tuples(span.filter(lambda s: s[1] < s[2]), st.integers(0, 2), st.sampled_from("12"))
targets = st.lists(target, min_size=1, max_size=4, unique_by=lambda t: t[0])
query = st.tuples(st.lists(span, max_size=5), targets)


def record(name, chunks, wanted, grouped):
    return {
        "query": name,
        "retrieved": [{"document": d, "start": a, "end": b} for d, a, b in chunks],
        "ground_truth": [
            {"document": d, "start": a, "end": b, "grade": grade}
            | ({"group": group} if grouped else {})
            for (d, a, b), grade, group in wanted
        ],
    }


def naive(chunks, wanted, k, grouped):
    """Recall, precision and IoU from sets of characters; None where nothing is relevant."""
    relevant = [(one, group) for one, grade, group in wanted if grade > 0]
    if not relevant:
        return None
    shown = characters(chunks[:k])
    alternatives: dict[object, list[tuple[str, int, int]]] = {}
    for number, (one, group) in enumerate(relevant):
        alternatives.setdefault(group if grouped else number, []).append(one)

    def share(one):
        return len(characters([one]) & shown) / len(characters([one]))

    truth = characters(max(some, key=share) for some in alternatives.values())
    everything = characters(one for one, _ in relevant)
    both = len(truth & shown)
    precision = len(everything & shown) / len(shown) if shown else 0.0
    return both / len(truth), precision, both / len(truth | shown)


@given(st.lists(query, min_size=1, max_size=3), st.integers(1, 6), st.booleans())
def test_characters_are_counted_as_sets_of_them(queries, k, grouped):
    first = ([("a", 0, 9)], [(("a", 0, 9), 1, "1")])
    queries = [first, *queries]
    rows = [record(f"q{i}", one[0], one[1], grouped) for i, one in enumerate(queries)]
    metrics = parse([f"span_recall@{k}", f"span_precision@{k}", f"iou@{k}"])
    pair = read(rows, match="span")
    values = compute(pair.matches, metrics, pair.policy)
    for (chunks, wanted), found in zip(queries, values.tolist(), strict=True):
        expected = naive(chunks, wanted, k, grouped)
        if expected is None:
            assert np.isnan(found).all()
        else:
            assert found == pytest.approx(expected)
            assert all(0 <= value <= 1 for value in found)


def test_only_relevant_targets_count():
    wanted = [(("a", 0, 10), 1, "1"), (("a", 20, 30), 3, "1")]
    pair = read([record("q", [("a", 0, 10)], wanted, False)])
    names = [parse_one("span_recall@1"), parse_one("span_recall@1(rel=2)")]
    assert compute(pair.matches, names, pair.policy)[0].tolist() == [0.5, 0.0]


def test_without_spans_the_error_says_what_to_give():
    pair = read(ground_truth={"q": ["a"]}, run={"q": ["a"]})
    with pytest.raises(InvalidInput, match=r"document, start and end on both sides.*--match span"):
        compute(pair.matches, [parse_one("iou@1")], pair.policy)
