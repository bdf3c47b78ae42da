"""A file as blocks and lines: the same whatever the size of a block."""

import gzip
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import UnreadableFile
from calipers.io.files import open as source
from calipers.io.files.open import Source

contents = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"\xc3\xa9", b"#", b" "])).map(
    b"".join
)


@given(contents, st.integers(1, 9), st.booleans(), st.booleans())
def test_lines_do_not_depend_on_blocks(
    tmp_path_factory, content: bytes, block: int, packed: bool, marked: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "content"
    whole = (b"\xef\xbb\xbf" if marked else b"") + content
    path.write_bytes(gzip.compress(whole) if packed else whole)
    with mock.patch.object(source, "BLOCK", block):
        lines = list(Source(path).lines())
        text = b"".join(Source(path).blocks())
        assert Source(path).read() == content
    assert text == content.replace(b"\r\n", b"\n")
    naive = text.split(b"\n")
    naive = naive[:-1] if naive[-1] == b"" else naive
    assert lines == list(enumerate(naive, 1))


def test_only_blocks_of_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(b"one\ntwo\nthree\nfour")
    with mock.patch.object(source, "BLOCK", 6):
        blocks = list(Source(path).blocks())
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert len(blocks) > 2


def test_a_damaged_archive_is_found_out_late_too(tmp_path: Path) -> None:
    path = tmp_path / "run.txt.gz"
    lines = b"".join(b"q Q0 d%d 1 %d t\n" % (i, -i) for i in range(50_000))
    path.write_bytes(gzip.compress(lines)[:-100])
    with pytest.raises(UnreadableFile, match=r"run.txt.gz is damaged or cut off"):
        list(Source(path).lines())


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "no-ending"
    path.write_bytes(gzip.compress(b"one\n"))
    assert list(Source(path).lines()) == [(1, b"one")]
