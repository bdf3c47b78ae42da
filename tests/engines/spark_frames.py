"""What the tests of Spark share."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from tests.engines.conftest import KIND

FILTERS = [
    pytest.mark.filterwarnings("ignore"),
    # What Spark leaves open is its own affair.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def every_other(cases: Sequence[Any]) -> Sequence[Any]:
    """Cases that go one way through the code: half with each kind of session."""
    return cases[KIND == "connect" :: 2]


def frame_of(session, frame: pl.DataFrame):
    """A DataFrame of Spark with the same rows."""
    kinds = {pl.String: "string", pl.Float64: "double", pl.Int64: "long"}
    escaped = {name: name.replace("`", "``") for name in frame.columns}
    names = ((escaped[name], kinds[kind.base_type()]) for name, kind in frame.schema.items())
    return session.createDataFrame(
        frame.rows(), schema=", ".join(f"`{name}` {kind}" for name, kind in names)
    )
