"""Timeouts for connections that send nothing, or read nothing."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 20.0
"""Seconds for the head of a request, for its body, and for a stalled reader of an answer."""
LARGEST_HEAD = 32_000
LIMITS: dict[str, Any] = {
    "h11_max_incomplete_event_size": LARGEST_HEAD,
    # Connections open at the same time; further ones are told to try again.
    "limit_concurrency": 500,
}
_UNFINISHED = (h11.IDLE, h11.SEND_BODY)


class PatientProtocol(H11Protocol):
    """The HTTP protocol of uvicorn, with timeouts."""

    _sender: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None

    def _timer(self, last: asyncio.TimerHandle | None, on: bool) -> asyncio.TimerHandle | None:
        """Stop a timeout; if it is ``on``, start it anew."""
        if last is not None:
            last.cancel()
        return self.loop.call_later(PATIENCE, self.transport.abort) if on else None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the head of the first request."""
        super().connection_made(transport)
        self._sender = self._timer(None, on=True)

    def data_received(self, data: bytes) -> None:
        """Keep the timeout until the head or the body is complete; a trickle does not extend it."""
        before = self.conn.their_state
        super().data_received(data)
        after = self.conn.their_state
        if after not in _UNFINISHED or after is not before or self._sender is None:
            self._sender = self._timer(self._sender, on=after in _UNFINISHED)

    def pause_writing(self) -> None:
        """Start the timeout for the reader."""
        super().pause_writing()
        self._reader = self._timer(self._reader, on=True)

    def resume_writing(self) -> None:
        """Stop the timeout: the client reads again."""
        super().resume_writing()
        self._reader = self._timer(self._reader, on=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeouts."""
        super().connection_lost(exc)
        self._sender, self._reader = (
            self._timer(one, on=False) for one in (self._sender, self._reader)
        )
