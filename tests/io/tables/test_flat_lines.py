"""Flat records of JSON, one on each line, read in blocks as a table."""

import gzip
import json

import pytest

import calipers
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files import open as open_files
from calipers.io.records import json_files as flat_lines
from tests.command import calipers_command

TRUTH = {f"q{i}": ["d1"] for i in range(9)}
ROWS = [{"query": f"q{i % 9}", "item": f"d{i % 7}", "score": 1 / (1 + i)} for i in range(1200)]


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Every file counts as a large one."""
    monkeypatch.setattr(flat_lines, "LEAST", 0)


@pytest.fixture
def write(tmp_path):
    def write_lines(*further: str):
        file = tmp_path / "run.jsonl"
        file.write_text("\n".join([*map(json.dumps, ROWS), *further]) + "\n")
        return file

    return write_lines


def evaluated(file):
    return calipers.evaluate(ground_truth=TRUTH, run=file, metrics="mrr,recall@5")


def test_the_result_is_that_of_a_file_that_is_read_whole(write, monkeypatch):
    in_blocks = evaluated(write()).to_dict()
    monkeypatch.setattr(flat_lines, "LEAST", 1 << 40)
    assert in_blocks == evaluated(write()).to_dict()


def test_blocks_and_packed_files(write, tmp_path, monkeypatch):
    file = write()
    monkeypatch.setattr(open_files, "BLOCK", 500)
    assert evaluated(file).fingerprints["run"] == evaluated(ROWS).fingerprints["run"]
    packed = tmp_path / "run.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert evaluated(packed).fingerprints["run"] == evaluated(ROWS).fingerprints["run"]


def test_numbers_are_ids_and_their_columns_can_be_named(tmp_path):
    file = tmp_path / "run.jsonl"
    rows = [{"person": float(i), "thing": 7, "score": i} for i in range(9)]
    file.write_text("\n".join(map(json.dumps, rows)))
    found = calipers.evaluate(
        ground_truth={str(i): ["7"] for i in range(9)},
        run=file,
        metrics="mrr",
        columns={"query": "person", "item": "thing"},
    )
    assert found["mrr"].mean == 1.0


@pytest.mark.parametrize(
    ("line", "error", "sentence"),
    [
        ('{"query": "q1", "item": ', UnreadableFile, r"run\.jsonl:1201:24 ends in the middle"),
        ("[1]", InvalidInput, r"A record is \[1\] at .*run\.jsonl:1201 "),
        ('{"query": "q1", "item": ["a"]}', InvalidInput, "'item' is \\['a'\\] at .*:1201"),
        ('{"query": "q1", "item": "a", "score": "x"}', InvalidInput, "'score' holds 'x' at .*1201"),
        ('{"query": null, "item": "a", "score": 1}', InvalidInput, "'query' holds nothing at"),
        (
            '{"query": "q1", "item": "a", "rank": 1}',
            InvalidInput,
            "'rank' is 1 at .*:1201",
        ),
    ],
)
def test_a_bad_record_is_named_with_its_line(write, line, error, sentence):
    with pytest.raises(error, match=sentence):
        evaluated(write(line))


def test_records_that_hold_lists_are_no_table(tmp_path):
    file = tmp_path / "evals.jsonl"
    file.write_text('{"query": "q1", "retrieved": ["d1"], "ground_truth": ["d1"]}\n')
    assert calipers_command("eval", file).code == 0
