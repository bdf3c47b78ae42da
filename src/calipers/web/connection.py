"""Timeouts for connections that send nothing, or read nothing."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 20.0
"""Seconds for the head of a request, for its body, and for a stalled reader of an answer."""
LARGEST_HEAD = 32_000
MOST_CONNECTIONS = 500
"""Connections open at the same time; further ones are told to try again."""

LIMITS: dict[str, Any] = {
    "h11_max_incomplete_event_size": LARGEST_HEAD,
    "limit_concurrency": MOST_CONNECTIONS,
}


class PatientProtocol(H11Protocol):
    """The HTTP protocol of uvicorn, with timeouts."""

    _waiting: asyncio.TimerHandle | None = None
    _writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the head of the first request."""
        super().connection_made(transport)
        self._waiting = self.loop.call_later(PATIENCE, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Keep the timeout until the head or the body is complete; a trickle does not extend it."""
        before = self.conn.their_state
        super().data_received(data)
        after = self.conn.their_state
        if after not in (h11.IDLE, h11.SEND_BODY) or after is not before:
            self._stop_waiting()
        if after in (h11.IDLE, h11.SEND_BODY) and self._waiting is None:
            self._waiting = self.loop.call_later(PATIENCE, self.transport.abort)

    def pause_writing(self) -> None:
        """Start the timeout for the reader."""
        super().pause_writing()
        self._writing = self.loop.call_later(PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timeout: the client reads again."""
        super().resume_writing()
        if self._writing is not None:
            self._writing.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        super().connection_lost(exc)
        self._stop_waiting()
        if self._writing is not None:
            self._writing.cancel()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
