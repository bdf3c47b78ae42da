"""The files that `init FOLDER` writes: questions, a search function to replace, and settings."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import WriteFailed
from calipers.frozen import dataclass
from calipers.io.files.write import whole_file
from calipers.model.plain import plain

QUESTIONS = "questions.jsonl"
SETTINGS = "calipers.toml"
DROPPED = "dropped.jsonl"
SEARCH_FILES = ("search.py", "calipers_search.py")
"""File names for the search function; the first free one is used."""

_SETTINGS_TEXT = """\
# Settings of every calipers command that runs in this folder.
ground-truth = "{questions}"
# {comment}
retriever = {retriever}
metrics = ["recall@{k}", "mrr"]
# Twice as many as are looked at: a passage that holds a link does not count, and makes room.
ask-for = {ask_for}
"""
_SEARCH_TEXT = '''\
"""The retriever that Calipers asks: word matching over the documents. Put your own search here."""

from pathlib import Path

from calipers.live.word_matching import search_folder

by_words = search_folder(Path(__file__).parent / {documents})


def search(query, k):
    """The k best chunks for a query, the best first, each with its text."""
    return by_words(query, k)


# With a vector database, here Qdrant, and what filled it as `client` and `embed`. Chunks need their
# text, and room for a target, which has up to {longest} characters: one in pieces is not found.
#
# def search(query, k):
#     points = client.query_points("documents", query=embed(query), limit=k).points
#     return [
#         {{"id": str(point.id), "text": point.payload["text"], "score": point.score}}
#         for point in points
#     ]
'''


@dataclass(frozen=True)
class ProjectFiles:
    """What was written, what stays as it is, and the command to call next."""

    written: tuple[Path, ...]
    command: tuple[str, ...]
    search: Path | None = None
    """The search function to replace, if it was written."""
    left: Path | None = None
    """Settings that were there already and name other questions."""


def write_project(
    into: Path,
    folder: Path,
    records: Sequence[Mapping[str, object]],
    rejected: Sequence[object] = (),
    *,
    k: int,
    retriever: str | None,
) -> ProjectFiles:
    """Write the questions and, unless there are settings, those and a search function.

    The folder of the documents is refused: what is written there would be searched.
    """
    check_output(into, folder)
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"The folder {into} cannot be made: {error.strerror}; name another."
        ) from error
    has_excluded = any("excluded" in record for record in records)
    beside = None
    if (into / SETTINGS).exists():
        beside = _beside_settings(into, folder, k, retriever, has_excluded=has_excluded)
    written: list[Path] = []
    try:
        written.append(write_lines(into / QUESTIONS, records))
        search = None
        if beside is None:
            search = _write_search(into, folder, k, retriever, written)
        if rejected:
            aside = into / DROPPED
            before = aside.read_bytes() if aside.exists() else b""
            write_lines(aside, map(plain, rejected), before)
            written.append(aside)
    except WriteFailed:
        # Half of the files would be in the way of the next call.
        for path in written:
            path.unlink(missing_ok=True)
        raise
    if beside is not None:
        command, left = beside
        return ProjectFiles(tuple(written), command, left=left)
    return ProjectFiles(
        tuple(written), ("calipers", "eval", *_config_option(into)), search
    )


def _write_search(
    into: Path, folder: Path, k: int, retriever: str | None, written: list[Path]
) -> Path | None:
    """Write a search function, unless there is a retriever, and the settings that name it."""
    documents = _path_from(into, folder)
    search = None
    if retriever is None and folder.is_dir():
        free = (into / name for name in SEARCH_FILES if not (into / name).exists())
        search = next(free, None)
    if search is not None:
        _write_text(search, _search_text(_quoted(documents)))
        written.append(search)
        retriever = f"{search.name}:search"
    comment = (
        f"Word matching over the documents; put your own search into {search.name}."
        if search is not None
        else 'What is asked; a function of yours is named like "search.py:search".'
    )
    text = _SETTINGS_TEXT.format(
        questions=QUESTIONS,
        comment=comment,
        retriever=_quoted(retriever or f"words:{documents}"),
        k=k,
        ask_for=2 * k,
    )
    written.append(_write_text(into / SETTINGS, text))
    return search


def _beside_settings(
    into: Path, folder: Path, k: int, retriever: str | None, *, has_excluded: bool
) -> tuple[tuple[str, ...], Path | None]:
    """The command that measures the questions, and the settings if they name others."""
    from calipers.config import read_config

    settings = into / SETTINGS
    shared: Mapping[str, Any] = read_config(settings).shared
    questions = into / QUESTIONS
    metric = f"recall@{k}"
    metrics = shared.get("metrics", ())
    names = metrics.split(",") if isinstance(metrics, str) else metrics
    measured = () if metric in names else ("-m", metric)
    named = shared.get("ground-truth")
    is_named = named is not None and Path(named).resolve() == questions.resolve()
    if is_named and "retriever" in shared and "run" not in shared:
        command = ("calipers", "eval", *_config_option(into), *measured)
        return command, None
    # Their retriever answers other questions, perhaps without the texts that quotes need, and
    # their metrics may look at other depths than the number that is printed.
    asked = ("--retriever", retriever or f"words:{folder}", "-m", metric)
    deeper = ("--ask-for", str(2 * k)) if has_excluded else ()
    command = ("calipers", "eval", "-g", str(questions), *asked, *deeper)
    return command, None if is_named else settings


def _config_option(into: Path) -> tuple[str, ...]:
    """What names the settings of a folder, where it is not the current one."""
    return () if into == Path() else ("--config", str(into / SETTINGS))


def _path_from(into: Path, documents: Path) -> str:
    """The documents as a path from a folder, or whole where it leads far away."""
    try:
        path = Path(os.path.relpath(documents, into)).as_posix()
    except ValueError:  # another drive
        return documents.resolve().as_posix()
    return documents.resolve().as_posix() if path.startswith("../../..") else path


def _search_text(documents: str) -> str:
    """The search function to replace."""
    from calipers.questions.begin.candidates import LONGEST_QUOTE

    return _SEARCH_TEXT.format(documents=documents, longest=LONGEST_QUOTE)


def _quoted(text: str) -> str:
    """A text as TOML and Python write it: both escape it like JSON."""
    return msgspec.json.encode(text).decode()


def _write_text(path: Path, text: str) -> Path:
    """Write a file whole."""
    with whole_file(path) as file:
        file.write(text.encode())
    return path


def write_lines(path: Path, rows: Iterable[object], before: bytes = b"") -> Path:
    """Write records as JSON lines, after what stood there ``before``."""
    with whole_file(path) as file:
        file.write(before)
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
    return path


def check_output(into: Path, documents: Path) -> None:
    """Refuse an output inside the documents, and one that would replace questions."""
    if documents.is_dir() and into.resolve().is_relative_to(documents.resolve()):
        raise WriteFailed(
            f"Name another folder for the output (-o FOLDER): {into} is part of {documents}, and "
            "what is written there would be searched."
        )
    if (into / QUESTIONS).exists():
        raise WriteFailed(
            f"{into / QUESTIONS} exists already; move it away, or give -o FOLDER."
        )
