"""What lanes are worth: the best setting, its gain on new queries, and bad input."""

import json
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput
from tests.command import calipers_command
from tests.questions.fuse.test_first_line import lane, truth
from tests.questions.samples import write_files


def fused(first: Any, second: Any, n: int, **how: Any) -> Any:
    lanes = {"words": lane(n, first, "w"), "vectors": lane(n, second, "v")}
    return calipers.fuse(lanes, truth(n), **how)


def test_quotes_are_measured_as_their_run_is() -> None:
    texts = {f"c{j}": f"the text of chunk number {j:03} and no other" for j in range(40)}
    records = [
        {"query": f"question {i}", "ground_truth": [{"quote": f"chunk number {i:03} and"}]}
        for i in range(12)
    ]

    def run(shift: int) -> list[dict[str, Any]]:
        return [
            {
                "query": f"question {i}",
                "retrieved": [
                    {"id": f"c{(i + shift + j) % 40}", "text": texts[f"c{(i + shift + j) % 40}"]}
                    for j in range(0, 36, 3)
                ],
            }
            for i in range(12)
        ]

    found = calipers.fuse({"a": run(0), "b": run(-3)}, records, metrics="recall@5,ndcg@5")
    scores = calipers.evaluate(ground_truth=records, run=found.run, metrics="ndcg@5")
    assert scores["ndcg@5"].mean == pytest.approx(found.advised.means["ndcg@5"], abs=1e-12)
    # Without a cut-off the whole list counts.
    found = calipers.fuse({"a": run(-33), "b": run(-30)}, records, metrics="mrr")
    scores = calipers.evaluate(ground_truth=records, run=run(-33), metrics="mrr")
    assert found.lanes[0].means["mrr"] == scores["mrr"].mean > 0


def test_what_each_lane_finds_alone_and_how_deep_it_is_read() -> None:
    n = 40
    found = fused(lambda i: 1 if i < 25 else None, lambda i: 2 if i >= 25 else None, n)
    assert [one.found_alone for one in found.lanes] == [25, 15]
    assert [one.lost_without for one in found.lanes] == [25, 15]
    assert [one.depth_needed for one in found.lanes] == [1, 2]
    assert found.ceiling.recall == 1.0


def test_of_three_lanes_one_alone_may_be_all_that_is_needed() -> None:
    lanes = {
        "words": lane(30, lambda i: 1, "w"),
        "vectors": lane(30, lambda i: 25, "v", shared=1),
        "more": lane(30, lambda i: None if i else 9, "m"),
    }
    found = calipers.fuse(lanes, truth(30))
    assert found.advised.name == "words alone"
    assert [one.lost_without for one in found.lanes] == [30, 0, 0]
    assert [one.depth_needed for one in found.lanes] == [1, 0, 0]


def test_which_queries_each_lane_wins_by_what_the_texts_show() -> None:
    asked = {f"q{i:03}": f"Who wrote {i}?" if i % 2 else f"ERR_{i}_X" for i in range(40)}
    records = [
        {"id": query, "query": text, "ground_truth": [f"d{i}"]}
        for i, (query, text) in enumerate(asked.items())
    ]
    lanes = {
        "words": lane(40, lambda i: None if i % 2 else 1, "w"),
        "vectors": lane(40, lambda i: 1 if i % 2 else None, "v"),
    }
    words, vectors = calipers.fuse(lanes, records).lanes
    assert words.wins_by["form=identifier"] == vectors.wins_by["form=question"] == 20
    assert words.wins_by["form=question"] == 0


def test_three_lanes_have_a_page_without_a_weight_to_draw_over(tmp_path: Path) -> None:
    lanes = {
        "a": lane(30, lambda i: 1 + i % 3, "a"),
        "b": lane(30, lambda i: 3 - i % 3, "b"),
        "c": lane(30, lambda i: 2, "c"),
    }
    fusion = calipers.fuse(lanes, truth(30))
    assert fusion.over_weight == ()
    assert "in the best order" in fusion._repr_html_()
    assert "<svg" not in fusion._repr_html_()
    two = calipers.fuse({name: lanes[name] for name in "ab"}, truth(30))
    assert two.over_weight
    assert "<svg" in two._repr_html_()


def test_lanes_with_ids_in_two_spellings_are_fused_where_the_rule_is_given() -> None:
    """One lane has a prefix: refused with the rule, and with it the same numbers as without."""
    lanes = {"a": lane(30, lambda i: 1 + i % 3, "a"), "b": lane(30, lambda i: 2, "b")}
    prefixed = {
        query: {f"idx:{item}": score for item, score in found.items()}
        for query, found in lanes["a"].items()
    }
    other = {"a": prefixed, "b": lanes["b"]}
    with pytest.raises(InvalidInput, match="map_ids"):
        calipers.fuse(other, truth(30))
    mapped = calipers.fuse(other, truth(30), map_ids="prefix=idx:")
    same = calipers.fuse(lanes, truth(30))
    assert mapped.best.means == same.best.means
    assert mapped.claim.fact == same.claim.fact


def test_the_first_results_of_a_fusion_may_hold_no_quote() -> None:
    """The quote stands second in both lanes: at k = 1 nothing is found, which is no error."""
    rows = [
        {
            "query": f"question {i}",
            "ground_truth": [{"quote": f"chunk number {i:03} and"}],
            "retrieved": [
                {"id": f"c{i}-{j}", "text": f"the text of chunk number {100 + i + j:03} and"}
                for j in (50, -100)
            ],
        }
        for i in range(12)
    ]
    twice = calipers.fuse({"a": rows, "b": rows}, k=1)
    assert twice.best.means["recall@1"] == 0.0
    assert twice.ceiling.recall == 1.0


def test_a_reranker_beside_its_candidates() -> None:
    rows: list[dict[str, Any]] = []
    for i in range(30):
        candidates = [{"id": f"x{i}-{j}"} for j in range(20)]
        candidates[7] = {"id": f"d{i}"}
        order = [candidates[7], *candidates[:7], *candidates[8:]] if i % 3 else candidates
        rows.append(
            {
                "query": f"q{i:03}",
                "retrieved": order[:10],
                "stages": {"candidates": candidates},
                "ground_truth": [f"d{i}"],
            }
        )
    line = calipers.fuse({"reranked": rows}).claim.line
    better = "It is better than the order as given: ndcg@10 is 0.772, it was 0.315."
    assert line == f"▲ Use reranked alone. {better}"
    found = calipers.fuse({"reranked": rows}, metrics="mrr@10")
    assert "The reranker brings" in found._repr_html_()
    assert found.reranker is not None
    assert found.reranker.before["mrr@10"] == pytest.approx(1 / 8)
    assert found.reranker.after["mrr@10"] == pytest.approx(20 / 30 + 10 / 30 / 8)
    assert found.reranker.best["mrr@10"] == 1.0
    assert found.reranker.candidates == 20
    assert found.reranker.candidates_needed == 10
    for row in rows:
        row["retrieved"] = row["stages"]["candidates"][:9]
    line = calipers.fuse({"reranked": rows}).claim.line
    assert line == "~ Keep the order as given: no setting is clearly better on 30 queries."
    for row in rows:
        row["retrieved"] = row["stages"]["candidates"][10:]
    with pytest.raises(InvalidInput):
        calipers.fuse({"reranked": rows})
    rows[0]["retrieved"] = rows[0]["stages"]["candidates"][:10]
    harmed = calipers.fuse({"reranked": rows})
    assert harmed.claim.line == (
        "✓ Keep the order as given. It is better than reranked alone; no setting is clearly better."
    )
    assert harmed.run.frame["item"][:2].to_list() == ["x0-0", "x0-1"]


@pytest.mark.parametrize(
    ("lanes", "sentence"),
    [
        ({"a": lane(5, lambda i: 1)}, "does not hold the candidates"),
        ({}, "No lane"),
        (
            {
                "a": lane(9, lambda i: 1 if i else None),
                "b": {
                    query: {
                        item if item == "d0" else f"b/{item}": score
                        for item, score in results.items()
                    }
                    for query, results in lane(9, lambda i: None if i else 1, "v").items()
                },
            },
            "share no result",
        ),
    ],
    ids=["one lane", "none", "other ids"],
)
def test_lanes_that_cannot_be_fused_get_a_sentence(lanes: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        calipers.fuse(lanes, truth(9), nothing_in_common="zero")


def test_one_query_is_too_few() -> None:
    with pytest.raises(InvalidInput, match="one query"):
        fused(lambda i: 1, lambda i: 2, 1)


def test_the_command_writes_the_fused_run(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    done = calipers_command("fuse", "evals.jsonl", "turned.jsonl", "-o", "fused.jsonl", "--json")
    scores = calipers.evaluate(ground_truth="evals.jsonl", run="fused.jsonl", metrics="recall@10")
    means = json.loads(done.out)["advised"]["means"]
    assert scores["recall@10"].mean == pytest.approx(means["recall@10"], abs=1e-12)
