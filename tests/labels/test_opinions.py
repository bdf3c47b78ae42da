"""Labelled files read back: agreement, disagreements, and one ground truth."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers import labels_agreement
from calipers.errors import InvalidInput
from calipers.io.records.label_files import write_labels
from calipers.labels.opinions import disagreements, merge_opinions, merged_grade
from calipers.labels.result import Opinions
from calipers.model.labels import Label
from tests.command import calipers_command, refused

ROWS = [Label("q1", "Who?", item, f"text of {item}") for item in "abcd"]
GRADES = {"anna": [2, 1, 0, None], "bo": [2, 0, 0, 1], "cem": [0, 1, 0, 1]}
VOTES = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=6)


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
    found = labels_agreement(files)
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
    assert [judge.name for judge in labels_agreement(path).judges] == ["x", "y", "all"]


def test_a_blank_beside_a_name_makes_no_other_judge():
    found = labels_agreement({"x": [ROWS[0].judged("anna ", 1.0), ROWS[1].judged("anna", 1.0)]})
    assert [judge.name for judge in found.judges] == ["anna"]


def test_files_of_the_same_name_are_told_apart(tmp_path):
    for folder, grade in (("one", 1.0), ("two", 0.0)):
        (tmp_path / folder).mkdir()
        write_labels([ROWS[0].judged(None, grade)], tmp_path / folder / "label.csv")
    paths = [tmp_path / folder / "label.csv" for folder in ("one", "two")]
    assert [judge.name for judge in labels_agreement(paths).judges] == list(map(str, paths))


def test_the_ground_truth_measures_a_run(files):
    found = labels_agreement(files, merge="majority")
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
    found = labels_agreement(two, merge="majority")
    assert [one.about.item for one in found.merged.tied] == ["a"]
    assert [t["id"] for t in found.merged.records[0]["ground_truth"]] == ["b", "c", "d"]
    decided = labels_agreement(two, merge="majority", when_tied="max")
    assert decided.merged.records[0]["ground_truth"][0] == {"id": "a", "grade": 2}
    with pytest.raises(InvalidInput, match="every pair is a tie"):
        labels_agreement(
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
    found = labels_agreement(files, merge="majority", add_to=old).merged.records
    assert [target["id"] for target in found[0]["ground_truth"]] == ["z", "a", "b", "c", "d"]
    assert (found[0]["tags"], found[0]["owner"], found[1]) == ({"type": "fact"}, 1, old[1])
    assert old[0]["ground_truth"] == {"z": 1}
    with pytest.raises(InvalidInput, match=r"One target has two different grades.*'a'"):
        labels_agreement(files, merge="majority", add_to=[{**old[0], "ground_truth": {"a": 1}}])


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
        labels_agreement(labels)


def test_the_same_grade_twice_counts_once():
    found = labels_agreement({"x": [ROWS[0].judged(None, 1.0)] * 2})
    assert found.judges[0].labelled == 1


def test_unknown_words_and_nothing_to_write(files):
    given: Any
    for name in ("scale", "weights", "when_tied", "targets_as", "merge"):
        given = {name: "x"}
        with pytest.raises(InvalidInput, match=f"{name} of labels_agreement is 'x'; it must be"):
            labels_agreement(files, **given)
    with pytest.raises(InvalidInput, match="no merged ground truth"):
        labels_agreement(files).write(files[0].parent / "x.jsonl")


def test_the_command_shows_what_the_library_returns(files):
    output = files[0].parent / "truth.jsonl"
    printed = calipers_command("labels", "agreement", *files, "-o", output)
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
    found = json.loads(calipers_command("labels", "agreement", *files, "--json").out)
    expected = json.loads(json.dumps(labels_agreement(files).to_dict()))
    assert found == {"schema": 1, **expected}


def test_hostile_texts_do_not_steer_the_terminal(tmp_path):
    row = Label("q\x1b[2J", "\x1b[31mWho?", "a\x07", "\x1b]0;x\x07text")
    for name, grade in (("x", 1.0), ("y", 0.0)):
        write_labels([row.judged(None, grade)], tmp_path / f"{name}.csv")
    printed = calipers_command(
        "labels",
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
    printed = calipers_command(
        "labels", "agreement", files[0], files[2], "-o", files[0].parent / "t.jsonl"
    )
    assert "1 pair left out of the ground truth" in printed.out
    assert "there is nobody to agree with" in calipers_command("labels", "agreement", files[0]).out


def test_adding_needs_somewhere_to_write(files):
    assert "give -o FILE" in refused("labels", "agreement", *files, "--add-to", files[0])


def opinions(*given):
    return {one.about.pair: one for one in given}


@given(VOTES)
def test_a_majority_has_more_votes_than_any_other_or_is_none(grades):
    found = merged_grade(grades, "majority")
    votes = Counter(grades)
    if found is None:
        assert sorted(votes.values())[-2:] == [max(votes.values())] * 2
    else:
        assert all(votes[found] > n for grade, n in votes.items() if grade != found)


@given(VOTES)
def test_an_option_decides_ties_among_the_grades_that_are_tied(grades):
    votes = Counter(grades)
    most = [grade for grade, n in votes.items() if n == max(votes.values())]
    assert merged_grade(grades, "majority", "max") == max(most)
    assert merged_grade(grades, "majority", "min") == min(most)
    assert merged_grade(grades, "majority", "mean") == pytest.approx(sum(most) / len(most))


def test_mean_max_and_min():
    assert [merged_grade([0, 2, 2], how) for how in ("mean", "max", "min")] == [4 / 3, 2, 0]


def test_disagreements_come_largest_first():
    given = [
        Opinions(Label("q", item=item), dict(zip("xy", grades, strict=True)))
        for item, grades in (("a", (0, 0)), ("b", (1, 2)), ("c", (0, 2)), ("d", (2, 1)))
    ]
    assert [one.about.item for one in disagreements(given)] == ["c", "b", "d"]


def test_the_records_are_a_ground_truth():
    found = merge_opinions(
        opinions(
            Opinions(Label("q1", "Who?", item="a", document="d"), {"anna": 1.0, "bo": 1.0}),
            Opinions(Label("q1", "Who?", item="b"), {"anna": 0.0, "bo": 2.0}),
            Opinions(Label("Why so?", "Why so?", text="A lock."), {"anna": 1.5}),
        )
    )
    assert found.records == (
        {"id": "q1", "query": "Who?", "ground_truth": [{"id": "a", "document": "d", "grade": 1}]},
        {"query": "Why so?", "ground_truth": [{"quote": "A lock.", "grade": 1.5}]},
    )
    assert [one.about.item for one in found.tied] == ["b"]
    assert found.targets == 2


@pytest.mark.parametrize(
    ("judges", "tags"),
    [
        (["anna"], {"judged_by": "person:anna"}),
        (["machine:m"], {"judged_by": "machine:m"}),
        (["machine:m", "machine:n"], {"judged_by": "machine:m,machine:n"}),
        (["anna", "machine:m"], {"judged_by": "machine:m,person:anna"}),
    ],
)
def test_whose_labels_they_are_is_marked(judges, tags):
    given = {name: [Label("q", item="a", grade=1.0)] for name in judges}
    assert labels_agreement(given, merge="majority").merged.records[0].get("tags") == tags


def test_a_judge_known_by_the_name_of_a_file_alone_is_nobody(tmp_path):
    for name, judge in (("first", "anna"), ("gpt", None)):
        write_labels([Label("q", item="a", grade=1.0, judge=judge)], tmp_path / f"{name}.csv")
    files = [tmp_path / "first.csv", tmp_path / "gpt.csv"]
    assert labels_agreement(files, merge="majority").merged.records[0].get("tags") is None
    [record] = labels_agreement(files, merge="majority", machine="gpt").merged.records
    assert record["tags"] == {"judged_by": "machine:gpt,person:anna"}


def test_other_ways_to_recognise_an_item():
    label = Label("q", item="a", text="A lock.", document="d", start=3, end=10)
    one = opinions(Opinions(label, {"anna": 1.0}))
    assert merge_opinions(one, targets_as="quote").records[0]["ground_truth"] == [
        {"quote": "A lock.", "document": "d", "grade": 1}
    ]
    assert merge_opinions(one, targets_as="span").records[0]["ground_truth"] == [
        {"document": "d", "start": 3, "end": 10, "grade": 1}
    ]
    bare = opinions(Opinions(Label("q", item="a"), {"anna": 1.0}))
    by: Any
    for by, what in (("quote", "text"), ("span", "document")):
        with pytest.raises(InvalidInput, match=f"'a' of the query 'q' has no {what}"):
            merge_opinions(bare, targets_as=by)


def test_a_question_that_loses_its_only_target_to_a_tie_is_named():
    def said(query, item, **grades):
        return Opinions(Label(query_id=query, query=query, item=item), grades)

    found = merge_opinions(
        opinions(
            said("lost", "a", ann=1.0, bob=0.0),
            said("lost", "b", ann=0.0, bob=0.0),
            said("kept", "a", ann=1.0, bob=0.0),
            said("kept", "b", ann=1.0, bob=1.0),
            said("gone", "a", ann=2.0, bob=1.0),
            said("never", "a", ann=0.0, bob=0.0),
        )
    )
    assert found.left_without == ("lost", "gone")
    assert found.to_dict()["left_without"] == ["lost", "gone"]
