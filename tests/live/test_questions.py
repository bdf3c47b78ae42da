import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import CalipersError, InvalidInput
from calipers.io.load import load
from calipers.io.tables.columns import Columns
from calipers.live.adapters.base import Question
from calipers.live.questions import read_questions
from tests.command import calipers_command, refused

EXPECTED = (Question("q1", "Who wrote it?"), Question("When?", "When?"))
RECORDS = [
    {"query": "Who wrote it?", "id": "q1", "ground_truth": {"d1": 1}, "tags": {"type": "fact"}},
    {"query": "When?", "ground_truth": ["d2"]},
]


def print_of(questions: Sequence[Question]) -> str:
    return read_questions(list(questions)).fingerprint


def test_what_is_in_memory_or_compressed_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "questions.json.gz"
    path.write_bytes(gzip.compress(json.dumps(RECORDS).encode()))
    assert read_questions(path) == EXPECTED
    assert read_questions(RECORDS) == EXPECTED
    assert read_questions({"q1": "Who wrote it?", "When?": "When?"}) == EXPECTED
    assert read_questions(load(RECORDS, "ground_truth").ground_truth) == EXPECTED
    first = Question("q1", "Who wrote it?")
    assert read_questions([first, "When?"]) == EXPECTED
    assert read_questions([{"_id": "7", "text": "Why?"}]) == (Question("7", "Why?"),)
    assert read_questions([{"question": "Why?"}]) == (Question("Why?", "Why?"),)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('\n{"query": "a"}\n\n \n{"query": "b"}\n{"query": "a"}\n', "same id 'a': .*:2 and .*:6"),
        ('\n{"query": "a"}\n\n \n{"query": "b"}\n{"query": " "}\n', "empty at .*jsonl:6"),
        ('{"query": "a"}\nnonsense\n', "not valid JSON"),
        ('{"query": "a"}\n{"ground_truth": {}}\n', "holds no question at .*:2"),
        ("", "empty"),
        ("301 0 d1 1\n302 0 d2 1\n", "only by ids such as '301'"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / ("qrels.txt" if "301" in content else "questions.jsonl")
    path.write_text(content)
    with pytest.raises(CalipersError, match=words):
        read_questions(path)


@pytest.mark.parametrize("value", [[], {}, [7], ["a", "\ud800"]])
def test_bad_values(value: object) -> None:
    with pytest.raises(InvalidInput, match="question"):
        read_questions(value)


ids = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True)


@given(st.data(), ids.filter(len))
def test_the_fingerprint_holds_in_any_order_and_for_no_other_questions(
    data: st.DataObject, names: list[str]
) -> None:
    asked = [Question(name, f"what is {name}") for name in names]
    shuffled = data.draw(st.permutations(asked))
    assert print_of(asked) == print_of(shuffled)
    assert print_of([*asked, Question(max(names) + "x", "one more")]) != print_of(asked)
    assert print_of([*asked[1:], Question(names[0], "something else")]) != print_of(asked)
    joined = Question(names[0], f"b\x1e{names[-1]}x\x1fd")
    assert print_of([joined]) != print_of([Question(names[0], "b"), Question(f"{names[-1]}x", "d")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("query,item,grade\nWho?,d1,1\nWho?,d2,1\nWhen?,d3,1\n", None),
        ("question\nWho?\nWhen was it?\n", [("Who?", "Who?"), ("When was it?", "When was it?")]),
        ("question,note\nWho was it?,new\n", [("Who was it?", "Who was it?")]),
        ("id,question\nq1,Who?\nq2,When?\n", None),
        ("query_id;question\nq1;Who?\nq2;When?\n", [("q1", "Who?"), ("q2", "When?")]),
    ],
)
def test_a_table_may_hold_questions_alone(text, expected, tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text(text)
    found = [tuple(one) for one in read_questions(path)]
    assert found == (expected or [("Who?", "Who?"), ("When?", "When?")])


@pytest.mark.parametrize("content", ["frage,typ\nWho?,x\n", '{"frage": "Who?", "typ": "x"}\n'])
def test_questions_under_any_name(content, tmp_path):
    path = tmp_path / "questions"
    path.write_text(content)
    (asked,) = read_questions(path, Columns({"query": "frage"}))
    assert asked.text == "Who?"
    with pytest.raises(InvalidInput, match=r"'fragen'.*Did you mean frage"):
        read_questions(path, Columns({"query": "fragen"}))


def test_a_folder_and_a_mapping_with_their_ground_truth_are_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    (tmp_path / "beir" / "queries.jsonl").write_text('{"_id": "1", "text": "What is one?"}\n')
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n")
    (tmp_path / "map.json").write_text('{"What is one?": ["d1"]}')
    (tmp_path / "search.py").write_text(
        "def search(query, k):\n    return ['d1'] if query == 'What is one?' else []\n"
    )
    for questions in ("beir", "map.json"):
        printed = calipers_command(
            "eval", questions, "--retriever", "search.py:search", "--as", "csv"
        )
        assert (printed.code, "recall@1,1.0" in printed.out) == (0, True), printed
    (tmp_path / "ids.json").write_text('{"q1": ["d1"]}')
    assert "knows its queries only by ids such as 'q1'" in refused(
        "eval", "ids.json", "--retriever", "search.py:search"
    )
