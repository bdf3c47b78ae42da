"""How a pair is matched is one value, and all of it is in the fingerprint of the settings."""

from dataclasses import fields, replace
from typing import Any

import pytest

from calipers.engines.scoring import settings_fingerprint
from calipers.errors import InvalidInput
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.operation import build
from calipers.questions.inputs import matching_of
from calipers.questions.reading import MatchingSettings

OTHER: dict[str, Any] = {
    "rel": 2.0,
    "corpus_size": 10,
    "level": "chunk",
    "map_ids": "extension",
    "match": "quote(min=0.5)",
    "policy": Policy(missing="exclude"),
    "further": (("added", 1),),
}


def _matching(keywords):
    return matching_of(build(MatchingSettings, keywords), further={})


def fingerprint(matching: Matching) -> str:
    return settings_fingerprint((), matching.policy, matching.to_settings())


@pytest.mark.parametrize("name", [one.name for one in fields(Matching) if one.name != "like"])
def test_each_field_changes_the_fingerprint_of_the_settings(name):
    usual = Matching(match="id", level="evidence")
    assert fingerprint(replace(usual, **{name: OTHER[name]})) != fingerprint(usual)


def test_a_tool_to_be_like_changes_it_by_its_policies():
    assert fingerprint(_matching({"like": "trec_eval"})) != fingerprint(_matching({}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rel": 0},
        {"corpus_size": 0},
        {"level": "chapter"},
        {"match": "qoute"},
        {"map_ids": "suffix"},
        {"missing": "maybe"},
        {"like": "trec"},
    ],
)
def test_what_cannot_be_meant_is_refused_when_the_value_is_made(wrong):
    with pytest.raises(InvalidInput):
        _matching(wrong)
