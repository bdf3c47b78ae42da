import json

import polars as pl
import pytest

from calipers import convert, evaluate
from calipers.errors import InvalidInput, WriteFailed
from calipers.io.load import load

RECORDS = [
    {
        "id": "q1",
        "query": "What is it?",
        "tags": {"type": "fact"},
        "latency_ms": 3.0,
        "retrieved": [{"id": "a", "score": 0.5, "text": "some text"}, {"id": "b", "score": 0.9}],
        "ground_truth": [
            {"id": "a", "grade": 2},
            {"id": "b", "grade": 0},
            {"id": "c", "group": "x"},
            {"quote": "some words"},
            {"document": "d", "start": 1, "end": 5},
        ],
    },
    {"id": "q2", "query": "Is there one?", "retrieved": [], "ground_truth": []},
]


def test_what_each_form_cannot_hold_is_counted(tmp_path):
    def lost(name):
        return convert(RECORDS, tmp_path / name).lost

    def each(*names):
        return dict.fromkeys(names, 1)

    assert lost("a.jsonl") == lost("a.parquet") == lost("a.csv") == {}
    run = {"query_texts": 2, **each("tags", "texts", "latencies", "queries_without_results")}
    targets = {"targets_without_id": 2, **each("quotes", "spans", "queries_without_targets")}
    judged = {"query_texts": 2, "tags": 1, "results": 2}
    assert lost("a.qrels") == {**targets, **each("groups"), **judged}
    assert lost("a.run") == {**run, "targets": 5}


def test_the_sentences_say_it(tmp_path):
    done = convert(RECORDS, tmp_path / "a.run")
    assert done.sentences[0] == (
        "Left out, as a TREC run cannot hold it: targets (5), queries with tags (1), texts of "
        "queries beside their ids (2), texts of results (1), latencies (1), queries without "
        "results (1)."
    )
    assert done.sentences[-1] == (
        "Queries whose scores do not say their order, written with falling numbers instead: 1."
    )
    assert json.loads(json.dumps(done.to_dict())) == done.to_dict()


def test_a_file_is_read_in_portions(tmp_path, monkeypatch):
    """Portions of two queries: nothing is lost between them, and mistakes are still found."""
    monkeypatch.setattr("calipers.io.records.explode.CHUNK", 2)
    rows = [
        {"query": f"q{i}", "retrieved": [{"id": "a", "score": i}], "ground_truth": ["a"]}
        for i in range(5)
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("out.jsonl", "out.json", "out.csv", "out.parquet"):
        done = convert(path, tmp_path / name)
        assert done.counts["targets"] == done.counts["results"] == 5
        truth = load(tmp_path / name, "both").ground_truth
        assert truth is not None
        assert truth.queries["query"].to_list() == [f"q{i}" for i in range(5)]


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({"query": "q0", "retrieved": []}, r"in\.jsonl:1 \$ and .*in\.jsonl:4 \$"),
        ({"query": "q9", "retrieved": [{"score": 1}]}, r"in\.jsonl:4 \$\.retrieved\[0\]"),
        ({"query": "q9", "ground_truth": ["a"]}, "others have not|records have 'retrieved'"),
    ],
)
def test_a_mistake_in_a_later_portion_leaves_nothing_half_written(
    tmp_path, monkeypatch, last, said
):
    monkeypatch.setattr("calipers.io.records.explode.CHUNK", 2)
    rows = [{"query": f"q{i}", "retrieved": ["a"]} for i in range(3)]
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, last]))
    out.write_text("before")
    with pytest.raises(InvalidInput, match=said):
        convert(path, out)
    assert out.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_a_ground_truth_and_a_run_become_one_file(tmp_path):
    done = convert(
        None,
        tmp_path / "both.jsonl",
        ground_truth={"q1": {"a": 1}, "q2": {"b": 2}},
        run={"q1": ["a", "b"], "q3": ["c"]},
    )
    lines = [json.loads(line) for line in (tmp_path / "both.jsonl").read_text().splitlines()]
    assert lines == [
        {"query": "q1", "retrieved": ["a", "b"], "ground_truth": {"a": 1}},
        {"query": "q2", "ground_truth": {"b": 2}, "missing_from": "run"},
        {"query": "q3", "retrieved": ["c"], "missing_from": "ground_truth"},
    ]
    assert done.remarks == (
        "Queries that the run does not have, marked as missing_from it: 1.",
        "Queries that the ground truth does not have, marked as missing_from it: 1.",
    )


def test_results_of_one_query_in_several_places_are_brought_together(tmp_path):
    frame = pl.DataFrame({"query": ["q", "r", "q"], "item": ["a", "b", "c"], "rank": [2, 1, 1]})
    convert(None, tmp_path / "out.jsonl", run=frame)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines == [
        {"query": "q", "retrieved": ["c", "a"]},
        {"query": "r", "retrieved": ["b"]},
    ]


def test_formulas_are_disarmed_and_come_back(tmp_path):
    truth = {"=1+1": {"@a": 1, "'=b": 1, "'c": 1}}
    convert(None, tmp_path / "out.csv", ground_truth=truth)
    text = (tmp_path / "out.csv").read_text()
    assert text.splitlines()[1:] == ["'=1+1,'@a,1", "'=1+1,''=b,1", "'=1+1,'c,1"]
    again = load(tmp_path / "out.csv", "ground_truth").ground_truth
    assert again is not None
    assert again.targets["item"].to_list() == ["@a", "'=b", "'c"]


def test_writing_over_the_input(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(RECORDS[0]) + "\n")
    before = load(path, "both").ground_truth
    convert(path, path)
    after = load(path, "both").ground_truth
    assert before is not None
    assert after is not None
    assert before.fingerprint == after.fingerprint


@pytest.mark.parametrize(
    ("name", "to", "said"),
    [
        ("out", None, "does not say in which format to write: found none"),
        ("out.xyz", None, r"found \.xyz; use one of \.jsonl"),
        ("out.txt", "qrel", r"Did you mean qrels\?"),
        ("out.parquet.gz", None, "is not written with gzip"),
    ],
)
def test_an_output_whose_form_is_not_known(tmp_path, name, to, said):
    with pytest.raises(InvalidInput, match=said):
        convert(RECORDS, tmp_path / name, to=to)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(WriteFailed, match="there is no folder"):
        convert(RECORDS, tmp_path / "no" / "out.jsonl")
    with pytest.raises(InvalidInput, match="No output is named"):
        convert(RECORDS)


def test_nothing_that_the_form_can_hold(tmp_path):
    quotes = [{"query": "q", "ground_truth": [{"quote": "words"}]}]
    for name in ("out.qrels", "out.run"):
        with pytest.raises(InvalidInput, match="Nothing of the input can be written as"):
            convert(quotes, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "Nothing is given to convert"),
        ({"data": RECORDS, "run": {"q": ["a"]}}, "Several inputs are given"),
        ({"run": [{"query": "q", "ground_truth": ["a"]}]}, "The run is missing"),
        ({"ground_truth": [{"query": "q", "retrieved": ["a"]}]}, "The ground truth is missing"),
        ({"data": [{"query": "q"}]}, "neither results nor a ground truth"),
        ({"data": {"q": {"a": 1}}}, "can be a ground truth or a run"),
    ],
)
def test_inputs_that_do_not_fit(tmp_path, inputs, said):
    with pytest.raises(InvalidInput, match=said):
        convert(output=tmp_path / "out.jsonl", **inputs)


def test_a_table_without_rows_writes_nothing(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("query,item,score\n")
    for name in ("out.jsonl", "out.csv", "out.parquet", "out.run", "out.json"):
        with pytest.raises(InvalidInput, match=r"holds no queries|nothing to write"):
            convert(path, tmp_path / name)
    assert [one.name for one in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("name", ["o.jsonl", "o.json", "o.csv", "o.tsv", "o.parquet"])
def test_a_query_that_one_side_lacks_stays_missing(name, tmp_path):
    truth, run, out = tmp_path / "q.qrels", tmp_path / "r.run", tmp_path / name
    truth.write_text("q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n")
    run.write_text("q1 Q0 a 1 2 t\nq2 Q0 x 1 2 t\nq4 Q0 c 1 1 t\n")
    done = convert(None, out, ground_truth=truth, run=run)
    assert done.lost == {}
    for missing in ("exclude", "zero"):
        before = evaluate(ground_truth=truth, run=run, metrics="mrr", missing=missing)
        after = evaluate(out, metrics="mrr", missing=missing)
        assert (before["mrr"].mean, before.audit) == (after["mrr"].mean, after.audit)
    convert(out, tmp_path / "again.run")
    assert (tmp_path / "again.run").read_text().split()[::6] == ["q1", "q2", "q4"]
