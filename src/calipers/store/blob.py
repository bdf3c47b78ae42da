"""Tables as compressed columns, and back, checked."""

import hashlib
import io

import polars as pl

from calipers.errors import UnreadableFile


def pack(frame: pl.DataFrame) -> bytes:
    """A table as Parquet with zstd: columns compress well where rows of numbers do not."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=9, statistics=False)
    return buffer.getvalue()


def unpack(content: bytes, digest: str, whose: str) -> pl.DataFrame:
    """The table in a content; ``whose`` says in an error what cannot be read."""
    check(content, digest, whose)
    try:
        return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise UnreadableFile(
            f"{whose} cannot be read: the content is whole and this version of Calipers cannot "
            f"open it ({str(error).splitlines()[0]})."
        ) from error


def check(content: bytes, digest: str, whose: str) -> None:
    """Complain about a content that is not what was written."""
    if digest_of(content) != digest:
        raise UnreadableFile(
            f"{whose} cannot be read: the content in the history is damaged (its SHA-256 is not "
            "the one that was saved with it). `calipers history check` lists everything that is; "
            "put back a copy of the history."
        )


def digest_of(content: bytes) -> str:
    """The name of a content."""
    return hashlib.sha256(content).hexdigest()
