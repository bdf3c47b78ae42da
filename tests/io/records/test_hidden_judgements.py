"""Results that carry a judgement under a name that nobody knows: a line for it, and it reads."""

import json
from pathlib import Path

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput, command_line
from tests.io.test_natural_files import PROPOSED, said

JUDGED = {"label": (0, 1), "ok": (False, True), "verdict": ("bad", "good"), "fits": ("nein", "ja")}


def rows(name, no, yes, part="results"):
    return [
        {"query": "Who?", part: [{"id": "a", name: no}, {"id": "b", name: yes}]},
        {"query": "When?", part: [{"id": "c", name: yes}, {"id": "d", name: no}]},
    ]


def lines_for(records, tmp_path) -> tuple[Path, list[str]]:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    with command_line(), pytest.raises(InvalidInput) as caught:
        evaluate(path)
    return path, [match[0] for match in PROPOSED.finditer(str(caught.value))]


@pytest.mark.parametrize("part", ["results", "retrieved"])
@pytest.mark.parametrize("name", JUDGED)
def test_a_field_that_judges_results_is_proposed(name, part, tmp_path) -> None:
    path, lines = lines_for(rows(name, *JUDGED[name], part), tmp_path)
    assert lines == [f"--column grade={name}"]
    scores = evaluate(path, columns=said(lines[0]), metrics="mrr,precision@1")
    assert (scores["mrr"].mean, scores["precision@1"].mean) == (0.75, 0.5)


def test_two_words_that_nobody_knows_grade_results_either_way(tmp_path) -> None:
    path, lines = lines_for(rows("view", "meh", "superb")[:1], tmp_path)
    assert lines == [
        "--column grade=view --grades meh=1,superb=0",
        "--column grade=view --grades superb=1,meh=0",
    ]
    values = [evaluate(path, columns=said(line), metrics="mrr")["mrr"].mean for line in lines]
    assert values == [1.0, 0.5]


@pytest.mark.parametrize(
    "values", [(1, 2, 3), (0.9, 0.5, 0.1), ("Ana", "Ana", "Ana"), (3, 2, 1), ("A text.", "B", "C")]
)
def test_what_counts_or_scores_or_says_nothing_is_no_judgement(values, tmp_path) -> None:
    results = [{"id": name, "mark": value} for name, value in zip("abc", values, strict=True)]
    asked = ("Who?", "When?")
    _, lines = lines_for([{"query": one, "results": results} for one in asked], tmp_path)
    assert not lines


def test_two_lists_under_each_question_are_asked_about(tmp_path) -> None:
    mapping = {"Who?": {"run": ["a", "b"], "gold": ["b"]}, "When?": {"run": ["c"], "gold": ["c"]}}
    path, lines = lines_for(mapping, tmp_path)
    assert lines == ["--column retrieved=run"]
    assert evaluate(path, columns=said(lines[0]), metrics="mrr")["mrr"].mean == 0.75
