"""The questions in a trace file of any tool."""

import os
from collections.abc import Iterator
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.format import typed_rows
from calipers.io.formats.traces import (
    Langfuse,
    LangSmith,
    OpenInference,
    Otlp,
    TraceFormat,
    retrievals,
)
from calipers.io.formats.ubi import Ubi
from calipers.io.records.records import Record

_FORMS: tuple[TraceFormat, ...] = (Otlp(), OpenInference(), LangSmith(), Langfuse())
_ALLOWED = (
    "give an export of OpenInference or OTLP spans, of LangSmith runs, of Langfuse observations or "
    "of the queries of OpenSearch UBI."
)


def read_traces(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Yield one record per question of a trace, with the results of its retriever calls."""
    sight = Probe(Source(Path(path)))
    if sight.look is None:
        raise InvalidInput(f"{sight.name} holds no traces: it is not JSON; {_ALLOWED}")
    chosen = (
        (f, owner) for owner, keys in sight.row_keys.items() for f in _FORMS if f.recognise(keys)
    )
    form, owner = next(chosen, (None, None))
    if form is None and Ubi.may_hold(sight.look.keys):
        form = Ubi()
    if form is None:
        raise InvalidInput(f"{sight.name} is no part of a trace; {_ALLOWED}")
    for _, record in retrievals(form.spans(typed_rows(form, sight.records(owner)))):
        yield record
