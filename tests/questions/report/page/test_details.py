"""What a row opens to."""

import polars as pl

from calipers.questions.misses.result import REASONS
from calipers.questions.report.page.details import Details
from tests.reports import records, report_of

TEXT = "The GIL is a lock. It serves threads."


def details(record):
    browse = report_of([{"query": "q", **record}]).systems[0].browse
    return Details(browse, pl.Series(["q"])).of("q")


def test_a_span_is_marked_where_it_stands_in_the_chunk():
    place = {"document": "d", "start": 100, "end": 100 + len(TEXT)}
    found = details(
        {
            "ground_truth": [{"document": "d", "start": 108, "end": 117}],
            "retrieved": [{**place, "text": TEXT}],
        }
    )
    assert found["results"][0]["name"] == f"d, 100–{100 + len(TEXT)}"
    assert found["results"][0]["text"]["parts"] == ["The GIL ", "is a lock", TEXT[17:]]


def test_what_was_missed_has_its_reason_and_what_to_do():
    means = {one.name: one.means for one in REASONS}
    (system,) = report_of(records()).systems
    found = Details(system.browse, pl.Series(["q1"])).of("q1")
    first, missed = found["expected"]
    assert (first["name"], first["rank"], first["text"]) == ("c1-4", 4, "chunk 4 of 1")
    assert missed["name"] == "nowhere"
    assert "rank" not in missed
    # What would be to do is an option of a command, and a page takes none.
    assert (missed["reason"], "remedy" in missed) == (means["not_returned"], False)
    (short,) = report_of(records(), k=[3]).systems
    below, _ = Details(short.browse, pl.Series(["q1"])).of("q1")["expected"]
    assert below["reason"] == f"{means['below_k']} (rank 4)"
    assert below["remedy"] == short.answers["misses"].remedy("below_k")


def test_grades_scores_and_documents_are_kept():
    first = {"id": "a", "document": "d", "score": 0.123456789}
    given = {"ground_truth": {"a": 3, "b": 0}, "retrieved": [first, {"id": "b"}, {"id": "a"}]}
    found = details(given)["results"]
    assert found[0] == {
        "rank": 1,
        "state": "relevant",
        "name": "a",
        "document": "d",
        "score": 0.12346,
        "grade": 3.0,
    }
    assert [one["state"] for one in found] == ["relevant", "not relevant", "repeated"]


def test_some_queries_have_what_they_have_among_all():
    browse = report_of(records()).systems[0].browse
    every, some = (Details(browse, pl.Series(n)) for n in (browse.table["query"], ["q7", "q4"]))
    assert [some.of(name) for name in ("q4", "q7")] == [every.of(name) for name in ("q4", "q7")]
    assert some.of("q1") == {"results": [], "expected": []}


def test_what_is_not_wanted_is_not_expected():
    found = details({"ground_truth": {"a": 1, "b": 0}, "retrieved": ["b", "a"]})
    assert [(one["name"], one["rank"]) for one in found["expected"]] == [("a", 2)]
