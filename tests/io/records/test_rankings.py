"""Two rankings in one record: refused with a line for each, and each line reads."""

import json
import re
from typing import Any

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput

PAIRS = [
    ("reranked", "retrieved"),
    ("dense_results", "bm25_results"),
    ("after", "before"),
    ("reranked_ids", "retrieved_ids"),
    ("hits_hybrid", "hits_bm25"),
    ("final_results", "initial_results"),
]


def records(last: str, first: str, shape: str) -> list[dict[str, Any]]:
    def listed(ids: str) -> list[Any]:
        if shape == "ids":
            return list(ids)
        return [{"id": item, "score": 9 - place} for place, item in enumerate(ids)]

    return [
        {"query": "Who is it?", first: listed("xa"), last: listed("ax"), "ground_truth": ["a"]},
        {"query": "Who else?", first: listed("yb"), last: listed("by"), "ground_truth": ["b"]},
    ]


@pytest.mark.parametrize("shape", ["ids", "objects"])
@pytest.mark.parametrize("ending", ["json", "jsonl", "memory"])
@pytest.mark.parametrize(("last", "first"), PAIRS)
def test_both_lists_are_proposed_and_both_lines_read(last, first, ending, shape, tmp_path) -> None:
    rows = records(last, first, shape)
    path = tmp_path / f"data.{ending}"
    lines = "\n".join(map(json.dumps, rows))
    path.write_text(lines if ending == "jsonl" else json.dumps(rows), encoding="utf-8")
    given = rows if ending == "memory" else path
    with pytest.raises(InvalidInput, match="lists results twice") as refusal:
        evaluate(given)
    for name, value in ((last, 1.0), (first, 0.5)):
        assert f'columns={{"retrieved": "{name}"}}' in str(refusal.value)
        assert evaluate(given, columns={"retrieved": name}, metrics="mrr")["mrr"].mean == value


@pytest.mark.parametrize(
    "beside",
    [
        {"retrieved_scores": [0.9, 0.1]},
        {"retrieved_texts": ["The first text.", "The second text."]},
        {"hits": ["a", "x"]},  # the same list, twice
        {"results": 2},
        {"stages": {"bm25": ["x", "a"]}},
        {"expected_before": ["x", "a"]},
        {"after": "2026-01-01"},
    ],
)
def test_what_is_no_second_ranking_is_read(beside) -> None:
    record = {"query": "Who?", "retrieved": ["a", "x"], "ground_truth": ["a"], **beside}
    assert evaluate([record], metrics="mrr")["mrr"].mean == 1.0


def test_a_ground_truth_needs_no_ranking() -> None:
    rows = records("reranked", "retrieved", "ids")
    run = {"Who is it?": ["a"], "Who else?": ["b"]}
    assert evaluate(ground_truth=rows, run=run, metrics="mrr")["mrr"].mean == 1.0


RERANKED = [
    {"id": "x", "rank": 1, "rerank_rank": 2},
    {"id": "a", "rank": 2, "rerank_rank": 1},
]


def test_ranks_of_a_reranker_in_another_order_are_refused() -> None:
    record = {"query": "Who?", "retrieved": RERANKED, "ground_truth": ["a"]}
    said = re.escape('columns={"rank": "rerank_rank"}     "Who?": should find a; returned a, x')
    with pytest.raises(InvalidInput, match=said):
        evaluate([record])
    sorted_by_it = evaluate([record], columns={"rank": "rerank_rank"}, metrics="mrr")
    assert sorted_by_it["mrr"].mean == 1.0
    as_listed = evaluate([record], columns={"ignore": "rerank_rank"}, metrics="mrr")
    assert as_listed["mrr"].mean == 0.5
    agreeing: dict[str, Any] = {**record, "retrieved": RERANKED[::-1]}
    for row in agreeing["retrieved"]:
        row.pop("rank")
    assert evaluate([agreeing], metrics="mrr")["mrr"].mean == 1.0


def test_a_score_of_a_reranker_sorts_where_it_is_named() -> None:
    listed = [{"id": "a", "reranker_score": 0.2}, {"id": "b", "reranker_score": 0.9}]
    record = {"query": "Who?", "retrieved": listed, "ground_truth": ["b"]}
    with pytest.raises(InvalidInput) as caught:
        evaluate([record])
    lines = str(caught.value).splitlines()[1:]
    assert [line.split("   ")[0].strip() for line in lines] == [
        'columns={"score": "reranker_score"}',
        'columns={"ignore": "reranker_score"}',
    ]
    for field, mean in (("score", 1.0), ("ignore", 0.5)):
        scores = evaluate([record], columns={field: "reranker_score"}, metrics="mrr")
        assert scores["mrr"].mean == mean


def test_the_lists_of_autorag_are_tried_before_they_are_proposed() -> None:
    record = {
        "qid": "1",
        "query": "Who?",
        "retrieval_gt": [["a"]],
        "retrieved_ids_lexical": ["a", "b"],
        "retrieved_ids_semantic": ["b", "a"],
    }
    with pytest.raises(InvalidInput) as caught:
        evaluate([record])
    for kind, mean in (("lexical", 1.0), ("semantic", 0.5)):
        columns = {"retrieved": f"retrieved_ids_{kind}"}
        assert str(columns).replace("'", '"') in str(caught.value)
        assert evaluate([record], columns=columns, metrics="mrr")["mrr"].mean == mean


def test_the_id_of_a_result_is_proposed_by_what_it_has_in_common() -> None:
    listed = [{"lang": "en", "ref": "x"}, {"lang": "de", "ref": "a"}]
    record = {"query": "Who?", "retrieved": listed, "ground_truth": ["a"]}
    with pytest.raises(InvalidInput, match=r'Say columns={"item": "ref"}; a result has neither'):
        evaluate([record])
    assert evaluate([record], columns={"item": "ref"}, metrics="mrr")["mrr"].mean == 0.5


@pytest.mark.parametrize(
    ("name", "grades", "asks"),
    [
        ("relevance_scores", [1, 0], True),
        ("my_labels", [2, 1], False),  # no word of judgement
        ("label_values", [1, 0], True),
        ("relevance_scores", [0.7, 0.2], False),
        ("relevance_scores", [3, 2, 1], False),  # as many as the results
        ("relevant_pages", [3, 4], False),
    ],
)
def test_a_list_as_long_as_the_targets_may_grade_them(name, grades, asks) -> None:
    record = {"query": "Who?", "retrieved": ["a", "c", "b"], "ground_truth": ["a", "b"]}
    record[name] = grades
    if asks:
        with pytest.raises(InvalidInput, match=rf'columns={{"grade": "{name}"}}'):
            evaluate([record])
        values = evaluate([record], columns={"grade": name}, metrics="recall@1")
        assert values["recall@1"].mean == 1.0
    else:
        assert evaluate([record], metrics="recall@1")["recall@1"].mean == 0.5


def test_grades_beside_targets_are_not_read_where_the_user_says_so() -> None:
    record = {"query": "Who?", "retrieved": ["a"], "ground_truth": ["a", "b"], "grades": [1, 0]}
    with pytest.raises(InvalidInput, match=r'columns={"grade": "grades"} .*\n.*"ignore": "grades"'):
        evaluate([record])
    graded = evaluate([record], columns={"grade": "grades"}, metrics="recall@1")
    assert graded["recall@1"].mean == 1.0
    ignored = evaluate([record], columns={"ignore": "grades"}, metrics="recall@1")
    assert ignored["recall@1"].mean == 0.5


def test_the_ranker_of_a_pipeline_is_proposed_before_its_retriever() -> None:
    rows = [
        {
            "question": asked,
            "retriever": {"documents": [{"id": "x"}, {"id": "a"}]},
            "ranker": {"documents": [{"id": "a"}, {"id": "x"}]},
            "expected_ids": ["a"],
        }
        for asked in ("Who is it?", "Who else?")
    ]
    with pytest.raises(InvalidInput, match="list results twice") as refusal:
        evaluate(rows)
    lines = re.findall(r'"retrieved": "(\w+)\.documents"', str(refusal.value))
    assert lines == ["ranker", "retriever"]
    columns = {"retrieved": "ranker.documents"}
    assert evaluate(rows, columns=columns, metrics="mrr")["mrr"].mean == 1.0
