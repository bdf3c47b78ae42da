"""Why a question got no answer: a kind to count, a sentence, and whether asking again may help."""

from typing import Any

import msgspec

from calipers.errors import CalipersError, said_by

WORTH_RETRYING = (429, 500, 502, 503, 504)
LARGEST_ANSWER = 64 << 20
"""Bytes of one answer, over HTTP or as a line of a command."""
TOO_LARGE = f"the answer is larger than {LARGEST_ANSWER >> 20} MB"


class AskFailed(Exception):
    """One question got no usable answer; recorded and counted, never the end of the run."""

    def __init__(
        self,
        kind: str,
        sentence: str,
        *,
        retry: bool = False,
        after: float | None = None,
        hopeless: bool = False,
    ) -> None:
        super().__init__(f"{kind}: {sentence}")
        self.kind = kind
        """A word or two by which errors are counted."""
        self.sentence = sentence
        self.retry = retry
        """Whether asking again may help."""
        self.after = after
        """Seconds that the retriever asked us to wait before that."""
        self.hopeless = hopeless
        """Whether every other question would fail the same way."""


def bad_answer(sentence: str) -> AskFailed:
    """Something came back, and it cannot be used."""
    return AskFailed("bad answer", sentence)


def explain(error: BaseException) -> AskFailed:
    """Whatever a retriever raised, as a kind to count and a sentence."""
    if isinstance(error, AskFailed):
        return error
    if isinstance(error, CalipersError):
        return AskFailed("bad use", str(error), hopeless=True)
    name = type(error).__name__
    said = beginning(" ".join(said_by(error).split()), 300)
    kinds = [kind.__name__ for kind in type(error).__mro__]
    status = _status(error)
    if status is not None and status >= 400:
        return AskFailed(
            f"http {status}", f"{name}: {said}", retry=status in WORTH_RETRYING, after=_after(error)
        )
    if isinstance(error, TimeoutError) or any("Timeout" in kind for kind in kinds):
        return AskFailed("timeout", f"{name}: {said}", retry=True)
    if isinstance(error, ConnectionRefusedError):
        return AskFailed("refused", said, retry=True)
    if isinstance(error, ConnectionError) or any(
        kind.endswith(("ConnectError", "ConnectionError")) for kind in kinds
    ):
        return AskFailed("reset", f"{name}: {said}", retry=True)
    return AskFailed(name, said or "it gives no reason")


def _status(error: BaseException) -> int | None:
    """The status that HTTP clients attach to their errors, under one of two names."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            found = getattr(holder, name, None)
            if isinstance(found, int) and not isinstance(found, bool) and 100 <= found < 600:
                return found
    return None


def _after(error: BaseException) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    try:
        return float(headers["retry-after"])  # type: ignore[index]
    except (TypeError, KeyError, ValueError):
        return None


def decoded(content: bytes, what: str) -> Any:
    """The value that an answer writes as JSON; ``what`` names the answer in an error."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise bad_answer(f"{what} is not JSON; it begins with {beginning(content)!r}") from None


def beginning(value: Any, limit: int = 160) -> str:
    """The beginning of what came, for an error."""
    if isinstance(value, bytes):
        value = value[: 4 * limit].decode(errors="replace")
    if isinstance(value, str):
        text = value
    else:
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - a broken repr of a user's object must not hide the error
            text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"
