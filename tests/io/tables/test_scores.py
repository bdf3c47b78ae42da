"""Scores per query in a Parquet file, which says what it holds."""

from typing import Any

import msgspec
import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.records.results import is_score_table, read_score_table, write_scores
from tests.command import calipers_command, refused

RECORDS: list[dict[str, Any]] = [
    {
        "query": f"q{i}",
        "retrieved": ["x", "a", "b"][i % 3 :],
        "ground_truth": ["a", "b"],
        "tags": {"type": "odd" if i % 2 else "even"},
    }
    for i in range(24)
]


@pytest.fixture
def scores():
    return calipers.evaluate(RECORDS, metrics="recall@1,2,mrr,first_rank", weights={"mrr": 1.0})


def test_what_is_written_comes_back_to_the_last_bit(scores, tmp_path):
    write_scores(scores, tmp_path / "scores.parquet")
    assert is_score_table(tmp_path / "scores.parquet")
    assert read_score_table(tmp_path / "scores.parquet").to_dict() == scores.to_dict()


def test_scores_are_enough_to_compare_to_gate_and_to_slice(scores, tmp_path):
    other = calipers.evaluate(
        [{**one, "retrieved": one["retrieved"][::-1]} for one in RECORDS],
        metrics="recall@1,2,mrr,first_rank",
        weights={"mrr": 1.0},
    )
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_scores(scores, a)
    write_scores(other, b)
    from_files = calipers.compare([a, b]).to_dict()
    assert from_files == calipers.compare({"a": scores, "b": other}).to_dict()
    assert from_files == calipers.compare(a, b).to_dict()
    sliced = calipers.slices(a, "type", metrics="recall@1")
    assert sliced.to_dict() == calipers.slices(scores, "type", metrics="recall@1").to_dict()
    planned = calipers.plan([a, b], queries=100).to_dict()
    assert planned == calipers.plan({"a": scores, "b": other}, queries=100).to_dict()
    gated = calipers_command("gate", b, "--baseline", a, "--json")
    assert gated.code in (0, 1), gated.err


def test_different_ground_truths_are_refused(scores, tmp_path):
    records = [{**one, "ground_truth": ["b"]} for one in RECORDS]
    other = calipers.evaluate(records, metrics="recall@1,2,mrr,first_rank")
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_scores(scores, a)
    write_scores(other, b)
    for command in (["compare", a, b], ["gate", b, "--baseline", a], ["plan", a, b]):
        options = ["--queries", "100"] if command[0] == "plan" else []
        assert "measured against different ground truth" in refused(*command, *options)


def test_one_system_is_no_comparison(scores, tmp_path):
    write_scores(scores, tmp_path / "a.parquet")
    with pytest.raises(
        InvalidInput, match=r"One system is given, .*a\.parquet, and two are needed"
    ):
        calipers.compare(tmp_path / "a.parquet", {"q0": ["a"]})


def test_a_result_without_the_metrics_of_its_baseline_is_a_sentence(scores, tmp_path):
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_scores(scores, a)
    write_scores(calipers.evaluate(RECORDS, metrics="mrr"), b)
    assert "no 'recall@1' in this result; it has mrr." in refused("gate", b, "--baseline", a)


def test_a_plain_table_is_a_run(tmp_path):
    pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]}).write_parquet(
        tmp_path / "a.parquet"
    )
    assert not is_score_table(tmp_path / "a.parquet")
    assert not is_score_table(tmp_path / "none.parquet")
    with pytest.raises(UnreadableFile, match="is no table of scores"):
        read_score_table(tmp_path / "a.parquet")


def test_what_was_taken_out_is_missed(scores, tmp_path):
    file = tmp_path / "scores.parquet"
    write_scores(scores, file)
    about = {k: v for k, v in pl.read_parquet_metadata(file).items() if k == "calipers"}
    table = pl.read_parquet(file)
    table.drop("mrr").write_parquet(file, metadata=about)
    with pytest.raises(InvalidInput, match="has no column 'mrr'"):
        read_score_table(file)
    table.head(5).write_parquet(file, metadata=about)
    with pytest.raises(InvalidInput, match="5 queries, and 24 were measured"):
        read_score_table(file)
    pl.concat([table.head(23), table.head(1)]).write_parquet(file, metadata=about)
    with pytest.raises(InvalidInput, match="'q0' twice"):
        read_score_table(file)


def test_the_command_shows_and_slices_scores_without_their_run(scores, tmp_path):
    file = tmp_path / "scores.parquet"
    write_scores(scores, file)
    done = calipers_command("eval", file, "--by", "type", "-m", "recall@2", "--json")
    assert done.code == 0, done.err
    found = msgspec.json.decode(done.out)
    assert [one["metric"] for one in found["summaries"]] == ["recall@2"]
    assert found["slices"] == calipers.slices(scores, "type", metrics="recall@2").to_dict()
    assert "so --save does not work" in refused("eval", file, "--save", "night")
    assert "These scores have no 'recall@9'" in refused("eval", file, "-m", "recall@9")


def test_what_holds_no_scores_is_said():
    with pytest.raises(InvalidInput, match="holds no scores"):
        calipers.slices("nowhere.parquet", "type")


def test_the_command_writes_what_compare_reads(tmp_path):
    import json

    data = tmp_path / "data.json"
    data.write_text(json.dumps(RECORDS))
    for name in "ab":
        done = calipers_command("eval", data, "--per-query", tmp_path / f"{name}.parquet")
        assert done.code == 0, done.err
    done = calipers_command("compare", tmp_path / "a.parquet", tmp_path / "b.parquet", "--anyway")
    assert done.code == 0, done.err
