import gzip
import json
from pathlib import Path

import pytest

from calipers.errors import CalipersError, InvalidInput
from calipers.io.load import load
from calipers.retrievers.base import Question
from calipers.retrievers.questions import fingerprint, read_questions

EXPECTED = (Question("q1", "Who wrote it?"), Question("When?", "When?"))
RECORDS = [
    {"query": "Who wrote it?", "id": "q1", "ground_truth": {"d1": 1}, "tags": {"type": "fact"}},
    {"query": "When?", "ground_truth": ["d2"]},
]


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, RECORDS)) + "\n\n")
    assert read_questions(path) == EXPECTED
    assert read_questions(str(path)) == EXPECTED


def test_a_list_in_a_file_and_compressed(tmp_path: Path) -> None:
    path = tmp_path / "questions.json.gz"
    path.write_bytes(gzip.compress(json.dumps(RECORDS).encode()))
    assert read_questions(path) == EXPECTED


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("query,item,grade\nWho wrote it?,d1,1\nWho wrote it?,d2,1\nWhen was it?,d3,1\n")
    assert [question.text for question in read_questions(path)] == ["Who wrote it?", "When was it?"]


def test_what_is_in_memory() -> None:
    assert read_questions(RECORDS) == EXPECTED
    assert read_questions({"q1": "Who wrote it?", "When?": "When?"}) == EXPECTED
    assert read_questions(load(RECORDS, "ground_truth").ground_truth) == EXPECTED
    assert read_questions([EXPECTED[0], "When?"]) == EXPECTED


def test_other_spellings() -> None:
    assert read_questions([{"_id": "7", "text": "Why?"}]) == (Question("7", "Why?"),)
    assert read_questions([{"question": "Why?"}]) == (Question("Why?", "Why?"),)


def test_ids_alone_cannot_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("301 0 d1 1\n302 0 d2 1\n")
    with pytest.raises(InvalidInput, match="only by ids such as '301'"):
        read_questions(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"query": "a"}\n{"query": "a"}\n', "same id 'a': .*:1 and .*:2"),
        ('{"query": "  "}\n', "empty at .*:1"),
        ('{"query": "a"}\nnonsense\n', "no question at .*:2"),
        ('{"query": "a"}\n{"ground_truth": {}}\n', "holds no question at .*:2"),
        ("", "empty"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(content)
    with pytest.raises(CalipersError, match=words):
        read_questions(path)


@pytest.mark.parametrize("value", [[], {}, [7], ["a\ud800"]])
def test_bad_values(value: object) -> None:
    with pytest.raises(InvalidInput):
        read_questions(value)


def test_the_fingerprint_is_of_the_questions_not_of_their_order() -> None:
    assert fingerprint(EXPECTED) == fingerprint(EXPECTED[::-1])
    assert fingerprint(EXPECTED) != fingerprint([Question("q1", "Who wrote that?"), EXPECTED[1]])
    assert fingerprint([Question("a", "b\x1ec\x1fd")]) != fingerprint(
        [Question("a", "b"), Question("c", "d")]
    )
