"""Read results of ``calipers eval --json`` back into scores."""

import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.records.json_files import decoded, opening
from calipers.io.records.kept_notes import KeptSentence, with_facts
from calipers.io.tables.cells import tag_columns
from calipers.io.tables.columns import TAG
from calipers.measures.spec import find_name
from calipers.model.arrays import frozen_array
from calipers.model.policy import Policy
from calipers.model.result import SCHEMA
from calipers.model.scores import InputCounts, MetricFacts, Scores, Summary
from calipers.version import __version__

_AGAIN = "write it again with `calipers eval … --json`"
_SCHEMA_NUMBER = re.compile(rb'"schema"\s*:\s*\d')
_WRITER = re.compile(rb'"calipers"\s*:\s*"')


class _Row(msgspec.Struct):
    query: str
    text: str | None
    status: str
    retrieved: int
    targets: int
    tags: dict[str, str | None]
    scores: dict[str, float | None]


class _StoredResult(msgspec.Struct):
    calipers: str
    summaries: tuple[Summary, ...]
    metrics: tuple[MetricFacts, ...]
    audit: InputCounts
    policy: Policy
    fingerprints: dict[str, str]
    settings: dict[str, Any]
    per_query: list[_Row] | None = None
    sentences: list[KeptSentence] | None = None


def is_result(path: str | Path) -> bool:
    """Whether a file looks like a result of Calipers and not like a run or a ground truth."""
    source = Source(Path(path))
    marks = _SCHEMA_NUMBER.search(source.head) and _WRITER.search(source.head)
    return opening(source) == "object" and bool(marks)


def read_result(path: str | Path | Source) -> Scores:
    """The scores in a result file, exactly as written.

    Means and intervals are taken from the file, not recomputed. Further keys beside those of
    ``Scores.to_dict`` (a name, a date) are ignored.
    """
    source = path if isinstance(path, Source) else Source(Path(path))
    source.check_has_content()
    result = decode(source.read(), source)
    record = result.settings
    level = record.get("confidence")
    match = record.get("match")
    if not isinstance(level, float) or not 0 < level < 1 or not isinstance(match, str):
        raise UnreadableFile(
            f"The result in {source.name} is not whole: its settings have no confidence between"
            f" 0 and 1, or do not say how results were matched; {_AGAIN}."
        )
    if result.per_query is None:
        raise InvalidInput(
            f"The result in {source.name} has no scores per query, only means, and queries cannot "
            f"be compared one by one; {_AGAIN}."
        )
    try:
        table = _per_query(result.per_query)
    except (OverflowError, TypeError, pl.exceptions.PolarsError) as error:
        # A number edited by hand, beyond what a table can hold.
        raise UnreadableFile(
            f"The result in {source.name} holds a value that cannot be: "
            f"{str(error).partition(chr(10))[0]}; {_AGAIN}."
        ) from error
    about = f"The result in {source.name}"
    metrics = [metric.name for metric in result.metrics]
    lacking = [name for name in metrics if name not in table.columns]
    if lacking:
        raise InvalidInput(f"{about} has no {lacking[0]!r} for its queries; {_AGAIN}.")
    queries = table.select([*QUERY_SCHEMA])
    values = np.empty((table.height, len(metrics)), order="F")
    for i, name in enumerate(metrics):
        values[:, i] = table[name].fill_null(np.nan).to_numpy()
    if queries["query"].is_duplicated().any():
        twice = queries.filter(queries["query"].is_duplicated())["query"][0]
        raise InvalidInput(f"{about} has the query {twice!r} twice; {_AGAIN}.")
    return Scores(
        metrics=result.metrics,
        values=frozen_array(values),
        queries=queries,
        tags=tag_columns(table),
        audit=result.audit,
        policy=result.policy,
        fingerprints=result.fingerprints,
        settings=with_facts(
            {"calipers": result.calipers, **result.settings}, result.sentences
        ),
        summaries={summary.metric: summary for summary in result.summaries},
        find_name=find_name,
    )


def _per_query(rows: list[_Row]) -> pl.DataFrame:
    """The scores per query as the table that is written for many queries."""
    tags = dict.fromkeys(name for row in rows for name in row.tags)
    names = [
        name
        for name in (rows[0].scores if rows else ())
        if all(name in row.scores for row in rows)
    ]
    columns = []
    for name, kind in QUERY_SCHEMA.items():
        columns.append(pl.Series(name, [getattr(row, name) for row in rows], kind))
    for name in tags:
        values = [row.tags.get(name) for row in rows]
        columns.append(pl.Series(TAG + name, values, pl.String))
    for name in names:
        scores = [row.scores[name] for row in rows]
        columns.append(pl.Series(name, scores, pl.Float64))
    return pl.DataFrame(columns)


def decode(content: bytes, source: Source) -> _StoredResult:
    """Decode a result from JSON, or raise an error that says what is wrong."""
    _check_schema(content, source)
    try:
        return msgspec.json.decode(content, type=_StoredResult)
    except msgspec.ValidationError as error:
        raise UnreadableFile(
            f"The result in {source.name} is not whole: {_in_words(str(error))}; {_AGAIN}."
        ) from None


def _is_lines(content: bytes) -> bool:
    """Whether the first line, or all of it, is JSON."""
    for part in (content.partition(b"\n")[0], content):
        try:
            msgspec.json.decode(part)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        return True
    return False


def _check_schema(content: bytes, source: Source) -> None:
    # Checked first: a run in JSON lines is not a single value, and would be called broken.
    is_one = not content or b'"schema"' in content
    if not is_one and not _is_lines(content):
        is_one = True
    value: Any = decoded(content, source) if is_one else None
    found = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(found, int) or "summaries" not in value:
        raise UnreadableFile(
            f"{source.name} is no result of Calipers: it has no 'schema' and 'summaries'; "
            "give a file written with `calipers eval … --json` or `calipers gate save`."
        )
    if found != SCHEMA:
        writer = value.get("calipers")
        raise UnreadableFile(
            f"Write {source.name} again with this version, Calipers {__version__}: it has "
            f"the format number {found} (written by Calipers "
            f"{writer if isinstance(writer, str) else 'of an unknown version'}), not {SCHEMA}."
        )


QUERY_SCHEMA: dict[str, pl.DataType] = {
    "query": pl.String(),
    "text": pl.String(),
    "status": pl.String(),
    "retrieved": pl.Int64(),
    "targets": pl.Int64(),
}


def _in_words(message: str) -> str:
    """msgspec's error as part of a sentence.

    >>> _in_words("Expected `int`, got `str` - at `$.audit.queries`")
    'expected int, got str at $.audit.queries'
    """
    what, _, place = message.partition(" - at ")
    words = (what[:1].lower() + what[1:]).replace("`", "")
    return f"{words} at {place.strip('`')}" if place else words
