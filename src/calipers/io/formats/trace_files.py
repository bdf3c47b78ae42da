"""Every call of a retriever in files of traces, also where a question was asked many times."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.probe import Sight
from calipers.io.formats.langfuse import Langfuse
from calipers.io.formats.langsmith import LangSmith
from calipers.io.formats.openinference import Export, OpenInference, Otlp, spans_in
from calipers.io.records.json_files import decoded, explain_mismatch, raw_records
from calipers.io.records.records import Record
from calipers.io.records.rows import Rows
from calipers.io.records.traces import retrievals

FORMS = (OpenInference(), LangSmith(), Langfuse())
WRAPPERS = ("data", "traces", "observations", "runs", "spans")
"""Keys under which an export may keep its list."""


def read_traces(path: str | os.PathLike[str]) -> Iterator[Record]:
    """One record per question of a trace, with what its calls of a retriever returned."""
    source = Source(Path(path))
    look = Sight(source).look
    if look is None:
        raise InvalidInput(f"{source.name} holds no traces: it is not JSON; {_ALLOWED}")
    first = look.first if isinstance(look.first, dict) else {}
    owner = next((key for key in WRAPPERS if key in first and look.shape == "object"), None)
    raw = raw_records(source, look, owner)
    rows: Rows = (
        (partial(raw.place, number), decoded(one, source, raw.line(number)))
        for number, one in enumerate(raw.items)
    )
    for _, record in retrievals(_spans(rows, source.name)):
        yield record


_ALLOWED = (
    "give an export of OpenInference or OTLP spans, of LangSmith runs or of Langfuse observations."
)


def _spans(rows: Rows, name: str) -> Iterator[Any]:
    """The spans of all rows, by the form that the first row has."""
    form = None
    for at, row in rows:
        if isinstance(row, dict) and "resourceSpans" in row:
            try:
                whole = msgspec.convert(row, Export)
            except msgspec.ValidationError as error:
                raise InvalidInput(explain_mismatch(str(error), at(), Otlp.example)) from None
            yield from OpenInference().spans(spans_in(whole, lambda path: f"{name} {path}"))
            continue
        if form is None and isinstance(row, dict):
            keys = frozenset(map(str, row))
            form = next((one for one in FORMS if one.recognise(keys)), None)
        if form is None or not isinstance(row, dict):
            raise InvalidInput(f"{at()} is no part of a trace; {_ALLOWED}")
        yield from form.spans(iter([(at, row)]))
