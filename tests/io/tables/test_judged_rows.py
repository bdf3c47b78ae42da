"""A table of results with a verdict each: what was not returned is not known."""

import json
import random

import pytest

import calipers
from calipers import evaluate
from calipers.errors import InvalidInput
from tests.command import calipers_command

NAMES = "question,doc_id,rank,is_relevant"


def put(folder, rows):
    path = folder / "judged.csv"
    path.write_text("\n".join([NAMES, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.mark.parametrize("seed", range(8))
def test_what_can_be_measured_is_over_all_questions(seed, tmp_path):
    draw = random.Random(seed)
    asked = {f"q{n}": [draw.choice((0, 0, 1)) for _ in range(draw.randint(1, 5))] for n in range(6)}
    asked["q0"] = [0, 1]
    asked["q1"] = [0, 0]
    rows = [
        (query, f"d{n}", n, verdict)
        for query, verdicts in asked.items()
        for n, verdict in enumerate(verdicts, 1)
    ]
    scores = evaluate(put(tmp_path, rows))
    every = list(asked.values())
    assert scores["precision@3"].mean == pytest.approx(sum(sum(v[:3]) / 3 for v in every) / 6)
    assert scores["hit_rate@3"].mean == pytest.approx(sum(any(v[:3]) for v in every) / 6)
    first = [1 / (v.index(1) + 1) if any(v) else 0 for v in every]
    assert scores["mrr"].mean == pytest.approx(sum(first) / 6)
    assert scores["mrr"].n == 6
    names = {metric.kind for metric in scores.metrics}
    assert names == {"precision", "hit_rate", "mrr"}
    assert "Only what was returned was judged" in scores.settings["notes"][0]


@pytest.mark.parametrize("metric", ["recall@3", "f1@3", "ndcg@3", "map", "r_precision"])
def test_what_needs_more_is_refused_until_the_user_says_that_nothing_else_is(metric, tmp_path):
    path = put(tmp_path, [("q", "a", 1, 0), ("q", "b", 2, 1)])
    with pytest.raises(InvalidInput, match='judged="complete" if nothing else is relevant'):
        evaluate(path, metrics=metric)
    assert evaluate(path, metrics=metric, judged="complete")[metric].mean is not None
    assert calipers_command("eval", path, "-m", metric).code == 2
    assert calipers_command("eval", path, "-m", metric, "--judged", "complete").code == 0


def test_a_row_that_was_judged_and_not_returned_says_what_was_missed(tmp_path):
    path = put(tmp_path, [("q", "a", 1, 0), ("q", "b", 2, 1), ("q", "z", "", 1)])
    assert evaluate(path, metrics="recall@3")["recall@3"].mean == 0.5


JUDGED = {"how to reset": [0, 1, 0], "where is it": [1, 0], "why so slow": [0, 0]}


def as_rows(folder):
    return put(folder, [(q, f"{q[:3]}{n}", n, v) for q, n, v in _rows()])


def _rows():
    return [(query, n, v) for query, listed in JUDGED.items() for n, v in enumerate(listed, 1)]


def as_book(folder):
    path = folder / "book.jsonl"
    rows = [
        {
            "query_text": query,
            "doc_id": f"{query[:3]}{n}",
            "position": n,
            "judgements": [{"rating": verdict}],
        }
        for query, n, verdict in _rows()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_results(folder):
    path = folder / "results.jsonl"
    records = [
        {
            "question": query,
            "results": [
                {"chunk_id": f"{query[:3]}{n}", "is_relevant": bool(verdict)}
                for n, verdict in enumerate(listed, 1)
            ],
        }
        for query, listed in JUDGED.items()
    ]
    path.write_text(json.dumps(records))
    return path


def as_converted(folder):
    calipers.convert(as_rows(folder), folder / "ours.jsonl")
    return folder / "ours.jsonl"


@pytest.mark.parametrize("write", [as_rows, as_book, as_results, as_converted])
def test_whatever_file_judges_what_was_returned_no_recall_is_measured(write, tmp_path):
    path = write(tmp_path)
    scores = evaluate(path)
    assert {metric.kind for metric in scores.metrics} == {"precision", "hit_rate", "mrr"}
    assert scores["precision@3"].mean == pytest.approx((1 + 1 + 0) / 9)
    assert scores["hit_rate@1"].mean == pytest.approx(1 / 3)
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(path, metrics="recall@3")


def test_results_of_which_some_were_not_judged(tmp_path):
    path = tmp_path / "some.json"
    listed = [{"id": "a", "relevant": False}, {"id": "b", "relevant": True}, {"id": "z"}]
    records = [{"query": q, "retrieved": listed} for q in ("one", "two")]
    path.write_text(json.dumps(records))
    assert evaluate(path, metrics="precision@3")["precision@3"].mean == pytest.approx(1 / 3)
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(path, metrics="recall@3")


SOME = [("q", "a", 1, 1), ("q", "b", 2, ""), ("r", "a", 1, 0), ("r", "c", 2, 1), ("s", "a", 1, "")]
ALL = [(query, item, rank, verdict or 0) for query, item, rank, verdict in SOME]
ONE = SOME[:2]


def same_answers(path, out):
    """Whether two files have the same metrics, and none that needs what was not returned."""
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(out, metrics="recall@2")
    return evaluate(out).to_dict()["metrics"] == evaluate(path).to_dict()["metrics"]


@pytest.mark.parametrize("rows", [SOME, ALL, ONE], ids=["some", "all", "one"])
@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "parquet"])
def test_a_converted_file_gives_the_same_answers(ending, rows, tmp_path):
    path = put(tmp_path, rows)
    out = tmp_path / f"out.{ending}"
    assert calipers.convert(path, out).lost == {}
    assert same_answers(path, out)


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_what_python_has_read_and_writes_gives_the_same_answers(ending, tmp_path):
    path = put(tmp_path, SOME)
    pair = calipers.read(path)
    out = tmp_path / f"out.{ending}"
    calipers.convert(output=out, ground_truth=pair.ground_truth, run=pair.run)
    assert same_answers(path, out)
    again = tmp_path / "again.json"
    calipers.convert(out, again)
    assert calipers.read(again).ground_truth.only_returned
    complete = [evaluate(one, metrics="recall@2", judged="complete") for one in (path, again)]
    assert complete[0]["recall@2"] == complete[1]["recall@2"]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_converted_ground_truth_alone_knows_it(ending, tmp_path):
    out = tmp_path / f"out.{ending}"
    calipers.convert(output=out, ground_truth=put(tmp_path, SOME))
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(ground_truth=out, run={"q": ["a"]}, metrics="recall@2")


def test_trec_judgements_cannot_say_it_so_a_note_does(tmp_path):
    path = put(tmp_path, SOME)
    out = tmp_path / "out.qrels"
    done = calipers.convert(path, out)
    assert done.lost["only_returned"] == 3
    assert 'Give judged="returned" wherever you measure with this file' in done.sentences[1]
    printed = calipers_command("convert", path, tmp_path / "again.qrels")
    assert "Give --judged returned wherever" in printed.out
    run = tmp_path / "out.run"
    assert "only_returned" not in calipers.convert(path, run).lost
    assert evaluate(ground_truth=out, run=run, metrics="recall@2")["recall@2"].mean == 1
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(ground_truth=out, run=run, metrics="recall@2", judged="returned")


def test_a_complete_ground_truth_gets_no_mark(tmp_path):
    out = tmp_path / "out.jsonl"
    record = {"query": "q", "retrieved": ["a", "b"], "ground_truth": {"a": 1, "z": 1}}
    calipers.convert([record], out)
    assert json.loads(out.read_text()) == record


def test_a_mark_that_is_not_known_is_refused():
    record = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"], "judged_only": "some"}
    with pytest.raises(InvalidInput, match="judged_only"):
        evaluate([record])


@pytest.mark.parametrize("judgement", [0.83, "nearly", None])
def test_a_number_of_a_retriever_judges_nothing(judgement, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps([{"query": "q", "retrieved": [{"id": "a", "rating": judgement}]}]))
    with pytest.raises(InvalidInput, match="has no ground truth, only results"):
        evaluate(path)


def test_a_saved_evaluation_knows_that_only_returned_rows_were_judged(tmp_path):
    store = tmp_path / "history.db"
    path = as_rows(tmp_path)
    assert calipers_command("eval", path, "--save", "x", "--store", store).code == 0
    again = evaluate("@x", store=store)
    assert {metric.kind for metric in again.metrics} == {"precision", "hit_rate", "mrr"}
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate("@x", store=store, metrics="recall@3")
    complete = ("--judged", "complete", "--save", "y", "--store", store)
    assert calipers_command("eval", path, *complete).code == 0
    assert evaluate("@y", store=store, metrics="recall@3")["recall@3"].mean == 1


def test_mapped_ids_do_not_make_recall_known(tmp_path):
    with pytest.raises(InvalidInput, match="only what was returned was judged"):
        evaluate(as_rows(tmp_path), metrics="recall@3", map_ids="case")


def test_nobody_knows_what_was_missed(tmp_path):
    path = as_rows(tmp_path)
    with pytest.raises(InvalidInput, match="what was missed is not known"):
        calipers.misses(path)
    assert calipers.misses(path, judged="complete").missed == 0
    low = calipers.misses(path, k=1)
    assert low.missed == 1
    assert "what was not returned is not listed" in low.notes[0]


def test_hard_negatives_that_came_back_are_no_judged_rows(tmp_path):
    path = tmp_path / "evals.json"
    records = [
        {"query": q, "retrieved": ["a", "b", "c"], "ground_truth": {"a": 1, "b": 0}}
        for q in ("one", "two")
    ]
    path.write_text(json.dumps(records))
    assert evaluate(path, metrics="recall@3")["recall@3"].mean == 1


def test_a_comparison_and_a_sweep_measure_what_can_be_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [("q", "a", 1, 0), ("q", "b", 2, 1), ("p", "a", 1, 1), ("p", "c", 2, 0)]
    better = [("q", "b", 1, 1), ("q", "a", 2, 0), ("p", "a", 1, 1), ("p", "c", 2, 0)]
    put(tmp_path, rows).rename("old.csv")
    put(tmp_path, better).rename("new.csv")
    compared = calipers.compare(["old.csv", "new.csv"])
    assert {*compared.asked} == {"hit_rate@10", "mrr"}
    assert compared.difference("new", "mrr").difference == 0.25
    led = calipers.compare(["old.csv", "new.csv"], primary="precision@1")
    assert led.difference("new", "precision@1").difference == 0.5
    swept = calipers.sweep("old.csv")
    assert swept.metrics == ("precision", "hit_rate", "mrr")
    assert [point.values["hit_rate"].mean for point in swept.points] == [0.5, 1.0]
    assert swept.recall is None
    assert calipers.sweep("old.csv", metrics="mrr").metrics == ("mrr", "precision")
    for text in (str(compared), str(swept)):
        assert "only what was returned was judged" in text.lower()
        assert 'judged="complete"' in text
    with pytest.raises(InvalidInput, match="only what was returned"):
        calipers.compare(["old.csv", "new.csv"], metrics="recall@2")
    with pytest.raises(InvalidInput, match="only what was returned"):
        calipers.sweep("old.csv", metrics="recall")
    complete = calipers.sweep("old.csv", judged="complete")
    assert complete.recall is not None


@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        ("eval -m recall@3", "Measure precision, hit_rate or mrr, or say --judged complete if"),
        ("grow --corpus-size 9", "Measure hit_rate or mrr, or say --judged complete if"),
        ("diagnose", "Say --judged complete if"),
        ("misses", "Say --judged complete if"),
    ],
)
def test_what_is_offered_instead_the_command_can_do(asked, begins, tmp_path):
    name, *options = asked.split()
    path = as_rows(tmp_path)
    refused = calipers_command(name, path, *options)
    assert refused.code == 2
    assert refused.err.startswith(f"Error: {begins} nothing else is relevant: ")
    if " -m" in calipers_command(name, "--help").out:
        at_will = ["-m", "hit_rate@1,mrr", *(options if name == "grow" else [])]
        assert calipers_command(name, path, *at_will).code == 0
    assert calipers_command(name, path, *options, "--judged", "complete").code == 0
