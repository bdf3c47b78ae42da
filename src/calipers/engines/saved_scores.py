"""Read what ``--per-query`` wrote: Parquet, which records what was measured."""

import os
import re
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.probe import holds_score_rows
from calipers.io.records.json_files import opening
from calipers.io.records.results import is_score_table, read_score_table
from calipers.model.scores import Scores

_SCHEMA_NUMBER = re.compile(rb'"schema"\s*:\s*\d')
_WRITER = re.compile(rb'"calipers"\s*:\s*"')


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds scores per query."""
    place = Path(path)
    if place.suffix == ".parquet":
        return is_score_table(place)
    return place.is_file() and holds_score_rows(Source(place).head)


def is_result(path: str | Path) -> bool:
    """Whether a file looks like a result of Calipers and not like a run or a ground truth."""
    source = Source(Path(path))
    marks = _SCHEMA_NUMBER.search(source.head) and _WRITER.search(source.head)
    return opening(source) == "object" and bool(marks)


def read_saved(path: str | os.PathLike[str]) -> Scores:
    """The scores in such a file; a table without its metrics' settings is refused."""
    place = Path(path)
    if place.suffix != ".parquet":
        raise InvalidInput(
            f"{place} holds values alone: which ground truth, metrics and policies they come from "
            f"is not known. Write --per-query {place.stem}.parquet, or take the result of "
            "`calipers eval --json`."
        )
    return read_score_table(place)
