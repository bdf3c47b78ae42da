"""Labelled files read back: agreement, disagreements, and one ground truth."""

import json
from typing import Any

import pytest

import calipers
from calipers import agreement
from calipers.errors import InvalidInput
from calipers.io.records.label_files import write_labels
from calipers.model.labels import Label
from tests.command import calipers_command, refused

ROWS = [Label("q1", "Who?", item, f"text of {item}") for item in "abcd"]
GRADES = {"anna": [2, 1, 0, None], "bo": [2, 0, 0, 1], "cem": [0, 1, 0, 1]}


@pytest.fixture
def files(tmp_path):
    for name, grades in GRADES.items():
        rows = [row.judged(None, g) for row, g in zip(ROWS, grades, strict=True)]
        ending = "csv" if name == "anna" else "jsonl"
        write_labels(
            [r if r.grade is None else r.judged(None, float(r.grade)) for r in rows],
            tmp_path / f"{name}.{ending}",
        )
    return [tmp_path / "anna.csv", tmp_path / "bo.jsonl", tmp_path / "cem.jsonl"]


def test_judges_are_named_for_their_files(files):
    found = agreement(files)
    assert [(j.name, j.labelled, j.missing) for j in found.judges] == [
        ("anna", 3, 1),
        ("bo", 4, 0),
        ("cem", 4, 0),
    ]
    assert (len(found.opinions), found.shared) == (4, 4)
    names = [(one.name, one.judges, one.n) for one in found.coefficients]
    assert names == [
        ("Krippendorff's alpha, ordinal", ("anna", "bo", "cem"), 4),
        ("Fleiss' kappa", ("anna", "bo", "cem"), 3),
        ("Cohen's kappa", ("anna", "bo"), 3),
        ("Cohen's kappa", ("anna", "cem"), 3),
        ("Cohen's kappa", ("bo", "cem"), 4),
    ]
    assert [(one.about.item, one.spread) for one in found.disagreements] == [("a", 2), ("b", 1)]
    assert found.merged is None


def test_a_file_may_hold_several_judges_and_name_them(tmp_path):
    path = tmp_path / "all.csv"
    write_labels(
        [ROWS[0].judged("x", 1.0), ROWS[0].judged("y", 0.0), ROWS[1].judged(None, 1.0)], path
    )
    assert [judge.name for judge in agreement(path).judges] == ["x", "y", "all"]


def test_a_blank_beside_a_name_makes_no_other_judge():
    found = agreement({"x": [ROWS[0].judged("anna ", 1.0), ROWS[1].judged("anna", 1.0)]})
    assert [judge.name for judge in found.judges] == ["anna"]


def test_files_of_the_same_name_are_told_apart(tmp_path):
    for folder, grade in (("one", 1.0), ("two", 0.0)):
        (tmp_path / folder).mkdir()
        write_labels([ROWS[0].judged(None, grade)], tmp_path / folder / "label.csv")
    paths = [tmp_path / folder / "label.csv" for folder in ("one", "two")]
    assert [judge.name for judge in agreement(paths).judges] == list(map(str, paths))


def test_the_ground_truth_measures_a_run(files):
    found = agreement(files, merge="majority")
    assert found.merged.records == (
        {
            "id": "q1",
            "query": "Who?",
            "ground_truth": [
                {"id": "a", "grade": 2},
                {"id": "b", "grade": 1},
                {"id": "c", "grade": 0},
                {"id": "d", "grade": 1},
            ],
        },
    )
    path = files[0].parent / "truth.jsonl"
    found.write(path)
    scores = calipers.evaluate(ground_truth=path, run={"q1": ["a", "c", "b"]}, metrics="recall@3")
    assert scores["recall@3"].mean == pytest.approx(2 / 3)


def test_ties_are_reported_and_an_option_decides(files):
    two = [files[0], files[2]]
    found = agreement(two, merge="majority")
    assert [one.about.item for one in found.merged.tied] == ["a"]
    assert [t["id"] for t in found.merged.records[0]["ground_truth"]] == ["b", "c", "d"]
    decided = agreement(two, merge="majority", when_tied="max")
    assert decided.merged.records[0]["ground_truth"][0] == {"id": "a", "grade": 2}
    with pytest.raises(InvalidInput, match="every pair is a tie"):
        agreement(
            {"x": [ROWS[0].judged(None, 1.0)], "y": [ROWS[0].judged(None, 0.0)]}, merge="majority"
        )


def test_new_judgements_join_an_old_ground_truth(files):
    old: list[dict[str, Any]] = [
        {
            "id": "q1",
            "query": "Who?",
            "ground_truth": {"z": 1},
            "tags": {"type": "fact"},
            "owner": 1,
        },
        {"id": "q2", "query": "When?", "ground_truth": ["y"]},
    ]
    found = agreement(files, merge="majority", add_to=old).merged.records
    assert [target["id"] for target in found[0]["ground_truth"]] == ["z", "a", "b", "c", "d"]
    assert (found[0]["tags"], found[0]["owner"], found[1]) == ({"type": "fact"}, 1, old[1])
    assert old[0]["ground_truth"] == {"z": 1}
    with pytest.raises(InvalidInput, match=r"One target has two different grades.*'a'"):
        agreement(files, merge="majority", add_to=[{**old[0], "ground_truth": {"a": 1}}])


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (
            {"x": [ROWS[0].judged(None, 1.0), ROWS[0].judged(None, 0.0)]},
            r"judge 'x' gave two grades.*graded 1 at x\[0\] and 0 at x\[1\]",
        ),
        ({"x": ROWS}, "x has no grade in any of its 4 rows"),
        ([], "No labelled file"),
        ([3], "given as a int"),
    ],
)
def test_what_cannot_be_used_is_said(labels, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        agreement(labels)


def test_the_same_grade_twice_counts_once():
    found = agreement({"x": [ROWS[0].judged(None, 1.0)] * 2})
    assert found.judges[0].labelled == 1


def test_unknown_words_and_nothing_to_write(files):
    given: Any
    for name in ("scale", "weights", "when_tied", "targets_as", "merge"):
        given = {name: "x"}
        with pytest.raises(InvalidInput, match=f"{name} is 'x'; it can be"):
            agreement(files, **given)
    with pytest.raises(InvalidInput, match="no merged ground truth"):
        agreement(files).write(files[0].parent / "x.jsonl")


def test_the_command_shows_what_the_library_returns(files):
    output = files[0].parent / "truth.jsonl"
    printed = calipers_command("agreement", *files, "-o", output)
    assert printed.code == 0, printed.err
    for words in (
        "anna: 3 labels, 1 without a grade",
        "Krippendorff's alpha, ordinal  all 3",
        "2 of 4 pairs that several judged have different grades",
        "anna 2, bo 2, cem 0",
        "4 judgements merged by majority, 1 question",
    ):
        assert words in printed.out
    assert json.loads(output.read_text())["id"] == "q1"
    found = json.loads(calipers_command("agreement", *files, "--json").out)
    assert found == json.loads(json.dumps(agreement(files).to_dict()))


def test_hostile_texts_do_not_steer_the_terminal(tmp_path):
    row = Label("q\x1b[2J", "\x1b[31mWho?", "a\x07", "\x1b]0;x\x07text")
    for name, grade in (("x", 1.0), ("y", 0.0)):
        write_labels([row.judged(None, grade)], tmp_path / f"{name}.csv")
    printed = calipers_command(
        "agreement",
        tmp_path / "x.csv",
        tmp_path / "y.csv",
        "-o",
        tmp_path / "t.jsonl",
        "--merge",
        "max",
    )
    assert printed.code == 0, printed.err
    assert not {"\x1b", "\x07"} & set(printed.out)


def test_ties_are_listed_and_one_judge_is_told(files):
    printed = calipers_command("agreement", files[0], files[2], "-o", files[0].parent / "t.jsonl")
    assert "1 pair left out of the ground truth" in printed.out
    assert "there is nobody to agree with" in calipers_command("agreement", files[0]).out


def test_adding_needs_somewhere_to_write(files):
    assert "give -o FILE" in refused("agreement", *files, "--add-to", files[0])
