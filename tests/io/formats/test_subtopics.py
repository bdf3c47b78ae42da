"""Judgements of diversity, and the other things that people write in the second column."""

from pathlib import Path
from random import Random

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.model.ground_truth import GroundTruth

SUBTOPICS = {
    "the example of ndeval": "q 1 A 1|q 2 B 1|q 2 D 1|q 3 C 1",
    "from 0 on": "q 0 A 1|q 1 A 1|q 1 B 0",
    "one item under two, numbers left out": "q 2 A 1|q 7 A 2|q 7 B 1",
    "one query has one": "q 1 A 1|q 2 B 1|r 1 A 1|r 1 B 1",
    "names": "q who A 1|q when B 1|q when A 0",
}
PLAIN = {
    "a constant": "q 0 A 1|q 0 B 1|r 0 A 1",
    "another constant": "q Q0 A 1|q Q0 B 1",
    "one value for each query": "q 1 A 1|q 1 B 0|r 2 A 1",
    "half rounds (TREC-COVID)": "q 0.5 A 1|q 1 B 0|r 1.5 A 1",
    "rounds that begin anywhere (TREC RAG)": "q 3 A 1|q 4 B 0|r 2 A 1",
    "a constant in two spellings": "q Q0 A 1|q 0 B 0",
}


def read(path: Path, lines: str) -> GroundTruth:
    path.write_text(lines.replace("|", "\n") + "\n")
    truth = load(path, "ground_truth").ground_truth
    assert truth is not None
    return truth


@pytest.mark.parametrize("name", SUBTOPICS)
def test_subtopics_are_read_in_any_order_of_lines(tmp_path: Path, name: str) -> None:
    lines = SUBTOPICS[name].split("|")
    expected = {tuple(line.split()) for line in lines}
    Random(name).shuffle(lines)
    truth = read(tmp_path / "qrels", "|".join(lines))
    found = truth.targets.select("query", "group", "item", "grade").iter_rows()
    assert {(query, group, item, f"{grade:g}") for query, group, item, grade in found} == expected
    assert "names subtopics" in truth.notes[0]


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_no_subtopic_is_not_read(tmp_path: Path, name: str) -> None:
    truth = read(tmp_path / "qrels", PLAIN[name])
    assert not truth.has_groups
    varies = name.startswith(("half", "rounds", "a constant in two"))
    assert [note for note in truth.notes if "was not read" in note] == [*truth.notes][:varies]
    assert len(truth.notes) == varies


def test_a_round_does_not_hide_a_contradiction(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"qrels:1 and 1 at .*qrels:2; keep one"):
        read(tmp_path / "qrels", "q 0.5 A 0|q 1.5 A 1")


def test_the_published_example_of_ndeval_from_its_files(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("0 1 A 1\n0 2 B 1\n0 2 D 1\n0 3 C 1\n")
    run.write_text("".join(f"0 Q0 {item} {i} {9 - i} t\n" for i, item in enumerate("ADEB", 1)))
    scores = calipers.evaluate(ground_truth=qrels, run=run, metrics="alpha_ndcg@5,st_recall@5")
    assert scores["alpha_ndcg@5"].mean == pytest.approx(0.7868, abs=1e-4)
    assert scores["recall@5"].mean == pytest.approx(2 / 3)
    assert any("names subtopics" in note for note in scores.settings["notes"])


@pytest.mark.parametrize("name", SUBTOPICS)
def test_they_are_written_and_read_again(tmp_path: Path, name: str) -> None:
    first = tmp_path / "first.qrels"
    read(first, SUBTOPICS[name])
    written = calipers.convert(first, tmp_path / "second.qrels")
    assert written.lost == {}
    run = {"q": ["B", "A"], "r": ["B"]}
    one, two = (
        calipers.evaluate(ground_truth=path, run=run, metrics="alpha_ndcg@3,recall@1,map")
        for path in (first, tmp_path / "second.qrels")
    )
    assert one.per_query.equals(two.per_query)


def test_groups_of_records_become_subtopics(tmp_path: Path) -> None:
    """One group of alternatives, and a target without a group, which is needed by itself."""
    truth = [{"id": "a", "group": "who"}, {"id": "b", "group": "who"}, {"id": "c"}]
    record = {"query": "q", "retrieved": ["b", "x", "c"], "ground_truth": truth}
    out = tmp_path / "out.trec"
    calipers.convert([record], out)
    assert (tmp_path / "out.qrels").read_text() == "q 2 a 1\nq 2 b 1\nq 1 c 1\n"
    scores = calipers.evaluate(
        ground_truth=tmp_path / "out.qrels", run=tmp_path / "out.run", metrics="recall@1,3"
    )
    assert [scores[name].mean for name in scores] == [0.5, 1.0]


def test_numbers_that_would_not_be_read_again_are_counted_anew(tmp_path: Path) -> None:
    truth = [{"id": "a", "group": "3"}, {"id": "b", "group": "3"}, {"id": "c", "group": "7"}]
    record = {"query": "q", "retrieved": ["b"], "ground_truth": truth}
    calipers.convert([record], tmp_path / "out.qrels")
    assert (tmp_path / "out.qrels").read_text() == "q 1 a 1\nq 1 b 1\nq 2 c 1\n"


def test_one_group_alone_is_said_to_be_lost(tmp_path: Path) -> None:
    truth = [{"id": "a", "group": "who"}, {"id": "b", "group": "who"}]
    record = {"query": "q", "retrieved": ["b"], "ground_truth": truth}
    written = calipers.convert([record], tmp_path / "out.qrels")
    assert any("taken for a constant" in remark for remark in written.remarks)
