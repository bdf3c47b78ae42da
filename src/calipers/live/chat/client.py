"""A language model behind an OpenAI-compatible endpoint that the user names.

It is asked like a retriever: the same driver, connections, retries, limits and cache. An answer
that cannot be used fails like a question that got none, so it is counted and never cached.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from calipers.errors import InvalidInput, WriteFailed
from calipers.live.adapters.base import Question, Retriever, Session
from calipers.live.adapters.http import from_address
from calipers.live.failures import AskFailed, beginning
from calipers.live.keywords import Patience
from calipers.live.result import RetrievalReport
from calipers.live.retrieve import retrieve_to_report
from calipers.live.run_file import read_entry

PATH = "/chat/completions"
WORKERS = 4
TIMEOUT_SECONDS = 60.0
CACHE_FILE = "answers.sqlite"

_NAME = re.compile(r"[A-Za-z_]\w*")

Check = Callable[[str], object]
"""Raises AskFailed where an answer cannot be used."""


@dataclass(frozen=True)
class Reply:
    """What came back for one prompt: a text, or why there is none."""

    text: str | None
    error: str | None = None


def chat_model(
    endpoint: str, model: str, instructions: str, check: Check, *, key_env: str | None = None
) -> Retriever:
    """A language model, given the same instructions with every prompt, at temperature 0.

    ``key_env`` names the environment variable that holds the key, if the endpoint wants one.
    """
    if not isinstance(endpoint, str) or not endpoint.startswith(("http://", "https://")):
        raise InvalidInput(
            f"The endpoint is {endpoint!r:.80}; it must be an address such as "
            "http://127.0.0.1:8000/v1."
        )
    if not isinstance(model, str) or not model.strip():
        raise InvalidInput("No model is named; name the one that the endpoint is to use.")
    address = endpoint.rstrip("/")
    inner = from_address(
        address if address.endswith(PATH) else address + PATH,
        request={
            "model": _literal(model),
            "temperature": 0,
            "messages": [
                {"role": "system", "content": _literal(instructions)},
                {"role": "user", "content": "{query}"},
            ],
        },
        headers=_key_header(key_env),
    )
    return replace(inner, open=lambda: _Session(inner.open(), check))


def ask_model(
    model: Retriever,
    prompts: Sequence[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    workers: int = WORKERS,
    timeout: float | None = TIMEOUT_SECONDS,
    rate: float | None = None,
    **patience: Unpack[Patience],
) -> tuple[list[Reply], RetrievalReport]:
    """A reply to every prompt, in order, and how it went.

    ``cache`` is a folder: what was answered once with the same endpoint, model and prompt is
    taken from there.
    """
    lines: list[bytes] = []
    # The same prompt is asked once, however often it is needed.
    numbers = {prompt: str(number) for number, prompt in enumerate(dict.fromkeys(prompts))}
    with _cache_file(cache) as file:
        report = retrieve_to_report(
            model,
            [Question(number, prompt) for prompt, number in numbers.items()],
            k=1,
            workers=workers,
            timeout=timeout,
            rate=rate,
            told=lines.append,
            cache=file,
            **patience,
        )
    replies = {}
    for entry in map(read_entry, lines):
        text = entry.retrieved[0].text if entry.retrieved else None
        replies[entry.key] = Reply(text, entry.error)
    return [replies[numbers[prompt]] for prompt in prompts], report


@contextmanager
def _cache_file(given: str | os.PathLike[str] | None) -> Iterator[Path | None]:
    """The file in the folder of answers; a folder that is new and got no file goes."""
    if given is None:
        yield None
        return
    folder = Path(given)
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"The cache {folder} cannot be made: {error.strerror}; name another folder."
        ) from error
    try:
        yield folder / CACHE_FILE
    finally:
        for one in made:
            with suppress(OSError):
                one.rmdir()


def _literal(text: str) -> str:
    # A dollar in a request would be taken for an environment variable.
    return text.replace("$", "$$")


def _key_header(variable: str | None) -> dict[str, str]:
    if variable is None:
        return {}
    # Somebody may have given the key itself, so what was given is never repeated.
    if not _NAME.fullmatch(variable) or not os.environ.get(variable):
        raise InvalidInput(
            "The environment variable named with --key-env (key_env) is not set; give the name of "
            "a variable that holds the key, not the key itself, and set it first: export NAME=…"
        )
    return {"Authorization": f"Bearer ${{{variable}}}"}


@dataclass(eq=False)
class _Session:
    """One connection; what comes back is the text of the answer, if it can be used."""

    inner: Session
    check: Check

    def ask(self, questions: Sequence[Question], k: int, timeout: float | None) -> Sequence[Any]:
        answers = [_content(raw) for raw in self.inner.ask(questions, k, timeout)]
        for answer in answers:
            self.check(answer)
        return [[{"id": "answer", "text": answer}] for answer in answers]

    def close(self) -> None:
        self.inner.close()


def _content(raw: Any) -> str:
    choices = raw.get("choices") if isinstance(raw, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise AskFailed(
            "bad answer",
            "the answer is not that of an OpenAI-compatible endpoint (no choices[0].message); it "
            f"begins with {beginning(raw)}",
        )
    if message.get("refusal") or first.get("finish_reason") == "content_filter":
        raise AskFailed("refusal", f"the model refused: {beginning(message.get('refusal') or '')}")
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        raise AskFailed("empty", f"the model said nothing; its message is {beginning(message)}")
    return content
