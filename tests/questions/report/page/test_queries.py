"""What fits on a page."""

import json

import pytest

from calipers.questions.report import browse
from calipers.questions.report.page import queries
from calipers.questions.report.page.page import render
from calipers.questions.report.page.queries import query_data
from tests.reports import hostile_records, records, report_of


def test_all_rows_and_rankings_of_a_small_report_are_there():
    data = query_data(report_of(records(9)))
    assert (data.rows, data.all_rows, data.cut) == (9, 9, 700)
    *about, ((values, status, missed, failed, reason),) = data.values["rows"][4]
    assert about == ["q4", "What is number 4?", ["even"]]
    assert data.values["metrics"][0] == "recall@10"
    assert (values[0], status, missed, failed) == (0.5, "answered", 1, False)
    assert data.values["reasons"][reason] == "not in the results"
    results = data.values["details"][4][0]["results"]
    assert [one["state"] for one in results] == ["unjudged"] * 3 + ["relevant"] + ["unjudged"] * 6


def long_texts(queries, results, words=120):
    """Rankings of which no two texts are alike, and all are long."""
    return [
        {
            "id": f"q{i}",
            "query": f"question {i}?",
            "ground_truth": [f"c{i}-{i % (results + 2)}"],
            "retrieved": [
                {
                    "id": f"c{i}-{j}",
                    "score": 1 / (j + 1),
                    "text": " ".join(f"word{i * j * n % 9973}" for n in range(words)),
                }
                for j in range(results)
            ],
        }
        for i in range(queries)
    ]


def test_texts_are_cut_to_their_part_of_the_page(monkeypatch):
    monkeypatch.setattr(queries, "TEXT_BYTES", queries.TEXT_BYTES // 10)
    report = report_of(long_texts(100, 20), k=20)
    page = render(report)
    assert len(page.encode()) < 1_000_000
    data = query_data(report)
    assert (data.rows, data.cut) == (100, 250)
    assert all(len(one[0]["results"]) == 20 for one in data.values["details"])
    assert "Of each text, 250 characters" in page


def test_very_many_queries_leave_the_worst_and_a_sample(monkeypatch):
    monkeypatch.setattr(queries, "MOST_QUERIES", 20)
    report = report_of(records(60))
    data = query_data(report)
    assert (data.rows, data.all_rows, len(data.values["details"])) == (20, 60, 20)
    found = [row[3][0][0][0] for row in data.values["rows"]]
    assert found.count(0) >= 14
    assert max(found) > 0
    there = {row[0] for row in data.values["rows"]}
    absent = next(f"q{n}" for n in range(60) if f"q{n}" not in there)
    more = query_data(report, [absent, "unknown"])
    assert {row[0] for row in more.values["rows"]} == there | {absent}
    assert "The page holds 20 of 60 queries" in render(report)


@pytest.mark.parametrize("forbidden", ["<", ">", "&", "\u2028", "\x00"])
def test_data_for_the_script_holds_nothing_that_ends_it(forbidden):
    text = query_data(report_of(hostile_records())).script()
    assert forbidden not in text
    assert json.loads(text)["k"] == 10


def test_queries_whose_ids_look_the_same_stay_apart():
    made = records(2)
    made[0]["id"], made[1]["id"] = "a\x00", "a\x01"
    data = query_data(report_of(made))
    first, second = data.values["details"]
    assert first != second


def test_queries_beyond_the_listed_cases_have_their_misses_too(monkeypatch):
    whole = query_data(report_of(records(9))).values
    monkeypatch.setattr(browse, "LISTED", 1)
    report = report_of(records(9))
    assert report.systems[0].misses.table.height == 1
    assert query_data(report).values == whole
