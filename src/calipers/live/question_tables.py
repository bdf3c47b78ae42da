"""Questions in a table without any ground truth, and under names that the user gives."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from calipers.io.files.open import Source
from calipers.io.files.probe import Sight
from calipers.io.records.json_files import plain_records
from calipers.io.tables.columns import IDENTITIES, Columns, renaming

Record = dict[str, Any]


def records_of_questions(path: Path, columns: Columns) -> list[Record] | None:
    """The records of a file that asks and says nothing of what should be found; None otherwise.

    Fields have the names that are meant: ``query``, and ``id`` where the file has one.
    """
    if not path.is_file():
        return None
    source = Source(path)
    sight = Sight(source, columns)
    sight.check()
    if sight.look is not None:
        if not columns.named:
            return None
        rows, _ = plain_records(source, sight.look)
        return named_records(rows, columns, str(path))
    if sight.table is None:
        return None
    names = renaming(sorted(sight.table.columns))
    meant = set(names.values())
    if "query" not in meant or meant & {*IDENTITIES, "ground_truth"}:
        return None
    wanted = {theirs: ours for theirs, ours in names.items() if ours in ("query", "query_text")}
    frame = sight.table.open().select(*wanted).rename(wanted).collect()
    return [_asked(row) for row in frame.iter_rows(named=True)]


def named_records(rows: Iterable[Any], columns: Columns, name: str) -> list[Any]:
    """Records with their fields under the names that are meant; anything else as it is."""
    return [_asked(columns.renamed(row, name)) if isinstance(row, Mapping) else row for row in rows]


def _asked(row: Record) -> Record:
    """A record as questions are read: an id beside a text is the ``id``, and the text asked."""
    if row.get("query_text") is not None:
        return {**row, "id": row.get("query_id", row.get("query")), "query": row["query_text"]}
    return {**row, "id": row["query_id"]} if "query_id" in row else row
