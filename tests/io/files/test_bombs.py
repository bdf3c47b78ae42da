"""A small compressed file never becomes a large one in memory."""

import gzip
from pathlib import Path

import pytest

from calipers import read
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source, most_unpacked

MEGABYTE = 1 << 20


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_what_unpacks_to_too_much_is_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.packed"
    path.write_bytes(gzip.compress(b"a" * (19 * MEGABYTE), 6))
    assert path.stat().st_size < MEGABYTE
    with pytest.raises(UnreadableFile, match="unpacks to more than 18 MB"):
        Source(path, encoding=encoding).read()


def test_what_is_within_the_limit_is_read(tmp_path: Path) -> None:
    content = b"line of a file\n" * 100_000
    path = tmp_path / "run.jsonl.packed"
    path.write_bytes(gzip.compress(content))
    assert Source(path).read() == content
    assert Source(path, encoding="cp1252").read() == content


def test_a_larger_file_may_hold_more_by_its_size() -> None:
    sizes = [most_unpacked(size) for size in range(0, 64 * MEGABYTE, MEGABYTE // 2)]
    assert sizes == sorted(sizes)
    assert most_unpacked(MEGABYTE) == 18 * MEGABYTE
    assert most_unpacked(10 * MEGABYTE) > 1000 * MEGABYTE


def test_a_ranking_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    ranking = b'"",' * 1_000_000 + b'""'
    path.write_bytes(b'{"query": "q", "ground_truth": ["a"], "retrieved": [' + ranking + b"]}")
    with pytest.raises(InvalidInput, match=r"run\.jsonl:1 \$\.retrieved: at most 1,000,000"):
        read(path)
