"""Output files of any form: whole or not at all, packed where the name ends in .gz."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from calipers.io.write import whole_file

PACKED = ".gz"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to write bytes to; it takes its name when everything is written."""
    with whole_file(path) as file:
        if path.suffix.lower() != PACKED:
            yield file
            return
        # Without a time and a name inside, the same content gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def ending(path: Path) -> str:
    """The ending that names the form, in small letters.

    >>> ending(Path("run.TREC.gz")), ending(Path("a.jsonl"))
    ('.trec', '.jsonl')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
