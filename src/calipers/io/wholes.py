"""Forms that are one JSON object over the whole file: how it becomes our records."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.form import Form
from calipers.io.mismatch import explain_mismatch
from calipers.io.records import Record
from calipers.io.rows import note_unread
from calipers.io.stream import RecordStream, Unread
from calipers.model.dataset import Role

Place = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class WholeFormat(Form):
    """One tool's form: how it is recognised, and the records in it with their paths."""

    recognise: Callable[[Mapping[str, Any]], bool]
    """Whether the values under these keys are its own; they may not be decoded yet."""
    whole: Any
    records: Callable[[Any, Place], Iterator[tuple[str, Record]]]
    """The records with their places; it is given what turns a path into a place."""
    only: Role | None = None
    """The part it holds, where a second form looks the same and holds the other part."""


def stream_whole(form: WholeFormat, value: Any, name: str, watch: bool = False) -> RecordStream:
    """Records from one object: JSON text, or a dictionary in memory."""
    try:
        if isinstance(value, bytes | msgspec.Raw):
            whole = msgspec.json.decode(value, type=form.whole)
        else:
            whole = msgspec.convert(value, form.whole)
    except msgspec.ValidationError as error:
        raise InvalidInput(explain_mismatch(str(error), f"{name} $", form.example)) from None
    places: list[str] = []
    unread: Unread = Unread()
    if watch:
        top = value
        if isinstance(value, bytes | msgspec.Raw):
            top = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        note_unread(unread, form.kept, top)

    def records() -> Iterator[Record]:
        for place, record in form.records(whole, lambda path: f"{name} {path}"):
            places.append(place)
            yield record

    return RecordStream(records(), places.__getitem__, name, form, unread)
