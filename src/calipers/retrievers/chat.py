"""A language model behind an OpenAI-compatible endpoint that the user names.

It is asked like a retriever: the same driver, connections, retries, limits and cache. An answer
that cannot be used fails like a question that got none, so it is counted and never cached.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.model.labels import MACHINE
from calipers.retrievers.base import AskFailed, Question, Retriever, Session, beginning
from calipers.retrievers.http import from_address

PATH = "/chat/completions"
_NAME = re.compile(r"[A-Za-z_]\w*")
_THOUGHTS = re.compile(r".*</think>", re.DOTALL)

Check = Callable[[str], object]
"""Raises AskFailed where an answer cannot be used."""


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


def machine_name(model: str) -> str:
    """The name under which a model's work is marked.

    >>> machine_name("small-model")
    'machine:small-model'
    """
    return MACHINE + model


def json_answer(text: str) -> dict[str, Any]:
    """The JSON object in an answer, also where a model wraps it in a code block or thoughts.

    >>> json_answer('Sure!\\n```json\\n{"grade": 2}\\n```')
    {'grade': 2}
    """
    said = _THOUGHTS.sub("", text)
    try:
        found = msgspec.json.decode(said[said.index("{") : said.rindex("}") + 1])
    except (ValueError, msgspec.DecodeError):
        raise AskFailed(
            "malformed", f"the answer holds no JSON object; it is {beginning(said.strip())!r}"
        ) from None
    if not isinstance(found, dict):
        raise AskFailed("malformed", f"the answer is no JSON object: {beginning(said)!r}")
    return found


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
