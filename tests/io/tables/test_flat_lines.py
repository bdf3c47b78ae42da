"""Flat records of JSON, one on each line, read in blocks as a table."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files import open as open_files
from calipers.io.files.open import Source
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
        ('{"query": "q1", "item": ["a"]}', InvalidInput, r"'item' holds \['a'\] at .*:1201"),
        ('{"query": "q1", "item": "a", "score": "x"}', InvalidInput, "'score' holds 'x' at .*1201"),
        ('{"query": null, "item": "a", "score": 1}', InvalidInput, "'query' holds nothing at"),
        ('{"query": "q1", "item": "a", "rank": 1}', InvalidInput, "'rank' is at .*not in the"),
    ],
)
def test_a_bad_record_is_named_with_its_line(write, line, error, sentence):
    with pytest.raises(error, match=sentence):
        evaluated(write(line))


def test_records_that_hold_lists_are_no_table(tmp_path):
    file = tmp_path / "evals.jsonl"
    file.write_text('{"query": "q1", "retrieved": ["d1"], "ground_truth": ["d1"]}\n')
    assert calipers_command("eval", file).code == 0


NUMBERS = st.one_of(
    st.integers(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -0.0, 1.0, 1e-4, 9.9e-5, 1e-7, 2.0**53, 2.0**53 - 1, 1e16, 1e300, 0.1]),
)
PLAIN = st.one_of(st.text(max_size=4), NUMBERS, st.none())
ODD = st.sampled_from(
    [
        *(
            '{"query": true}',
            '{"query": NaN}',
            '{"query": 1e999}',
            '{"query": "q"',
            '{"query":\n1}',
        ),
        *('{"item": ["a"]}', '{"item": {"id": 1}}', '{"note": 1, "query": "q"}', "null", "[1]"),
        *('{"rank": 1, "query": "q"}', '{"query": 1, "query": "2"}', '{"query": 1} {"query": 2}'),
        *('{"query": "\\u0041", "score": 007}', '{"query": "a\tb"}', ' {"query": 1.50}'),
        *("{}", "", " "),
    ]
)


def rows_of_one_kind():
    """Records as a program writes them: each field of one kind, or of any."""
    kinds = st.sampled_from([st.text(max_size=4), st.integers(), st.floats(0, 1), NUMBERS, PLAIN])
    fields = st.tuples(kinds, kinds, kinds)
    return fields.flatmap(
        lambda kind: st.lists(
            st.fixed_dictionaries({}, optional=dict(zip(KEYS, kind, strict=True))).map(json.dumps),
            max_size=8,
        )
    )


KEYS = ("query", "item", "score")


def read(content: bytes, folder, *, carefully: bool):
    file = folder / "rows.jsonl"
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_files, "BLOCK", 200)
        if carefully:
            patch.setattr(flat_lines, "_plain_rows", lambda *_: None)
        try:
            return [row for f in flat_lines._frames(Source(file), KEYS) for row in f.rows()]
        except (InvalidInput, UnreadableFile) as error:
            return str(error)


@settings(max_examples=30)
@given(
    rows_of_one_kind(),
    st.lists(st.tuples(st.integers(0, 8), ODD), max_size=2),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_all_at_once_is_line_by_line(tmp_path_factory, rows, odd, end, last):
    for place, line in odd:
        rows.insert(place, line)
    content = (end.join(rows) + end * last).encode(errors="surrogatepass")
    folder = tmp_path_factory.getbasetemp()
    expected = read(content, folder, carefully=True)
    assert expected == read(content, folder, carefully=False)


def test_plain_rows_are_decoded_all_at_once(write, monkeypatch):
    monkeypatch.setattr(flat_lines, "_carefully", None)
    assert evaluated(write()).fingerprints["run"] == evaluated(ROWS).fingerprints["run"]
