"""Write files to label and read them back: JSON lines, or CSV for a spreadsheet.

A spreadsheet runs a cell that begins like a formula. Such cells get an apostrophe that is removed
when they are read, so that the round trip is exact.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import BYTE_ORDER_MARK, Source
from calipers.io.files.probe import UTF_16
from calipers.io.files.write import check_place, guard, unguard, whole_file
from calipers.io.records.entries import plain_number
from calipers.io.records.json_files import decoded, opening
from calipers.io.tables.cells import number_in
from calipers.io.tables.scan import SAID, header, long_cells
from calipers.model.labels import Label

ENDINGS = (".jsonl", ".csv")
COLUMNS = tuple(field.name for field in fields(Label))
PLACES = ("start", "end", "quote_start")
SPARSE = (*PLACES, "title", "quote", "kind", "saved")
"""Columns that are written only if some row has a value."""
MISREAD_MARK = BYTE_ORDER_MARK.decode("cp1252")
"""What a reader of Windows-1252 takes the byte order mark for."""
EXAMPLE = '{"query_id": "q1", "query": "Who …?", "item": "c7", "text": "…", "grade": 1}'

Placed = tuple[str, Label]
"""The line a label was read from, and the label."""


def check_label_file(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a path to which no file to label can be written."""
    check_place(path)
    if Path(path).suffix.lower() not in ENDINGS:
        raise InvalidInput(
            f"The output {path} has the ending {Path(path).suffix or 'nothing'!r}; a file to label "
            f"can be written to {' or '.join(ENDINGS)}."
        )


def write_labels(labels: Iterable[Label], path: str | os.PathLike[str]) -> None:
    """Write a file to label, atomically."""
    check_label_file(path)
    rows = labels if isinstance(labels, Sequence) else list(labels)
    used: set[str] = set()
    for row in rows:
        used.update(name for name in SPARSE if getattr(row, name) is not None)
    if used & {"start", "end"}:
        used |= {"start", "end"}
    names = [name for name in COLUMNS if name not in SPARSE or name in used]
    lines = _csv if Path(path).suffix.lower() == ".csv" else _lines
    with whole_file(path) as file:
        for line in lines(rows, names):
            file.write(line)


def read_labels(path: str | os.PathLike[str]) -> list[Placed]:
    """The rows of a labelled file with their places, including rows without a grade."""
    source = Source(Path(path))
    if source.head.startswith(UTF_16):  # "Unicode text" of Excel
        source = replace(source, encoding="utf-16")
    if not source.head.strip():
        source.check_has_content()
    found = list(
        _from_lines(source) if opening(source) == "object" else _from_csv(source)
    )
    if not found:
        raise InvalidInput(
            f"{path} holds no row to label; check that it is the right file."
        )
    return found


def _lines(labels: Iterable[Label], names: list[str]) -> Iterator[bytes]:
    for label in labels:
        # Every column in every line, so that the annotator sees what to fill in.
        row = {name: getattr(label, name) for name in names}
        row["grade"] = None if label.grade is None else plain_number(label.grade)
        yield msgspec.json.encode(row) + b"\n"


def _csv(labels: Iterable[Label], names: list[str]) -> Iterator[bytes]:
    # Without the mark Excel shows "Größe" as "GrÃ¶ÃŸe"; who does not know it is read back.
    yield BYTE_ORDER_MARK
    for cells in chain(
        [names], ([_cell(getattr(label, n)) for n in names] for label in labels)
    ):
        text = io.StringIO(newline="")
        # All cells in quotes: a text must not be split where semicolons separate cells.
        csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
        yield text.getvalue().encode()


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return guard(value)
    return str(plain_number(float(value)))


def _from_lines(source: Source) -> Iterator[Placed]:
    for number, line in source.lines():
        if not line.strip():
            continue
        place = f"{source.name}:{number}"
        row = decoded(line, source, number)
        if not isinstance(row, dict):
            raise InvalidInput(
                f"A line is no row to label at {place}; a row is {EXAMPLE}."
            )
        yield place, _label(row, place)


def _from_csv(source: Source) -> Iterator[Placed]:
    found = header(source)
    if found is not None and found[0][0].startswith(MISREAD_MARK):
        raise InvalidInput(
            f"{source.name} was read in another encoding than UTF-8 before it was written, so its "
            "texts are broken; read the file to label as UTF-8 there, and write it again."
        )
    if found is None or "query_id" not in map(_column, found[0]):
        raise InvalidInput(
            f"{source.name} is no file to label: it has no column 'query_id'; give a file that "
            "`calipers labels draft` wrote and somebody filled in."
        )
    try:
        text = source.read().decode()
    except UnicodeDecodeError:
        raise UnreadableFile(
            f"{source.name} is not valid UTF-8; save it from the spreadsheet as “CSV UTF-8”."
        ) from None
    with long_cells():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=found[1])
        try:
            if SAID.match(source.head.splitlines()[0]):
                next(reader)
            names = [_column(name) for name in next(reader)]
            for cells in reader:
                if not any(cells):
                    continue
                place = f"{source.name}:{reader.line_num}"
                if len(cells) > len(names) and any(cells[len(names) :]):
                    raise InvalidInput(
                        f"A row has {len(cells)} cells at {place}, and the table {len(names)} "
                        "columns; put texts that hold the divider into double quotes."
                    )
                yield (
                    place,
                    _label(dict(zip(names, map(unguard, cells), strict=False)), place),
                )
        except csv.Error as error:
            raise UnreadableFile(
                f"{source.name}:{reader.line_num} is not valid CSV: {error}; write it again."
            ) from None


def _column(name: str) -> str:
    """The name of a column, without what a reader that knows no byte order mark makes of it.

    Such a reader takes the mark and the quotes behind it as part of the first name, and writes
    both back.
    """
    return name.strip("\ufeff\"' ")


def _label(row: dict[str, Any], place: str) -> Label:
    known: dict[str, Any] = {name: _value(row.get(name), name, place) for name in COLUMNS}
    if not known["query_id"]:
        raise InvalidInput(
            f"A row to label has no 'query_id' at {place}; a row is {EXAMPLE}."
        )
    if not known["item"] and not known["text"]:
        raise InvalidInput(
            f"A row to label has neither an 'item' nor a 'text' at {place}; a row is {EXAMPLE}."
        )
    return Label(**known)


def _value(value: object, name: str, place: str) -> str | float | None:
    """A cell in the type of its column; None where it is empty."""
    is_text = name not in ("grade", *PLACES)
    if value is None or (isinstance(value, str) and not value.strip() and not is_text):
        return None
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        if is_text and not isinstance(value, float):
            return str(value)
        number = None if is_text else number_in(str(value))
        if number is not None and (name == "grade" or number.is_integer()):
            return number if name == "grade" else int(number)
    wanted = (
        "a text"
        if is_text
        else "a number, such as 0, 1 or 2, or empty where nobody judged"
    )
    raise InvalidInput(
        f"The {name} is {value!r:.60} at {place}; it must be "
        f"{wanted if name not in PLACES else 'a whole number'}."
    )
