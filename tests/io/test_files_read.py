"""Small files as people have them, each with what it means: ``tests/data/files_read.txt``.

A case begins with ``###`` and its name, then ``role``, ``file``, ``columns`` and the like, if they
are not the usual ones. Below the file stand the targets (``> query: item | item=grade``), the
results (``< query: item | item``), a note (``~ pattern``) or the refusal (``! pattern``). Where the
name ends with words in braces, the case is tried with each of them in place of ``{}``.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from calipers.errors import CalipersError, command_line
from calipers.io.load import load
from calipers.io.tables.columns import Columns
from calipers.model.matched import Dataset

FILE = Path(__file__).parents[1] / "data" / "files_read.txt"
MARKS = ("> ", "< ", "~ ", "! ")


@dataclass
class Case:
    """A file and what it means."""

    settings: dict[str, str]
    content: str = ""
    said: dict[str, list[str]] = field(default_factory=lambda: {mark: [] for mark in MARKS})


def read_cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for block in FILE.read_text(encoding="utf-8").split("### ")[1:]:
        title, *lines = block.rstrip("\n").split("\n")
        name, *settings = title.split(" @")
        name, _, words = name.partition(" {")
        for word in words.removesuffix("}").split("; ") if words else [""]:
            case = Case(dict(one.split("=", 1) for one in settings))
            for line in lines:
                for number, part in enumerate(word.split(" / ")):
                    line = line.replace(f"{{{number}}}", part)
                line = line.replace("{}", word) if word else line
                if line[:2] in MARKS:
                    case.said[line[:2]].append(line[2:])
                else:
                    case.content += f"{line}\n"
            found[f"{name} {word}".strip()] = case
    return found


def listed(rows: list[tuple[str, str, float]], queries: list[str]) -> list[str]:
    """Items by query, each with its grade if it is not 1."""
    items: dict[str, list[str]] = {query: [] for query in queries}
    for query, item, grade in rows:
        items[query].append(item.replace("\n", "\\n") + (f"={grade:g}" if grade != 1 else ""))
    return [f"{query}: {' | '.join(some)}".rstrip() for query, some in items.items()]


def whole(value: Any, role: Any, columns: Columns) -> Dataset:
    """What a file holds; some of what is wrong is found only when all its rows are read."""
    found = load(value, role, columns)
    assert found.run is None or found.run.frame.height
    return found


CASES = read_cases()


def values(case: Case, folder: Path) -> Iterator[Any]:
    """The file; of JSON that is no refusal, the values in memory, too."""
    settings = case.settings
    ends = settings.get("ends", "\\n").encode().decode("unicode_escape")
    path = folder / settings.get("file", "questions.csv")
    path.write_bytes(case.content.replace("\n", ends).encode(settings.get("encoding", "utf-8")))
    yield path
    if not case.said["! "] and path.suffix == ".json":
        yield json.loads(case.content)
    if not case.said["! "] and path.suffix == ".jsonl":
        yield [json.loads(line) for line in case.content.splitlines()]


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_as_it_is_meant_or_refused(name, tmp_path):
    case = CASES[name]
    settings, said = case.settings, case.said
    columns = Columns.of(settings["columns"].split("; ") if "columns" in settings else ())
    roles = settings.get("role", "ground_truth").split(",")
    for value, role in product(values(case, tmp_path), roles):
        if said["! "]:
            with command_line(), pytest.raises(CalipersError, match=f"(?s){said['! '][0]}"):
                whole(value, role, columns)
            continue
        found = whole(value, role, columns)
        truth, run = found.ground_truth, found.run
        notes = [*(truth.notes if truth else ()), *(run.notes if run else ())]
        if truth is not None and (role != "run" or said["> "]):
            kind = "item" if truth.targets["item"].count() else "quote"
            rows = truth.targets.select("query", kind, "grade").rows()
            assert listed(rows, truth.queries["query"].to_list()) == said["> "]
        if run is not None and (role != "ground_truth" or said["< "]):
            named = "item" in run.frame.columns and run.frame["item"].count()
            kind = "item" if named else "text"
            ranked = [(q, one, 1.0) for q, one in run.frame.select("query", kind).rows()]
            asked = (run.frame if run.queries is None else run.queries)["query"]
            assert listed(ranked, asked.unique(maintain_order=True).to_list()) == said["< "]
        for pattern in said["~ "]:
            assert re.search(pattern, " ".join(notes)), notes
        if not said["~ "]:
            # The first line says which column is what; others are expected only where they are.
            assert [note for note in notes if "←" not in note] == []
