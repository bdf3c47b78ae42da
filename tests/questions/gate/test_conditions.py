"""Conditions: what can be written, and where the rest stops making sense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import CalipersError, InvalidInput, UnknownMetric
from calipers.measures import parse_one
from calipers.questions.gate.conditions import OPERATORS, Condition, parse_condition

TAGS = st.text(
    st.characters(blacklist_categories=("Cc", "Cs", "Zs", "Zl", "Zp"), blacklist_characters="\"'"),
    min_size=1,
)


@given(
    name=st.sampled_from(["recall@10", "mrr", "ndcg@5(gain=exp)", "map(rel=2)", "f@3(beta=0.5)"]),
    op=st.sampled_from(list(OPERATORS)),
    value=st.floats(0.001, 0.999).map(lambda number: float(f"{number:.15g}")),
    tag=st.none() | st.tuples(TAGS, TAGS),
)
def test_a_condition_prints_as_it_is_read(name, op, value, tag):
    condition = Condition(parse_one(name), op, value, *(tag or (None, None)))
    assert parse_condition(str(condition)) == condition


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recall@10 >= 85", "never holds: recall@10 is between 0 and 1. Write recall@10 >= 0.85."),
        ("recall@10 >= 0.00", "always holds: recall@10 is between 0 and 1. Write recall@10 > 0."),
        ("mrr > 1", "never holds: mrr is between 0 and 1. Write mrr >= 1."),
        ("mrr <= 1", "always holds: mrr is between 0 and 1. Write mrr < 1."),
        ("mrr < 0 for a=b", "never holds: mrr is between 0 and 1. Write mrr <= 0 for a=b."),
        ("fp@10 >= 0", "always holds: fp@10 is 0 or more. Write fp@10 > 0."),
        ("recall@10 == 85", "never holds: recall@10 is between 0 and 1. Write recall@10 == 0.85."),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_may_be(text, said):
    with pytest.raises(InvalidInput) as caught:
        parse_condition(text)
    assert str(caught.value).endswith(said)
    parse_condition(said.partition("Write ")[2][:-1])


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("recall@10>=0.85", "recall@10 >= 0.85"),
        ("  P@5   >  .5 ", "precision@5 > 0.5"),
        ("recall@10 ≥ 85%", "recall@10 >= 0.85"),
        ("mrr => 1", "mrr >= 1"),
        ("fp@10 <= 3", "fp@10 <= 3"),
        ("mrr>1e-3", "mrr > 0.001"),
        ("ndcg@10 >= 0.6 for type=multi-hop", "ndcg@10 >= 0.6 for type=multi-hop"),
        ("ndcg@10 >= 0.6 FOR type = multi hop ", "ndcg@10 >= 0.6 for type=multi hop"),
        ("mrr >= 0.6 for 'a=b'=\"c=d\"", 'mrr >= 0.6 for "a=b"="c=d"'),
        ("ndcg(gain=exp)@10 > 0.1", "ndcg@10(gain=exp) > 0.1"),
        ("leak_rate@10 = 0", "leak_rate@10 == 0"),
        ("recall@10 >= 1", "recall@10 >= 1"),
        ("mrr > 0", "mrr > 0"),
        ("mrr > 0 for type='", 'mrr > 0 for type="\'"'),
    ],
)
def test_spellings(text, printed):
    found = parse_condition(text)
    assert str(found) == printed
    assert parse_condition(printed) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        ">= 0.5",
        "recall@10",
        "recall@10 != 0.85",
        "recall@10 >=",
        "recall@10 >= 0,85",
        "recall@10 >= nan",
        "recall@10 >= 0.8 wenn x=y",
        "recall@10 >= 0.8 for type",
        "recall@10 >= 0.8 for type=",
        None,
        ["mrr >= 1"],
    ],
)
def test_what_cannot_be_read_is_refused_with_the_form(text):
    with pytest.raises(InvalidInput, match="cannot be read; write metric op value"):
        parse_condition(text)


@given(st.text())
def test_any_text_is_a_condition_or_a_sentence(text):
    try:
        found = parse_condition(text)
    except CalipersError:
        return
    assert parse_condition(str(found)) == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("recal@10 >= 0.5", "Did you mean recall"),
        ("recall@5,10 >= 0.5", "stands for 2"),
        ("recall@10 >= 300ms", "write metric op value"),
    ],
)
def test_what_cannot_be_meant_is_said(text, sentence):
    with pytest.raises((InvalidInput, UnknownMetric), match=sentence):
        parse_condition(text)
