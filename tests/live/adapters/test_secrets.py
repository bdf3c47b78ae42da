import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import retrieve
from calipers.errors import InvalidInput, RetrieverFailed
from calipers.live.adapters.base import LOOKS_SECRET, Secrets, without_secrets


def test_variables_are_filled_in_and_one_that_is_not_set_is_named() -> None:
    secrets = Secrets({"A": "alpha", "B_2": "beta"})
    assert secrets.expand("$A-${B_2}-$$A", "a header") == "alpha-beta-$A"
    with pytest.raises(InvalidInput, match=r"variable TOKEN is not set, and the header 'X' needs"):
        secrets.expand("Bearer $TOKEN", "the header 'X'")


@given(st.text(min_size=4, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_a_secret_never_survives(secret: str, before: str, after: str) -> None:
    secrets = Secrets({"TOKEN": secret})
    secrets.expand("$TOKEN", "a header")
    assert secret not in secrets.redact(f"{before}{secret}{after}").replace("***", "")


def test_a_secret_is_found_escaped_and_inside_a_longer_one() -> None:
    secrets = Secrets({})
    secrets.add('to"k/n 1', "abcd1234", "abcd1234-and-more")
    assert secrets.redact('GET /?key=to%22k%2Fn%201 and "to\\"k/n 1"') == 'GET /?key=*** and "***"'
    assert secrets.redact_line(b'{"text":"to\\"k/n 1"}') == b'{"text":"***"}'
    assert secrets.redact_line(b'{"echo": "abcd1234-and-more"}') == b'{"echo": "***"}'


def test_keys_of_the_environment_leave_errors_but_not_results() -> None:
    secrets = Secrets({"SERVICE_API_KEY": "sk-12345678", "MODE": "production"})
    assert secrets.redact("401 for sk-12345678 in production") == "401 for *** in production"
    assert secrets.redact_line(b"sk-12345678") == b"sk-12345678"


def failing(query: str, k: int, api_key: str) -> list[str]:
    raise ValueError(f"the key {api_key} is not known")


def test_a_parameter_that_looks_secret_is_taken_out_of_errors() -> None:
    with pytest.raises(RetrieverFailed) as refused:
        retrieve(failing, ["Who?"], params={"api_key": "k-12345678"}, retries=0)
    assert "k-12345678" not in str(refused.value)
    assert "***" in str(refused.value)


NAMES = """
    pw pwd db_pwd jwt bearer session session_id code api_key token accessKey subscriptionKey
    privateKey apiKey password Authorization X-Api-Key client_secret access_token
"""
PLAIN = "encoder codebook tokenizer max_tokens keywords k top_k"


def test_fields_that_look_secret_are_hidden_and_no_others() -> None:
    for name in [*NAMES.split(), *PLAIN.split()]:
        is_secret = name in NAMES.split()
        assert bool(LOOKS_SECRET.search(name)) == is_secret, name
        shown = {name: "***" if is_secret else "abc"}
        found = without_secrets({"q": ["{query}"], "part": {name: "abc"}})
        assert found == {"q": ["{query}"], "part": shown}
