"""Sign-in sessions of a server, saved so that a restart signs nobody out.

Only the digest of a cookie is saved, which cannot be used to sign in.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, insert, select

from calipers.store.open import Store
from calipers.store.schema import SESSION


class SessionKeeper:
    """The sessions of the server at one address."""

    def __init__(self, store: Callable[[], Store | None], address: str) -> None:
        self._store = store
        self._mine = SESSION.c.address == address
        self._address = address

    def all(self, now: float) -> list[Any]:
        """digest, name and until of every active session; expired ones are removed."""
        store = self._store()
        if store is None:
            return []
        with store.reading() as connection:
            found = connection.execute(select(SESSION).where(self._mine)).all()
        if any(one.until < now for one in found):
            self._write(delete(SESSION).where(self._mine, SESSION.c.until < now))
        return [one for one in found if one.until >= now]

    def add(self, digest: str, name: str, until: float) -> None:
        """Save a session."""
        row = {"digest": digest, "name": name, "until": until, "address": self._address}
        self._write(insert(SESSION).values(row))

    def end(self, *, digest: str | None = None, name: str | None = None) -> None:
        """End one session, or all of a person."""
        which = SESSION.c.digest == digest if digest else SESSION.c.name == name
        self._write(delete(SESSION).where(self._mine, which))

    def _write(self, statement: Any) -> None:
        store = self._store()
        if store is not None:
            with store.writing() as connection:
                connection.execute(statement)
