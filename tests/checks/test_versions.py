"""Versions in columns and in names, and what is none."""

import pytest

from calipers import audit


def is_old(corpus, target):
    """Whether one question's target is said to stand in an older version."""
    records = [{"id": "q", "query": "which one is it now", "ground_truth": [target]}]
    return "superseded_targets" in audit(records, corpus=corpus)


def rows(*chunks):
    keys = ("id", "document", "version")
    return [{**dict(zip(keys, one, strict=True)), "text": f"text of {one[0]}"} for one in chunks]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("guide-v1", "guide-v2"),
        ("guide_v9.md", "guide_v10.md"),
        ("docs/v1.9/guide", "docs/v1.10/guide"),
        ("guide Version 1", "guide Version 2"),
        ("guide.rev3#4", "guide.rev4#4"),
    ],
)
def test_versions_in_names(old, new):
    corpus = {old: "a text", new: "another text"}
    assert is_old(corpus, old)
    assert not is_old(corpus, new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("guide-1", "guide-2"),
        ("rev", "rev2"),
        ("minutes-2024-01-05", "minutes-2024-02-05"),
        ("dev1", "dev2"),
        ("a-v1", "b-v2"),
        ("ipv4", "ipv6"),
    ],
)
def test_names_without_versions(one, other):
    assert not is_old({one: "one text", other: "another text"}, one)


@pytest.mark.parametrize(
    ("old", "new"),
    [("1", "2"), (9, 10), ("v1.9", "v1.10"), ("2023-12-31", "2024-01-01T10:00:00Z"), (1.0, 2.0)],
)
def test_versions_of_one_document(old, new):
    corpus = rows(("a", "guide", old), ("b", "guide", new))
    assert is_old(corpus, "a")
    assert not is_old(corpus, "b")
    assert not is_old(rows(("a", "guide", old), ("b", "other", new)), "a")


def test_a_channel_with_a_date_for_each_message_is_no_document_with_versions():
    chat = rows(*((f"m{n}", "chat", f"2024-05-{n + 1:02}") for n in range(8)))
    assert not is_old(chat, "m0")
    twice = rows(*((f"{day}.{n}", "guide", f"2024-0{day}-01") for day in (1, 2) for n in range(4)))
    assert is_old(twice, "1.0")


def test_versions_that_have_no_order_say_nothing():
    corpus = rows(("a", "guide", "draft"), ("b", "guide", "2"))
    assert not is_old(corpus, "a")
