"""Pages as targets: a page is a document of its own."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from calipers import convert, evaluate, retrieve
from calipers.errors import InvalidInput
from tests.command import refused

FOUND: list[dict[str, Any]] = [
    {"id": "x1", "document": "a.pdf", "page": 2, "text": "one"},
    {"id": "x2", "document": "a.pdf", "page": 3, "text": "two"},
    {"id": "x3", "document": "a.pdf", "page": "3", "text": "three"},
    {"id": "x4", "document": "b.pdf", "page": 3, "text": "four"},
]
RECORD: dict[str, Any] = {
    "query": "q1",
    "retrieved": FOUND,
    "ground_truth": [{"document": "a.pdf", "page": 3}, {"document": "b.pdf", "page": 9}],
}


def means(value, *metrics, **more):
    scores = evaluate(value, metrics=",".join(metrics), **more)
    return [scores[name].mean for name in metrics]


def test_a_page_is_found_where_any_result_comes_from_it():
    # a.pdf 2, a.pdf 3 (twice, and once counted), b.pdf 3: three pages, one of two found.
    assert means([RECORD], "recall@1", "recall@2", "mrr", "precision@3") == [0, 0.5, 0.5, 1 / 3]
    scores = evaluate([RECORD], metrics="mrr")
    assert (scores.settings["matched_at"], scores.settings["match"]) == ("page", "document")
    assert (
        "Matched by page: a page is found where any result comes from it."
        in (scores.settings["notes"])
    )


def test_other_levels_and_ids_that_are_names_of_pages():
    assert means([RECORD], "recall@1", "recall@2", level="document") == [0.5, 1.0]
    chunk = {**RECORD, "ground_truth": ["x3"]}
    assert means([chunk], "recall@2") == [0.0]
    assert means([chunk], "recall@2", level="page") == [1.0]
    named = {**RECORD, "retrieved": ["a.pdf#page=2", "a.pdf#page=3"]}
    assert means([named], "recall@2", "mrr") == [0.5, 0.5]


def test_pages_are_kept_in_every_form(tmp_path):
    for name in ("again.parquet", "again.csv"):
        convert([RECORD], tmp_path / name)
        assert means(tmp_path / name, "recall@2", "mrr") == [0.5, 0.5]


@pytest.mark.parametrize(
    "table",
    [
        "question,document,page\nq1,a.pdf,3\nq1,b.pdf,9\n",
        "question,file,Page Number\nq1,a.pdf,3.0\nq1,b.pdf,9\n",
        "question,source,page,grade\nq1,a.pdf,3,1\nq1,b.pdf,9,2\nq1,b.pdf,3,0\n",
    ],
)
def test_a_table_of_documents_and_pages(tmp_path, table):
    path = tmp_path / "gold.csv"
    path.write_text(table)
    run = [{"query": "q1", "retrieved": FOUND}]
    assert means(None, "recall@2", "mrr", ground_truth=path, run=run) == [0.5, 0.5]
    results = pl.DataFrame({"query": "q1", "rank": [1, 2, 3, 4]}).hstack(
        pl.DataFrame([{**one, "page": str(one["page"])} for one in FOUND]).rename({"id": "item"})
    )
    assert means(None, "recall@2", "mrr", ground_truth=path, run=results) == [0.5, 0.5]


def test_documents_of_libraries_say_their_page():
    # The loader of LangChain counts from 0, and keeps the label that people see.
    metadata = {"source": "a.pdf", "page": 2, "page_label": "3"}
    document = SimpleNamespace(page_content="two", metadata=metadata)
    run = retrieve(lambda query, k: [document], {"q1": "Who?"}, k=1)
    assert run.frame["page"].to_list() == ["3"]
    truth = [{"id": "q1", "query": "Who?", "ground_truth": [{"document": "a.pdf", "page": 3}]}]
    assert means(None, "recall@1", ground_truth=truth, run=run) == [1.0]


def test_pages_counted_from_0_on_one_side_get_a_note():
    shifted = [{**one, "page": int(one["page"]) - 2} for one in FOUND]
    record = {**RECORD, "retrieved": [*shifted, FOUND[1]]}
    notes = evaluate([record], metrics="mrr").settings["notes"]
    assert any("one side may count pages from 0" in note for note in notes)


def test_what_is_lacking_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bare = [{key: one[key] for key in ("id", "document", "text")} for one in FOUND]
    with pytest.raises(InvalidInput, match="the results do not say their page; found"):
        evaluate([{**RECORD, "retrieved": bare}])
    with pytest.raises(InvalidInput, match="level of pages cannot be computed: the results do not"):
        evaluate([{**RECORD, "retrieved": bare}], level="page")
    half = [*FOUND[:3], bare[3]]
    with pytest.raises(InvalidInput, match="a result of query 'q1' has no page"):
        evaluate([{**RECORD, "retrieved": half}])
    with pytest.raises(InvalidInput, match=r"without its document at data\[0\].ground_truth\[0\]"):
        evaluate([{**RECORD, "ground_truth": [{"page": 3}]}])
    with pytest.raises(InvalidInput, match="A page cannot be forbidden"):
        evaluate([{**RECORD, "forbidden": [{"document": "a.pdf", "page": 3}]}])
    with pytest.raises(InvalidInput, match="for 1 of 1 targets the page is not known"):
        evaluate([{**RECORD, "ground_truth": [{"quote": "two"}]}], level="page")
    (tmp_path / "gold.csv").write_text("question,document,page\nq1,a.pdf,\n")
    assert "'page' is blank at gold.csv:2" in refused("audit", "gold.csv")
    assert "Did you mean page?" in refused("eval", "gold.csv", "--level", "pages")
