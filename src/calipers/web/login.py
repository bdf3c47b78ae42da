"""Who may come in: a link with a one-time token per judge, exchanged for a cookie."""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

LIFETIME = 12 * 3600
"""Seconds that a cookie is good for."""
TRIES, WITHIN = 10, 60.0
"""Wrong tokens within so many seconds, after which nobody is let in for a while."""


@dataclass(frozen=True)
class JudgeSession:
    """Somebody who came in."""

    judge: str
    until: float


class Doors:
    """The tokens that are still good and the sessions that are open; no secret is kept as it is."""

    def __init__(self, judges: Iterable[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[bytes, str] = {}
        self._sessions: dict[bytes, JudgeSession] = {}
        self._wrong: list[float] = []
        self.links: dict[str, str] = {judge: self._issue(judge) for judge in judges}
        """The token of each judge, to be shown once."""

    def _issue(self, judge: str) -> str:
        token = secrets.token_urlsafe(32)
        self._tokens[_digest(token)] = judge
        return token

    @property
    def shut(self) -> bool:
        """Whether there were too many wrong tokens lately."""
        with self._lock:
            now = self._clock()
            self._wrong = [when for when in self._wrong if now - when < WITHIN]
            return len(self._wrong) >= TRIES

    def enter(self, token: str) -> str | None:
        """The cookie for a token that is good, which is used up by that; None: it is not."""
        given = _digest(token)
        with self._lock:
            # Every token is looked at, in the same time, whether or not one fits.
            fitting = [known for known in self._tokens if hmac.compare_digest(known, given)]
            if not fitting:
                self._wrong.append(self._clock())
                return None
            judge = self._tokens.pop(fitting[0])
            cookie = secrets.token_urlsafe(32)
            self._sessions[_digest(cookie)] = JudgeSession(judge, self._clock() + LIFETIME)
            return cookie

    def who(self, cookie: str | None) -> str | None:
        """The judge that a cookie belongs to; None for a wrong one or one that is too old."""
        if not cookie:
            return None
        given = _digest(cookie)
        with self._lock:
            fitting = [known for known in self._sessions if hmac.compare_digest(known, given)]
            if not fitting:
                return None
            session = self._sessions[fitting[0]]
            if session.until < self._clock():
                del self._sessions[fitting[0]]
                return None
            return session.judge


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
