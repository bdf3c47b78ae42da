"""Reviewed pairs of a question and a document, as annotation tools export them, as plain rows.

Argilla keeps what is shown in ``fields`` and what people said in ``responses``; Label Studio has
``data`` and ``annotations``. A row has the fields that were shown and one for each thing asked.
"""

from collections.abc import Iterable, Iterator, Mapping

from calipers.errors import InvalidInput
from calipers.io.files.probe import Probe
from calipers.io.records.documents import is_number
from calipers.io.records.json_files import opened
from calipers.names import REVIEWED

_CHOSEN = ("choices", "rating", "number", "text", "value")
"""What an annotator of Label Studio gives, by the kind of control."""


def annotated(probe: Probe) -> list[object]:
    """The rows in an export of Argilla or Label Studio; none if it is neither."""
    written = probe.as_written()
    look = written.look
    if look is None or look.shape == "values":
        return []
    in_argilla, in_label_studio = (look.keys >= mark for mark in REVIEWED)
    if not in_argilla and not in_label_studio:
        return []
    answers = _of_argilla if in_argilla else _of_label_studio
    shown = "fields" if in_argilla else "data"
    if not isinstance(opened(look.first[shown]), Mapping):
        return []
    raw = written.records()
    rows: list[object] = []
    for number, record in enumerate(raw.plain()):
        said: dict[str, list[object]] = {}
        for asked, answer in answers(record):
            said.setdefault(asked, []).append(answer)
        fields = record.get(shown)
        row = {
            asked: _agreed(given, asked, raw.place(number))
            for asked, given in said.items()
        }
        rows.append({**(fields if isinstance(fields, Mapping) else {}), **row})
    # A record that nobody answered lacks what was asked; a table has it empty.
    return rows


def _of_argilla(record: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """What was asked and answered in a record: by question, or by person as before version 2."""
    responses = record.get("responses")
    if isinstance(responses, Mapping):
        for asked, given in responses.items():
            for response in _objects(given):
                if _counts(response, record):
                    yield str(asked), response.get("value")
    for person in _objects(responses):
        values = person.get("values")
        if isinstance(values, Mapping) and _counts(person, record):
            for asked, answer in values.items():
                yield (
                    str(asked),
                    answer.get("value") if isinstance(answer, Mapping) else answer,
                )


def _counts(response: Mapping[str, object], record: Mapping[str, object]) -> bool:
    """Whether a response was submitted, by its own status or else by that of its record."""
    status = response.get("status") or record.get("status")
    if status is None:
        raise InvalidInput(
            "The responses of Argilla have no status here, so drafts and discarded ones would "
            "count; export them with dataset.records.to_list(flatten=True), and read them with "
            "calipers labels import."
        )
    return status in ("submitted", "completed")


def _of_label_studio(task: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """What each annotator chose in a task."""
    for annotation in _objects(task.get("annotations")):
        if annotation.get("was_cancelled") is True:
            continue
        for result in _objects(annotation.get("result")):
            value = result.get("value")
            if not isinstance(value, Mapping):
                continue
            given = next((value[name] for name in _CHOSEN if name in value), None)
            if isinstance(given, list) and len(given) == 1:
                given = given[0]
            yield str(result.get("from_name")), given


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    listed = value if isinstance(value, list) else ()
    return (one for one in listed if isinstance(one, Mapping))


def _agreed(given: Iterable[object], asked: str, place: str) -> object:
    """What several people said: the same, or the mean of their numbers; else refused."""
    answers = [one for one in given if one is not None]
    if not answers:
        return None
    if all(map(is_number, answers)):
        return sum(float(str(one)) for one in answers) / len(answers)
    if any(one != answers[0] for one in answers):
        listed = ", ".join(dict.fromkeys(repr(one) for one in answers))
        raise InvalidInput(
            f"People disagree on {asked!r} at {place}: {listed:.80}; settle it there, or export "
            "one answer for each record."
        )
    return answers[0]
