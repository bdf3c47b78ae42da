"""Tables in object stores, read where they are: s3://, gs://, az://, hf://.

Credentials come from the environment, as the tools of the store take them, and are never shown.
"""

import os
import re
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from calipers.errors import InvalidInput

SCHEMES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "hf")
_SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|KEY|SAS|CREDENTIAL")
_SHORTEST_SECRET = 8


def is_remote(value: Any) -> bool:
    """Whether a value is the address of an object in a store.

    >>> is_remote("s3://bucket/run/"), is_remote("runs/s3.csv"), is_remote("https://example.org")
    (True, False, False)
    """
    scheme, mark, _ = str(value).partition("://") if isinstance(value, str) else ("", "", "")
    return bool(mark) and scheme.lower() in SCHEMES


def shown(address: str) -> str:
    """The address without what may be secret: a user, a password, a signature.

    >>> shown("az://me:pass@box/run.parquet?sig=abc")
    'az://box/run.parquet'
    """
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def open_remote(address: str) -> pl.LazyFrame:
    """The table at an address: one file, a pattern, or (ending in /) all Parquet files below."""
    path = urlsplit(address).path
    suffixes = [suffix.lower() for suffix in PurePosixPath(path).suffixes]
    ending = "" if path.endswith("/") or not suffixes else suffixes[-1]
    if ending == "":
        return pl.scan_parquet(f"{address.rstrip('/')}/**/*.parquet")
    if ending == ".parquet":
        return pl.scan_parquet(address)
    if ending in (".csv", ".tsv"):
        return pl.scan_csv(address, separator="\t" if ending == ".tsv" else ",", infer_schema=False)
    if ending in (".jsonl", ".ndjson"):
        return pl.scan_ndjson(address, infer_schema_length=None)
    if ending == ".arrow":
        return pl.scan_ipc(address)
    raise InvalidInput(
        f"{shown(address)} has the ending {ending!r}; from an object store Calipers reads "
        ".parquet, .arrow, .csv, .tsv and .jsonl, or a folder of Parquet files (ending in /). "
        "Copy other files to this machine first."
    )


def without_secrets(text: str) -> str:
    """The text without the values of the environment that are credentials."""
    for name, value in os.environ.items():
        if _SECRET.search(name.upper()) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "…")
    return re.sub(r"(://)[^/\s@]+@", r"\1", re.sub(r"\?\S+", "", text))
