"""A small compressed file never becomes a large one in memory."""

import gzip
from pathlib import Path

import pytest

from calipers import read
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source, most_unpacked

MEGABYTE = 1 << 20


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


def _zstd(content: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    packed: bytes = zstandard.compress(content)
    return packed


@pytest.mark.parametrize("pack", [_gzip, _zstd])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_what_unpacks_to_too_much_is_refused(pack, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.packed"
    path.write_bytes(pack(b"a" * (19 * MEGABYTE)))
    assert path.stat().st_size < MEGABYTE
    with pytest.raises(UnreadableFile, match="unpacks to more than 18 MB"):
        Source(path, encoding=encoding).read()


@pytest.mark.parametrize("pack", [_gzip, _zstd])
def test_what_is_within_the_limit_is_read(pack, tmp_path: Path) -> None:
    content = b"line of a file\n" * 100_000
    path = tmp_path / "run.jsonl.packed"
    path.write_bytes(pack(content))
    assert Source(path).read() == content
    assert Source(path, encoding="cp1252").read() == content


def test_several_frames_of_zstd_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.zst"
    path.write_bytes(_zstd(b"one\n" * 5000) + _zstd(b"two\n"))
    assert Source(path).read() == b"one\n" * 5000 + b"two\n"


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
