"""People look at a random part of made questions: would somebody ask it, and is the target right?

The answers stand as the tag ``checked`` in the file of the questions itself, which is written anew
after each, so that nothing is lost when somebody stops. The questions that are fit are a random
part of all that are: `calipers eval --where checked=yes` gives the corrected number.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.write import whole_file
from calipers.model.labels import MACHINE
from calipers.questions.begin.candidates import SOURCES
from calipers.questions.begin.result import DROPPED
from calipers.words import plural

CHECKED = "checked"
KEYS = {"y": "yes", "n": "nobody asks", "w": "wrong target"}
"""What each key says of a question."""
LABELS = 30

Records = list[dict[str, Any]]


def made_questions(path: str | os.PathLike[str]) -> Records | None:
    """The records of a file that `init FOLDER` wrote; None for any other file."""
    try:
        lines = Path(path).read_bytes().splitlines()
        records = [msgspec.json.decode(line, type=dict[str, Any]) for line in lines if line.strip()]
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}; check it.") from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return records if records and all(map(_is_made, records)) else None


def _is_made(record: dict[str, Any]) -> bool:
    tags = record.get("tags")
    if not isinstance(tags, dict) or "file" not in tags or "retrieved" in record:
        return False
    source = tags.get("source")
    return isinstance(source, str) and (source in SOURCES or source.startswith(MACHINE))


def waiting(records: Records, n: int, seed: int) -> list[int]:
    """The places of the questions that are drawn and not checked yet, in the order of the draw."""

    def place(number: int) -> bytes:
        asked = [seed, records[number].get("id"), records[number].get("query")]
        return hashlib.sha256(msgspec.json.encode(asked)).digest()

    drawn = sorted(range(len(records)), key=place)[:n]
    return [number for number in drawn if CHECKED not in records[number]["tags"]]


def check(
    path: Path,
    records: Records,
    answer: Callable[[dict[str, Any], int], str | None],
    n: int,
    seed: int,
) -> None:
    """Ask about each drawn question, and write every answer at once; None ends it."""
    left = waiting(records, n, seed)
    for done, number in enumerate(left):
        said = answer(records[number], len(left) - done)
        if said is None:
            return
        records[number]["tags"][CHECKED] = said
        _write(path, records)


def summary(path: Path, records: Records, n: int, seed: int) -> list[str]:
    """What is known so far, and the next command."""
    counts = Counter(one["tags"].get(CHECKED) for one in records)
    fit, all_of = counts["yes"], sum(counts.values()) - counts[None]
    if not all_of:
        return [f"Nothing is checked yet; {plural(min(n, len(records)), 'question')} are drawn."]
    left = len(waiting(records, n, seed))
    lines = [
        f"{fit:,} of {plural(all_of, 'question')} are fit: {counts['nobody asks']:,} nobody would "
        f"ask, {counts['wrong target']:,} with the wrong target."
    ]
    if left:
        lines.append(f"{left:,} are left; the same command goes on.")
    if fit > 1:
        lines.append(f"The corrected number: calipers eval -g {path} --where {CHECKED}=yes")
    if fit < all_of:
        lines.append(f"Take the others out of the set: calipers labels sample {path} --drop")
    return lines


def drop(path: Path, records: Records) -> tuple[int, Path]:
    """Move the questions that are not fit to dropped.jsonl; returns how many, and the file."""
    bad = [one for one in records if one["tags"].get(CHECKED, "yes") != "yes"]
    kept = [one for one in records if one["tags"].get(CHECKED, "yes") == "yes"]
    if not bad:
        raise InvalidInput("No question was found unfit; there is nothing to drop.")
    if not kept:
        raise InvalidInput("Every question is unfit; make others with calipers init FOLDER.")
    aside = path.with_name(DROPPED)
    before = aside.read_bytes() if aside.exists() else b""
    reasons = ({**one, "reason": one["tags"][CHECKED]} for one in bad)
    with whole_file(aside) as file:
        file.write(before)
        file.writelines(msgspec.json.encode(one) + b"\n" for one in reasons)
    _write(path, kept)
    return len(bad), aside


def _write(path: Path, records: Records) -> None:
    with whole_file(path) as file:
        file.writelines(msgspec.json.encode(one) + b"\n" for one in records)
