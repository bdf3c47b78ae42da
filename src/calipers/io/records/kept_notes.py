"""The facts of notes in results and in the history, where the texts stand without them."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from calipers.model.fact import Fact, Sentence, facts_of
from calipers.model.recorded import Recorded


class KeptSentence(msgspec.Struct):
    """A sentence as JSON has it."""

    text: str
    facts: list[dict[str, Any]]


def kept_notes(record: Mapping[str, Any]) -> list[KeptSentence]:
    """The notes of a result that have facts, to be kept beside its settings."""
    notes = [(note, facts_of(note)) for note in Recorded(record).notes]
    return [
        KeptSentence(str(note), [fact.to_dict() for fact in facts])
        for note, facts in notes
        if facts
    ]


def with_facts(
    record: dict[str, Any], kept: Iterable[KeptSentence] | None
) -> dict[str, Any]:
    """The settings of a result, with the facts of its notes where they were kept.

    >>> kept = KeptSentence("1 query.", [{"about": "count", "count": 1}])
    >>> with_facts({"notes": ["1 query."]}, [kept])["notes"][0].facts
    (Fact(about='count', ..., count=1, ...),)
    """
    notes = record.get("notes")
    if not kept or not isinstance(notes, list):
        return record
    known = {sentence.text: _facts(sentence.facts) for sentence in kept}
    read = [
        Sentence(note, known[note]) if isinstance(note, str) and note in known else note
        for note in notes
    ]
    return {**record, "notes": read}


def _facts(kept: list[dict[str, Any]]) -> list[Fact]:
    """Facts that were written as JSON; none where a later version knows other kinds."""
    try:
        return msgspec.convert(kept, list[Fact])
    except msgspec.ValidationError:
        return []
