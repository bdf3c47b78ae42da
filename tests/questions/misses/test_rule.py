"""Each reason on data made to show it, and what stands around the reasons."""

import json

import pytest

from calipers import diagnose, misses
from calipers.errors import InvalidInput, NoCommonIds
from tests.command import calipers_command

SAFE = {"query": "safe", "retrieved": ["s"], "ground_truth": ["s"]}


def only_reason(record, **settings):
    found = misses([record, SAFE], **{"k": 2, **settings})
    assert found.table.height == 1
    return found.table.row(0, named=True)


CORPUS = [
    {"id": "a1", "document": "a", "text": "one"},
    {"id": "a2", "document": "a", "text": "two"},
    {"id": "s", "document": "b", "text": "three"},
]
OF_A = {"id": "a1", "document": "a"}
WANTED = [{"id": "a2", "document": "a"}]
TWICE = [{"id": n, "text": "the same words"} for n in ("x", "y")]


@pytest.mark.parametrize(
    ("returned", "wanted", "more", "reason"),
    [
        ([OF_A], WANTED, {}, "wrong_chunk"),
        ([{"id": "x"}, {"id": "y"}, OF_A], WANTED, {}, "not_returned"),  # it is below k
        (["a1"], ["a2"], {}, "not_returned"),
        (["a1"], ["a2"], {"corpus": CORPUS}, "wrong_chunk"),
        (TWICE, [{"id": "a"}], {"match": "id"}, "crowded_out"),
    ],
)
def test_reasons(returned, wanted, more, reason):
    row = only_reason({"query": "q", "retrieved": returned, "ground_truth": wanted}, **more)
    assert row["reason"] == reason
    assert row["instead"] == [one if isinstance(one, str) else one["id"] for one in returned[:2]]


def test_a_result_with_a_place_only_is_named_by_it():
    chunk = {"document": "a", "start": 50, "end": 90}
    wanted = [{"document": "a", "start": 0, "end": 9}]
    safe = {"query": "s", "retrieved": wanted, "ground_truth": wanted}
    found = misses([{"query": "q", "retrieved": [chunk], "ground_truth": wanted}, safe])
    assert found.table["instead"].to_list() == [["a:50-90"]]


def test_a_query_on_which_the_retriever_failed():
    record = {"query": "q", "ground_truth": ["a"], "retrieved": ["x", "y"], "error": "timeout"}
    assert only_reason(record)["reason"] == "retriever_error"


def test_a_query_that_the_run_does_not_have():
    found = misses(ground_truth={"q": ["a"], "r": ["s"]}, run={"r": ["s"]}, k=1)
    assert found.reasons == {"not_in_run": 1}
    excluded = misses(
        ground_truth={"q": ["a"], "r": ["s"]}, run={"r": ["s"]}, k=1, missing="exclude"
    )
    assert excluded.reasons == {}
    assert excluded.targets == 1
    assert any("left out" in note for note in excluded.notes)


def test_alternatives_are_one_piece_and_the_one_that_came_nearest_speaks_for_it():
    record = {
        "query": "q",
        "retrieved": ["x", "y", "b"],
        "ground_truth": [{"id": "a", "group": "g"}, {"id": "b", "group": "g"}, {"id": "x"}],
    }
    found = misses([record], k=2)
    assert (found.targets, found.found) == (2, 1)
    assert found.table.select("item", "reason", "rank").row(0) == ("b", "below_k", 3)


def test_candidates_and_exact_search_from_runs_of_their_own():
    truth, run = {"q": ["a", "b", "s"]}, {"q": ["s", "x"]}
    found = misses(
        ground_truth=truth, run=run, k=2, candidates={"q": ["s", "a"]}, exact={"q": ["b", "a"]}
    )
    assert dict(found.table.select("item", "reason").iter_rows()) == {
        "a": "lost_by_reranker",
        "b": "missed_by_index",
    }
    assert found.table["candidate_rank"].to_list() == [2, None]
    assert found.table["exact_rank"].to_list() == [2, 1]


def test_a_query_without_recorded_candidates_is_not_the_rerankers_loss():
    records = [
        {
            "query": "with",
            "retrieved": ["x"],
            "ground_truth": ["a", "b"],
            "stages": {"candidates": ["x", "a"]},
        },
        {"query": "without", "retrieved": ["x"], "ground_truth": ["a"]},
        {"query": "empty", "retrieved": [], "ground_truth": ["a"]},
        SAFE,
    ]
    found = misses(records, k=1)
    assert found.table.select("query", "reason").rows() == [
        ("with", "lost_by_reranker"),
        ("with", "never_a_candidate"),
        ("without", "not_returned"),
        ("empty", "nothing_returned"),
    ]
    reason = next(one for one in found.to_dict()["reasons"] if one["name"] == "not_returned")
    assert reason["remedy"] == "record their candidates, too, to see why"


def test_candidates_of_another_corpus_are_refused():
    with pytest.raises(NoCommonIds):
        misses(ground_truth={"q": ["s"]}, run={"q": ["s"]}, candidates={"q": ["zzz"]})


def test_a_stage_that_nobody_knows_is_named():
    record = {"query": "q", "retrieved": ["s"], "ground_truth": ["s"], "stages": {"candidate": []}}
    with pytest.raises(InvalidInput, match=r"candidate.*Did you mean candidates"):
        misses([record])


def test_another_corpus_is_refused():
    with pytest.raises(InvalidInput, match="not the one that was searched"):
        misses(ground_truth={"q": ["s"]}, run={"q": ["s"]}, corpus={"other": "text"})


def test_a_corpus_that_lacks_what_was_returned_is_noted():
    found = misses(ground_truth={"q": ["s", "t"]}, run={"q": ["s", "t"]}, k=2, corpus={"s": "text"})
    assert found.table.height == 0
    assert any("1 of the targets that were returned" in note for note in found.notes)


def test_nothing_missed_is_an_empty_table_with_the_same_columns():
    found = misses(ground_truth={"q": ["s"]}, run={"q": ["s"]}, k=1)
    some = misses(ground_truth={"q": ["s", "t"]}, run={"q": ["s"]}, k=1)
    assert found.table.height == 0
    assert found.table.schema == some.table.schema
    assert found.to_dict()["reasons"] == []


def test_documents_as_targets():
    records = [
        {
            "query": "q",
            "retrieved": [{"id": "a1", "document": "a"}, {"id": "b1", "document": "b"}],
            "ground_truth": [{"id": "a2", "document": "a"}, {"id": "c1", "document": "c"}],
        }
    ]
    found = misses(records, k=2, level="document")
    assert (found.targets, found.found) == (2, 1)
    assert found.table["item"].to_list() == ["c"]
    with pytest.raises(InvalidInput, match="level is document and the run has stages"):
        misses(records, k=2, level="document", candidates=records)


def test_quotes_in_stages():
    texts = ["the answer is 42", "something else", "the question"]
    record = {
        "query": "q",
        "retrieved": [{"text": texts[1]}],
        "ground_truth": [{"quote": "answer is 42"}, {"quote": "something"}],
        "stages": {"candidates": [{"text": text} for text in texts]},
    }
    found = misses([record], k=1)
    assert found.table.select("quote", "reason", "candidate_rank").rows() == [
        ("answer is 42", "lost_by_reranker", 1)
    ]


LONG = [
    f"The account {i} is closed within thirty days of the notice to office {i}." for i in range(9)
]


def cut_in_half():
    """A corpus in which the edge of a chunk cuts every quote, and a run that returns one half."""
    corpus = []
    made = []
    for i, quote in enumerate(LONG):
        half = len(quote) // 2
        corpus.append({"id": f"d{i}#0", "document": f"d{i}", "text": f"Rule {i}. {quote[:half]}"})
        corpus.append({"id": f"d{i}#1", "document": f"d{i}", "text": f"{quote[half:]} End of {i}."})
        shown = [{key: chunk[key] for key in ("id", "text")} for chunk in corpus[-2:-1]]
        made.append({"query": f"q{i}", "retrieved": shown, "ground_truth": [{"quote": quote}]})
    return made, corpus


def test_a_corpus_in_which_every_quote_is_cut_is_the_one_that_was_searched(tmp_path):
    made, corpus = cut_in_half()
    found = misses(made, corpus=corpus, nothing_in_common="zero")
    assert found.reasons == {"split_over_chunks": len(LONG)}
    others = [{"id": "z", "document": "z", "text": "About nothing of this."}]
    assert misses(made, corpus=others, nothing_in_common="zero").reasons == {
        "not_in_corpus": len(LONG)
    }
    paths = [tmp_path / "evals.jsonl", tmp_path / "chunks.jsonl"]
    for path, rows in zip(paths, (made, corpus), strict=True):
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = ("--corpus", paths[1], "--nothing-in-common", "zero")
    for command in ("misses", "diagnose"):
        printed = calipers_command(command, paths[0], *asked)
        assert printed.code == 0
        assert "split over several chunks" in printed.out


def test_chunks_that_complete_a_quote_do_not_hide_that_all_are_cut():
    made, corpus = cut_in_half()
    made[0]["retrieved"] = corpus[:2]
    assert misses(made, corpus=corpus).reasons == {"split_over_chunks": len(LONG) - 1}


def test_results_that_hold_a_target_together_are_a_cure_of_chunks_alone():
    made, corpus = cut_in_half()
    for i in range(6):
        made[i]["retrieved"] = corpus[2 * i : 2 * i + 2]
    made.append(
        {
            "query": "whole",
            "retrieved": [{"text": "All of it."}],
            "ground_truth": [{"quote": "All of it."}],
        }
    )
    cures = {cure.name: cure for cure in diagnose(made, level="chunk").tried}
    assert cures["together"].values[0].after == pytest.approx(0.7)
    assert cures["together"].option == "--level evidence"
    assert cures["pieces"].values[0].after == pytest.approx(1.0)
    assert "together" not in {cure.name for cure in diagnose(made).tried}


def test_a_piece_that_came_back_is_said_without_a_corpus():
    made, _ = cut_in_half()
    found = misses(made, nothing_in_common="zero")
    assert found.reasons == {"in_pieces": len(LONG)}


def test_a_piece_of_a_span():
    made = [
        {
            "query": f"q{i}",
            "retrieved": [{"document": "d", "start": 100 * i, "end": 100 * i + 60}],
            "ground_truth": [{"document": "d", "start": 100 * i + 30, "end": 100 * i + 80 + i % 2}],
        }
        for i in range(6)
    ]
    assert misses(made, nothing_in_common="zero").reasons == {"in_pieces": 6}


def test_a_piece_below_the_cut_is_returned_in_part_and_no_cure_of_the_first_results():
    made, _ = cut_in_half()
    assert misses(made, k=1, nothing_in_common="zero").reasons == {"in_pieces": len(LONG)}
    lower = [
        {**row, "retrieved": [{"text": f"All about {n}."}, *row["retrieved"]]}
        for n, row in enumerate(made)
    ]
    assert misses(lower, k=1, nothing_in_common="zero").reasons == {"in_pieces": len(LONG)}
    tried = diagnose(lower, k=1, nothing_in_common="zero").tried
    assert "pieces" not in {cure.name for cure in tried}
    tried = diagnose(lower, k=2, nothing_in_common="zero").tried
    assert next(cure for cure in tried if cure.name == "pieces").values[0].after == 1.0
