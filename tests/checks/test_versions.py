"""Versions in columns and in names, and what is none."""

import pytest

import calipers
from calipers import audit
from calipers.checks.catalogue import UNLIKE_REAL


def found(corpus, target, run=None):
    """The names of what is found about versions, for one question with this target."""
    records = [{"id": "q", "query": "which one is it now", "ground_truth": [target]}]
    health = audit(
        records,
        corpus=corpus,
        run={"q": run} if isinstance(run, list) and isinstance(run[0], str) else run,
    )
    names = {one.name for one in health.findings}
    return names & {"superseded_targets", "older_version_first"}, health


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
    assert found(corpus, old)[0] == {"superseded_targets"}
    assert found(corpus, new, [new, old])[0] == set()
    names, health = found(corpus, new, [old, new])
    assert names == {"older_version_first"}
    assert health["older_version_first"].examples[0].target == old


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
    assert found({one: "one text", other: "another text"}, one, [one, other])[0] == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [("1", "2"), (9, 10), ("v1.9", "v1.10"), ("2023-12-31", "2024-01-01T10:00:00Z"), (1.0, 2.0)],
)
def test_versions_of_one_document(old, new):
    corpus = rows(("a", "guide", old), ("b", "guide", new))
    assert found(corpus, "a")[0] == {"superseded_targets"}
    assert found(corpus, "b", ["a", "b"])[0] == {"older_version_first"}
    assert found(rows(("a", "guide", old), ("b", "other", new)), "a", ["a", "b"])[0] == set()


def test_the_results_alone_tell_by_their_names():
    assert found(None, "g-v2", ["g-v1", "g-v2"])[0] == {"older_version_first"}
    assert found(None, "g-v2", ["g-v2", "g-v1"])[0] == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [({"version": 1}, {"version": 2}), ({"date": "2023-12-31"}, {"date": "2024-02-01"})],
)
def test_the_results_alone_tell_by_their_versions_or_dates(old, new, tmp_path):
    listed = [
        {"id": "b7", "document": "guide", "metadata": new},
        {"id": "a3", "document": "guide", "metadata": old},
    ]
    asked = {"q": "which one is it now"}
    told = [
        calipers.retrieve(lambda query, k, one=one: one, asked) for one in (listed, listed[::-1])
    ]
    for run, expected in zip(told, (set(), {"older_version_first"}), strict=True):
        assert found(None, "b7", run)[0] == expected


def test_a_field_of_that_name_that_holds_something_else_is_passed_over():
    listed = [{"id": one, "document": "guide", "version": {"major": 1}} for one in "ab"]
    assert found(None, "b", [{"query": "q", "retrieved": listed}])[0] == set()


def test_a_channel_with_a_date_for_each_message_is_no_document_with_versions():
    chat = rows(*((f"m{n}", "chat", f"2024-05-{n + 1:02}") for n in range(8)))
    assert found(chat, "m0", ["m0", "m7"])[0] == set()
    twice = rows(*((f"{day}.{n}", "guide", f"2024-0{day}-01") for day in (1, 2) for n in range(4)))
    assert found(twice, "1.0")[0] == {"superseded_targets"}


def test_versions_that_have_no_order_say_nothing():
    corpus = rows(("a", "guide", "draft"), ("b", "guide", "2"))
    assert found(corpus, "a", ["a", "b"])[0] == set()


def test_few_real_questions_are_not_judged_as_a_whole():
    records = [{"query": f"what is {n}?", "ground_truth": ["a"]} for n in range(30)]
    for asked, real in ((records, ["why?"]), (records[:3], ["why?"] * 30)):
        health = audit(asked, traces=real)
        assert [one.query for one in health.to_add] == ["why?"]
        assert UNLIKE_REAL not in {one.kind for one in health.findings}
        assert any("20" in note for note in health.notes), health.notes
