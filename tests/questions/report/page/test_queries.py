"""What fits on a page, and what is written beside it."""

import json

import pytest

from calipers.questions.report import browse
from calipers.questions.report.page import queries
from calipers.questions.report.page.page import render
from calipers.questions.report.page.queries import query_data
from tests.reports import hostile_records, records, report_of


def test_all_rows_and_rankings_of_a_small_report_are_there():
    data = query_data(report_of(records(9)))
    assert (data.rows, data.all_rows, data.left_out) == (9, 9, ())
    *about, ((values, status, missed, failed, reason),) = data.values["rows"][4]
    assert about == ["q4", "What is number 4?", ["even"]]
    assert data.values["metrics"][0] == "recall@10"
    assert (values[0], status, missed, failed) == (0.5, "answered", 1, False)
    assert data.values["reasons"][reason] == "not in the results"
    results = data.values["details"]["4"][0]["results"]
    assert [one["state"] for one in results] == ["unjudged"] * 3 + ["relevant"] + ["unjudged"] * 6


def test_where_room_is_short_the_worst_stay_and_a_sample(monkeypatch):
    whole = len(query_data(report_of(records(90))).script())
    monkeypatch.setattr(queries, "RANKING_BYTES", whole // 4)
    report = report_of(records(90))
    data = query_data(report)
    kept = {int(at) for at in data.values["details"]}
    assert data.rows == 90
    assert 0 < len(kept) < 90
    assert len(data.left_out) == 90 - len(kept)
    assert len(json.dumps(data.values["details"])) <= whole // 4 * 1.3
    values = [data.values["rows"][at][3][0][0][0] for at in kept]
    assert values.count(0.0) > len(kept) / 2
    assert max(values) > 0
    named = data.left_out[0]
    assert named not in query_data(report, [named]).left_out
    assert query_data(report, full=True).left_out == ()


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


def test_a_thousand_rankings_of_twenty_are_all_on_a_page_below_ten_megabytes():
    report = report_of(long_texts(1000, 20), k=20)
    page = render(report)
    assert page.left_out == ()
    assert len(page.text.encode()) < 10_000_000
    data = query_data(report)
    assert len(data.values["details"]) == 1000
    assert all(len(one[0]["results"]) == 20 for one in data.values["details"].values())
    assert data.cut is not None
    assert f"of each text {data.cut} characters" in page.text


def test_texts_are_cut_before_a_ranking_is_left_out(monkeypatch):
    report = report_of(long_texts(30, 10))
    whole = len(query_data(report).script())
    monkeypatch.setattr(queries, "RANKING_BYTES", whole // 2)
    data = query_data(report)
    assert (data.left_out, data.cut) == ((), max(cut for cut in queries.CUTS if cut <= data.cut))
    assert data.cut < queries.CUTS[0]
    assert len(data.script()) < whole
    full = query_data(report, full=True)
    assert (full.left_out, full.cut) == ((), None)
    texts = [one["text"] for one in full.values["details"]["3"][0]["results"]]
    assert all(text["after"] == text["before"] == 0 for text in texts)


def test_very_many_queries_leave_a_table_of_the_worst_and_a_sample(monkeypatch):
    monkeypatch.setattr(queries, "MOST_ROWS", 20)
    data = query_data(report_of(records(60)))
    assert (data.rows, data.all_rows) == (20, 60)
    assert data.left_out == ()
    assert sum(row[3][0][0][0] == 0 for row in data.values["rows"]) >= 14
    assert {int(at) for at in data.values["details"]} == set(range(20))


@pytest.mark.parametrize("forbidden", ["<", ">", "&", "\u2028", "\x00"])
def test_data_for_the_script_holds_nothing_that_ends_it(forbidden):
    text = query_data(report_of(hostile_records())).script()
    assert forbidden not in text
    assert json.loads(text)["k"] == 10


def test_queries_whose_ids_look_the_same_stay_apart():
    made = records(2)
    made[0]["id"], made[1]["id"] = "a\x00", "a\x01"
    data = query_data(report_of(made))
    assert set(data.values["details"]) == {"0", "1"}
    assert data.values["details"]["0"] != data.values["details"]["1"]


def test_queries_beyond_the_listed_cases_have_their_misses_too(monkeypatch):
    whole = query_data(report_of(records(9))).values
    monkeypatch.setattr(browse, "LISTED", 1)
    report = report_of(records(9))
    assert report.systems[0].misses.table.height == 1
    assert query_data(report).values == whole
