"""Pack tables into compressed columns and back, with checksums."""

import hashlib
import io

import polars as pl

from calipers.errors import UnreadableFile


def pack(frame: pl.DataFrame) -> bytes:
    """Pack a table as Parquet with zstd: columns compress better than rows."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=9, statistics=False)
    return buffer.getvalue()


def unpack(content: bytes, digest: str, whose: str) -> pl.DataFrame:
    """Unpack a table; ``whose`` names it in an error."""
    check_content(content, digest, whose)
    try:
        return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise UnreadableFile(
            f"{whose} cannot be read: the content is whole and this version of Calipers "
            f"cannot open it ({str(error).splitlines()[0]})."
        ) from error


def check_content(content: bytes, digest: str, whose: str) -> None:
    """Refuse a content that is not what was written."""
    if digest_of(content) != digest:
        raise UnreadableFile(
            f"{whose} cannot be read: the content in the history is damaged (its SHA-256 "
            "is not the one that was saved with it); put back a copy of the history."
        )


def digest_of(content: bytes) -> str:
    """The digest that names a content."""
    return hashlib.sha256(content).hexdigest()
