"""Forms that are one JSON object over the whole file, and how it becomes our records."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.probe import Sight
from calipers.io.format import Format, RecordStream, Unread, note_unread, wrong_form
from calipers.io.records.json_files import BROKEN, explain_broken, explain_mismatch
from calipers.io.records.records import Record
from calipers.model.matched import Role

PathPlace = Callable[[str], str]
"""Turns a path inside an object into words."""


class WholeFormat(Format):
    """A form that is one JSON object over the whole file."""

    whole: ClassVar[Any]
    """The type of the object."""

    def recognise(self, first: Mapping[str, Any]) -> bool:
        """Whether the values under these keys are its own; they may not be decoded yet."""
        return any(own <= first.keys() for own in self.known_by)

    @abstractmethod
    def records(self, whole: Any, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """The records with their places; ``place`` turns a path into one."""

    def detect(self, sight: Sight) -> bool:
        """Whether a file is one object with the keys of this form."""
        look = sight.look
        return look is not None and look.shape == "object" and self.recognise(look.first)

    def read(self, sight: Sight, role: Role, watch: bool) -> RecordStream:
        """The records of the object in a file."""
        del role
        if sight.look is None or sight.look.shape != "object":
            raise wrong_form(sight, self.title)
        return stream_whole(self, sight.source.read(), sight.name, watch)


def stream_whole(form: WholeFormat, value: Any, name: str, watch: bool = False) -> RecordStream:
    """Records from one object: JSON text, or a dictionary in memory."""
    try:
        if isinstance(value, bytes | msgspec.Raw):
            whole = msgspec.json.decode(value, type=form.whole)
        else:
            whole = msgspec.convert(value, form.whole)
    except msgspec.ValidationError as error:
        raise InvalidInput(explain_mismatch(str(error), f"{name} $", form.example)) from None
    except BROKEN as error:
        raise UnreadableFile(explain_broken(str(error), bytes(value), Source(Path(name)))) from None
    places: list[str] = []
    unread: Unread = Unread()
    if watch:
        top = value if isinstance(value, Mapping) else msgspec.json.decode(value)
        note_unread(unread, form.kept, top)

    def records() -> Iterator[Record]:
        for place, record in form.records(whole, lambda path: f"{name} {path}"):
            places.append(place)
            yield record

    return RecordStream(records(), places.__getitem__, name, form, unread)
