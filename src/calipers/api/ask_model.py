"""Ask a language model many prompts, and keep what it said."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import WriteFailed
from calipers.model.retrieval import RetrievalReport
from calipers.retrievers.base import Question, Retriever
from calipers.retrievers.entry import RunEntry
from calipers.retrievers.retrieve import retrieve_to_report

WORKERS = 4
TIMEOUT_SECONDS = 60.0
CACHE_FILE = "answers.sqlite"

_entry = msgspec.json.Decoder(RunEntry).decode


@dataclass(frozen=True)
class Reply:
    """What came back for one prompt: a text, or why there is none."""

    text: str | None
    error: str | None = None


def ask_model(
    model: Retriever,
    prompts: Sequence[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    workers: int = WORKERS,
    timeout: float | None = TIMEOUT_SECONDS,
    **pace: Any,
) -> tuple[list[Reply], RetrievalReport]:
    """A reply to every prompt, in order, and how it went.

    ``cache`` is a folder: what was answered once with the same endpoint, model and prompt is
    taken from there. ``pace`` is that of ``retrieve``: retries, rate, max_errors, progress, total.
    """
    lines: list[bytes] = []
    # The same prompt is asked once, however often it is needed.
    numbers = {prompt: str(number) for number, prompt in enumerate(dict.fromkeys(prompts))}
    report = retrieve_to_report(
        model, [Question(number, prompt) for prompt, number in numbers.items()], k=1,
        workers=workers, timeout=timeout, keep=lines.append,
        cache=None if cache is None else _cache_file(Path(cache)), **pace,
    )  # fmt: skip
    replies = {}
    for entry in map(_entry, lines):
        text = entry.retrieved[0].text if entry.retrieved else None
        replies[entry.query if entry.id is None else entry.id] = Reply(text, entry.error)
    return [replies[numbers[prompt]] for prompt in prompts], report


def _cache_file(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"The cache {folder} cannot be made: {error.strerror}; name another folder."
        ) from error
    return folder / CACHE_FILE
