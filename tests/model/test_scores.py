"""A result explains itself, and its documented form is its form."""

import json
import re
from pathlib import Path
from typing import Any

import calipers
from calipers.model.matched import ANSWERED, EMPTY, FAILED, MISSING
from calipers.model.policy import CHOICES
from calipers.model.result import SCHEMA

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
RECORDS: list[dict[str, Any]] = [
    {"query": "q1", "retrieved": ["a"], "ground_truth": {"a": 1}, "tags": {"type": "fact"}},
    {"query": "q2", "retrieved": [], "ground_truth": {"a": 1}},
]


def documented() -> dict[str, list[str]]:
    """The keys that the page lists, by the heading above them."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    key = re.compile(r"^[-|] `(\w+)`", re.MULTILINE)
    return {section.split("\n")[0].strip(): key.findall(section) for section in sections}


def printed() -> dict[str, Any]:
    path_free = calipers.evaluate(RECORDS).to_dict()
    return dict(json.loads(json.dumps(path_free)))


def test_the_documented_keys_are_exactly_those_printed() -> None:
    result = printed()
    found = {
        "document": list(result),
        "summaries": list(result["summaries"][0]),
        "interval": list(result["summaries"][0]["interval"]),
        "sentences": list(result["sentences"][0]),
        "metrics": list(result["metrics"][0]),
        "audit": list(result["audit"]),
        "policy": list(result["policy"]),
        "fingerprints": list(result["fingerprints"]),
        "settings": list(result["settings"]),
        "per_query": list(result["per_query"][0]),
    }
    pages = documented()
    assert found.keys() == pages.keys()
    where_given = {"cluster", "map_ids", "weight_by"}
    for part, keys in found.items():
        assert sorted(keys) == sorted(set(pages[part]) - where_given), part


def test_the_page_names_every_value_that_can_occur() -> None:
    text = PAGE.read_text()
    assert f"the number of this format: {SCHEMA}" in text
    policies = text.split("## policy")[1].split("## ")[0].split("\n")
    for name, values in CHOICES.items():
        row = next(line for line in policies if line.startswith(f"| `{name}` |"))
        assert row.endswith(f"| {', '.join(f'`{value}`' for value in values)} |")
    for status in (ANSWERED, EMPTY, MISSING, FAILED):
        assert f"`{status}`" in text


def test_every_entry_has_the_same_keys() -> None:
    result = printed()
    for part in ("metrics", "per_query", "summaries"):
        assert len({tuple(entry) for entry in result[part]}) == 1
    names = [summary["metric"] for summary in result["summaries"]]
    assert names == [metric["name"] for metric in result["metrics"]]
    assert all(list(row["scores"]) == names for row in result["per_query"])
