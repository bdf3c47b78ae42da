"""Why a question got no answer: an error kind, a message, and whether a retry may help."""

import msgspec

from calipers.errors import CalipersError, said_by

WORTH_RETRYING = (429, 500, 502, 503, 504)
LARGEST_ANSWER = 64 << 20
"""Largest answer in bytes, over HTTP or as a line of a command."""
TOO_LARGE = f"the answer is larger than {LARGEST_ANSWER >> 20} MB"


class AskFailed(Exception):
    """A question got no usable answer; it is recorded and counted, and the run goes on."""

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
        """The kind of error, in a word or two, for counting."""
        self.sentence = sentence
        self.retry = retry
        """Whether a retry may help."""
        self.after = after
        """Seconds that the retriever asked us to wait before a retry."""
        self.hopeless = hopeless
        """Whether every other question would fail the same way."""


class ProtocolBroken(AskFailed):
    """The lines of a command no longer belong to its questions; the run stops."""


def bad_answer(sentence: str) -> AskFailed:
    """An error for an answer that cannot be used."""
    return AskFailed("bad answer", sentence)


def explain(error: BaseException) -> AskFailed:
    """Turn any exception of a retriever into a kind of error and a message."""
    if isinstance(error, AskFailed):
        return error
    if isinstance(error, CalipersError):
        return AskFailed("bad use", str(error), hopeless=True)
    name = type(error).__name__
    message = beginning(" ".join(said_by(error).split()), 300)
    kinds = [kind.__name__ for kind in type(error).__mro__]
    if isinstance(error, TimeoutError) or any("Timeout" in kind for kind in kinds):
        return AskFailed("timeout", f"{name}: {message}", retry=True)
    if isinstance(error, ConnectionRefusedError):
        return AskFailed("refused", message, retry=True)
    if isinstance(error, ConnectionError) or any(
        kind.endswith(("ConnectError", "ConnectionError")) for kind in kinds
    ):
        return AskFailed("reset", f"{name}: {message}", retry=True)
    return AskFailed(name, message or "it gives no reason")


def decoded(content: bytes, what: str) -> object:
    """Decode a JSON answer; ``what`` names the answer in an error."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise bad_answer(
            f"{what} is not JSON; it begins with {beginning(content)!r}"
        ) from None


def beginning(value: object, limit: int = 160) -> str:
    """The beginning of a value, for an error message."""
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
