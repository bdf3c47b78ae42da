"""Sign-in sessions of a server, saved so that a restart signs nobody out.

Only the digest of a cookie is saved, which cannot be used to sign in.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import delete, insert, select

from calipers.store.open import Store
from calipers.store.schema import SESSION


class SessionKeeper:
    """The sessions of the server at one address."""

    def __init__(self, store: Callable[[], Store | None], address: str) -> None:
        self._store, self._address = store, address
        self._mine = SESSION.c.address == address

    def all(self, now: float) -> Sequence[Any]:
        """digest, name and until of every active session."""
        if (store := self._store()) is None:
            return []
        with store.reading() as connection:
            return connection.execute(
                select(SESSION).where(self._mine, SESSION.c.until >= now)
            ).all()

    def add(self, digest: str, name: str, until: float) -> None:
        """Save a session; expired ones go."""
        row = {"digest": digest, "name": name, "until": until, "address": self._address}
        self._write(delete(SESSION).where(SESSION.c.until < time.time()))
        self._write(insert(SESSION).values(row))

    def end(self, **whose: str) -> None:
        """End the session with this ``digest``, or all of this ``name``."""
        self._write(delete(SESSION).where(self._mine).filter_by(**whose))

    def _write(self, statement: Any) -> None:
        if (store := self._store()) is not None:
            with store.writing() as connection:
                connection.execute(statement)
