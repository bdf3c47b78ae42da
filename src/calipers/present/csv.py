"""Rows as CSV."""

import csv
import io

from calipers.io.files.write import guard
from calipers.model.document import Document, records
from calipers.present.escape import clean


def as_csv(document: Document) -> str:
    """The rows of a document in full precision; undefined cells are empty, formulas are escaped.

    >>> as_csv(Document("Yes.", rows=lambda: [{"k": 1, "recall": 0.5, "best": True}]))
    'k,recall,best\\n1,0.5,yes\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = records(document.rows()) if document.rows else []
    if rows:
        writer.writerow([clean(name) for name in rows[0]])
    for row in rows:
        cells = (
            {True: "yes", False: ""}[v] if isinstance(v, bool) else v
            for v in row.values()
        )
        # A terminal may show it: no cell may steer one.
        writer.writerow(
            guard(clean(cell)) if isinstance(cell, str) else cell for cell in cells
        )
    return text.getvalue() or "\n"
