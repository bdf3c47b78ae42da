import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.model.scores import MetricFacts
from calipers.questions.default_metrics import choose_primary


def facts(name, better="higher"):
    stem, _, k = name.partition("@")
    return MetricFacts(name, stem, int(k) if k else None, better, (0, 1), "")


@given(st.lists(st.integers(1, 50), min_size=1, unique=True), st.permutations(["ndcg@99", "mrr"]))
def test_recall_at_the_largest_k_decides_wherever_it_stands(ks, others):
    known = [facts(others[0]), *(facts(f"recall@{k}") for k in ks), facts(others[1])]
    assert choose_primary(known) == f"recall@{max(ks)}"


def test_without_recall_the_first_that_has_a_direction_decides():
    assert choose_primary([facts("judged@5", "neither"), facts("mrr"), facts("map")]) == "mrr"
    assert choose_primary([facts("judged@5", "neither")]) is None


def test_what_cannot_decide_is_refused():
    known = [facts("judged@5", "neither"), facts("recall@5")]
    with pytest.raises(InvalidInput, match="'judged@5' is not among"):
        choose_primary(known, "judged@5")
    with pytest.raises(InvalidInput, match=r"they are recall@5\. Did you mean recall@5"):
        choose_primary(known, "recal@5")
