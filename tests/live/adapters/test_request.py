import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.live.adapters.request import RequestTemplate, fill_address
from calipers.live.adapters.secrets import Secrets

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(texts)
def test_the_question_arrives_as_it_is_in_json(query: str) -> None:
    template = RequestTemplate.read(
        '{"a": {"q": ["{query}"]}, "n": "{k}", "s": "top {k}"}', Secrets({})
    )
    assert json.loads(template.fill(query, 7)) == {"a": {"q": [query]}, "n": 7, "s": "top 7"}


@given(texts)
def test_the_question_arrives_as_it_is_in_an_address(query: str) -> None:
    filled = fill_address("/find?q={query}&k={k}&x=%20y", query, 7)
    assert filled.isascii()
    assert parse_qs(urlsplit(filled).query, keep_blank_values=True) == {
        "q": [query],
        "k": ["7"],
        "x": [" y"],
    }


def test_places_in_a_question_are_not_filled() -> None:
    assert fill_address("q={query}", "{k}", 7) == "q=%7Bk%7D"
    assert (
        RequestTemplate.read('["{query}"]', Secrets({})).fill("{k} {query}", 7)
        == b'["{k} {query}"]'
    )


@pytest.mark.parametrize(
    ("given", "words"), [("{q}", "not JSON"), ('{"q": "x"}', "where the question goes")]
)
def test_a_template_that_cannot_work_is_refused(given: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        RequestTemplate.read(given, Secrets({}))


def test_variables_are_filled_in_and_not_kept() -> None:
    secrets = Secrets({"KEY": "s3cret"})
    template = RequestTemplate.read('{"q": "{query}", "key": "$KEY"}', secrets)
    assert template.fill("a", 1) == b'{"q":"a","key":"s3cret"}'
    assert template.source == {"q": "{query}", "key": "$KEY"}
    assert secrets.redact("s3cret") == "***"
