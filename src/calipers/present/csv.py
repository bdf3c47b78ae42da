"""Rows as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calipers.io.files.write import guard
from calipers.model.document import Document, records


def as_csv(document: Document) -> str:
    """The rows of a document as CSV, in full precision."""
    return csv_text(records(document.rows()) if document.rows else ())


def csv_text(rows: Iterable[Mapping[str, Any]], header: Sequence[str] = ()) -> str:
    """Rows as CSV in full precision; undefined cells are empty, and formulas are escaped.

    >>> csv_text([{"k": 1, "recall": 0.5, "best": True}, {"k": 2, "recall": None, "best": False}])
    'k,recall,best\\n1,0.5,yes\\n2,,\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads: Sequence[str] = header
    for place, row in enumerate(rows):
        if not place:
            heads = [*row]
            writer.writerow(heads)
        cells = ({True: "yes", False: ""}[v] if isinstance(v, bool) else v for v in row.values())
        writer.writerow(guard(cell) if isinstance(cell, str) else cell for cell in cells)
    return text.getvalue() or ",".join(heads) + "\n"
