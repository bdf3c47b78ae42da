"""What a database complains about, as a sentence that says what to do."""

import sqlite3

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from calipers.errors import CalipersError, InvalidInput, StoreAway, UnreadableFile, WriteFailed
from calipers.store.place import StorePlace

SQLITE: dict[int, str] = {
    sqlite3.SQLITE_BUSY: "another process holds it locked; try again when that one is done",
    sqlite3.SQLITE_LOCKED: "another process holds it locked; try again when that one is done",
    sqlite3.SQLITE_FULL: "the disk is full; make room and save again",
    sqlite3.SQLITE_READONLY: "it is read-only; change its permissions, or name another with "
    "--store",
    sqlite3.SQLITE_PERM: "there is no permission; change it, or name another with --store",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the folder and its permissions",
    sqlite3.SQLITE_IOERR: "the disk reports an error; check the disk",
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; name another file",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; put back a copy of it, and look at what is left "
    "with `calipers history check`",
}
# The first two characters of PostgreSQL's codes name their class, all five the case.
POSTGRESQL: dict[str, str] = {
    "28": "the server does not let this user in; check the user and the password",
    "3D": "there is no such database on the server; create it, or name another",
    "42501": "this user has no permission there; ask for it (CREATE for the first save, then "
    "SELECT, INSERT, UPDATE and DELETE)",
    "25006": "the server allows no changes (it is read-only); name the one that does",
    "53100": "the disk of the server is full; make room and save again",
    "53300": "the server has no connection left; try again",
    "55P03": "somebody else holds it locked; try again when that one is done",
    "57014": "the server stopped the work; try again",
}


class StoreUnreadable(StoreAway, UnreadableFile):
    """A history that cannot be read at the moment."""


class StoreUnwritable(StoreAway, WriteFailed):
    """A history that cannot be written at the moment."""


def write_complaint(place: StorePlace, error: SQLAlchemyError) -> CalipersError:
    """The error of a failed change: nothing of it is left."""
    if isinstance(error, DataError | IntegrityError):
        # The value is at fault, and would be another time.
        return InvalidInput(f"The history {place.shown} refused it: {_reason(place, error)}.")
    return StoreUnwritable(
        f"The history {place.shown} cannot be written: {_reason(place, error)}. Nothing was "
        "changed there."
    )


def read_complaint(place: StorePlace, error: SQLAlchemyError) -> CalipersError:
    """The error of a failed reading."""
    return StoreUnreadable(f"The history {place.shown} cannot be read: {_reason(place, error)}.")


def _reason(place: StorePlace, error: SQLAlchemyError) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(cause, sqlite3.Error):
        # The low byte is the kind; the rest says where exactly it happened.
        known = SQLITE.get((getattr(cause, "sqlite_errorcode", 0) or 0) & 0xFF)
        return known or _plain(str(cause))
    code = getattr(cause, "sqlstate", None) or ""
    known = POSTGRESQL.get(code) or POSTGRESQL.get(code[:2])
    if known:
        return known
    said = _plain(place.redact(str(cause if cause is not None else error)))
    if cause is not None and not code:
        return f"the server cannot be reached ({said}); check the address and that it runs"
    return said


def _plain(message: str) -> str:
    """The first line of a message, without its full stop."""
    lines = [line.strip() for line in message.strip().splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else "the database gives no reason"
