"""A secret that is passed to a function is never said again."""

import pytest

import calipers
from calipers.errors import RetrieverFailed
from calipers.live.adapters.base import LOOKS_SECRET


def failing(query: str, k: int, api_key: str) -> list[str]:
    raise ValueError(f"the key {api_key} is not known")


def test_a_parameter_that_looks_secret_is_taken_out_of_errors() -> None:
    with pytest.raises(RetrieverFailed) as refused:
        calipers.retrieve(failing, ["Who?"], params={"api_key": "k-12345678"}, retries=0)
    assert "k-12345678" not in str(refused.value)
    assert "***" in str(refused.value)


NAMES = """
    pw pwd db_pwd jwt bearer session session_id code api_key token accessKey subscriptionKey
    privateKey
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_names_of_secrets(name: str) -> None:
    assert LOOKS_SECRET.search(name)


@pytest.mark.parametrize("name", ["encoder", "codebook", "tokenizer", "tokens", "keywords", "k"])
def test_names_that_only_look_alike(name: str) -> None:
    assert not LOOKS_SECRET.search(name)
