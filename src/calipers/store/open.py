"""Open a history: connect, check that it is one, bring its tables up to date."""

import os
import sqlite3
import threading
import weakref
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    NullPool,
    QueuePool,
    create_engine,
    event,
    inspect,
    text,
)
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from calipers.errors import (
    CalipersError,
    InvalidInput,
    MissingExtra,
    StoreAway,
    UnreadableFile,
    WriteFailed,
)
from calipers.frozen import dataclass
from calipers.store.place import FOLDER, StorePlace, locate
from calipers.store.schema import HEAD, METADATA, VERSION_TABLE, VERSIONS
from calipers.version import pip_install

PATIENCE_SECONDS = 30.0
"""Seconds to wait while somebody else writes."""
LARGE = 64 << 20
"""Files up to this size are checked before they are read, in a quarter of a second."""
MOST_CONNECTIONS = 20
"""Connections to a server, besides the five that stay open."""
MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x43414C50
"""The PostgreSQL lock number that lets one process at a time change the tables."""
_WRITERS: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
"""One lock for each file, so that the threads of one process take fair turns to write.

SQLite has no queue: a writer that finds the file locked retries later and later, while
newcomers try at once. One of twenty busy threads might then wait until it times out.
"""

LOCKED = "somebody else holds it locked; try again when that one is done"
DENIED = (
    "it cannot be opened or written; change its permissions, or name another with --store"
)
SQLITE: dict[int, str] = {
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_FULL: "the disk is full; make room and save again",
    sqlite3.SQLITE_READONLY: f"it is read-only: {DENIED}",
    sqlite3.SQLITE_PERM: DENIED,
    sqlite3.SQLITE_CANTOPEN: DENIED,
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; name another file",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; put back a copy of it",
}
LOCK_TIMEOUT = "55P03"
"""PostgreSQL's code; its other errors explain themselves."""


class StoreUnreadable(StoreAway, UnreadableFile):
    """A history that cannot be read at the moment."""


class StoreUnwritable(StoreAway, WriteFailed):
    """A history that cannot be written at the moment."""


@dataclass(frozen=True)
class Store:
    """A history with up-to-date tables; connections are closed after use unless kept."""

    place: StorePlace
    engine: Engine
    patience: float
    """Seconds that a writer waits for its turn."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that reads one snapshot of the history."""
        options = (
            {} if self.place.kind == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        )
        with (
            spoken(self.place, writing=False),
            self.engine.connect().execution_options(**options) as connection,
        ):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are one transaction."""
        with (
            spoken(self.place, writing=True),
            _turn(self.place.path, self.patience),
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection


@contextmanager
def _turn(path: Path | None, patience: float) -> Iterator[None]:
    """Let one thread at a time write to a file; after ``patience`` seconds SQLite decides."""
    lock = None if path is None else _WRITERS[path.resolve()]
    mine = lock is not None and lock.acquire(timeout=patience)
    try:
        yield
    finally:
        if lock is not None and mine:
            lock.release()


@contextmanager
def spoken(place: StorePlace, *, writing: bool) -> Iterator[None]:
    """Turn database errors into our own messages, without any password."""
    try:
        yield
    except CalipersError:
        raise
    except SQLAlchemyError as error:
        reason = _reason(place, error)
        if not writing:
            raise StoreUnreadable(
                f"The history {place.shown} cannot be read: {reason}."
            ) from None
        if isinstance(error, DataError | IntegrityError):
            # The value itself is invalid, so a retry would not help.
            raise InvalidInput(
                f"The history {place.shown} refused it: {reason}."
            ) from None
        raise StoreUnwritable(
            f"The history {place.shown} cannot be written: {reason}. Nothing was changed "
            "there."
        ) from None
    except UnicodeDecodeError as error:
        # A damaged text in the file; the driver passes on the decoding error.
        raise StoreUnreadable(
            f"The history {place.shown} is damaged: a text in it is not valid "
            f"({error.reason}); put back a copy of it."
        ) from None


def _reason(place: StorePlace, error: SQLAlchemyError) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else None
    code = getattr(cause, "sqlstate", None)
    # The low byte is the kind of error; the rest says where it happened.
    known = SQLITE.get((getattr(cause, "sqlite_errorcode", 0) or 0) & 0xFF)
    if known or code == LOCK_TIMEOUT:
        return known or LOCKED
    lines = place.redact(str(cause if cause is not None else error)).strip().splitlines()
    message = lines[0].strip().rstrip(".") if lines else "the database gives no reason"
    if cause is None or code or isinstance(cause, sqlite3.Error):
        return message
    return f"the server cannot be reached ({message}); check the address and that it runs"


def open_store(
    address: str | os.PathLike[str] | None = None,
    *,
    create: bool = False,
    keep: bool = False,
    patience: float | None = None,
) -> Store:
    """Open the named or located history; with ``create`` also a new one.

    ``keep`` is for frequent callers: connections to a server stay open, because opening
    one takes longer than saving a label. A process that forks must not keep any. A
    damaged file is refused.
    """
    place = locate(address, create=create)
    if place.path is not None:
        _check_file(place, place.path, create=create)
    patience = PATIENCE_SECONDS if patience is None else patience
    engine = _sqlite(place.path, patience) if place.path else _postgresql(place, keep)
    store = Store(place, engine, patience)
    # Kept connections are closed when the store is garbage-collected.
    weakref.finalize(store, store.engine.dispose)
    with store.reading() as connection:
        version = _version(connection, place)
    if version is None and not create:
        raise StoreUnreadable(
            f"The history {place.shown} is empty: no evaluation was ever saved there. "
            "Save one with `calipers eval … --save NAME`."
        )
    if version != HEAD:
        migrate(store)
    if not (create or keep):
        _refuse_damage(store)
    return store


def _refuse_damage(store: Store) -> None:
    """Refuse a damaged file: a misplaced page hides rows, which no row checksum detects."""
    path = store.place.path
    if path is None or path.stat().st_size > LARGE:
        return
    with store.reading() as connection:
        verdict = connection.execute(text("PRAGMA integrity_check(1)")).scalar()
    if verdict != "ok":
        raise StoreUnreadable(
            f"The history {store.place.shown} is damaged: "
            f"{' '.join(str(verdict).split()):.120}; put back a copy of it."
        )


def migrate(store: Store) -> None:
    """Create or update the tables, in one transaction and one process at a time."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    with store.writing() as connection:
        if store.place.kind == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        config.attributes["connection"] = connection
        version = _version(connection, store.place)
        if version is None:
            METADATA.create_all(connection)
            command.stamp(config, HEAD)
        elif version != HEAD:
            command.upgrade(config, HEAD)


def _version(connection: Connection, place: StorePlace) -> str | None:
    """The version of the tables, or None if there are none; refuse foreign tables."""
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if place.kind == "sqlite" and tables:
            raise StoreUnreadable(
                f"{place.shown} is no history of Calipers but an SQLite database of "
                f"something else: it holds {', '.join(sorted(tables)[:3])}; name another "
                "file."
            )
        return None
    asking = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a constant
    version = connection.execute(asking).scalar()
    if version is None or version in VERSIONS:
        return version
    raise InvalidInput(
        f"The history {place.shown} was written by a newer version of Calipers, or is "
        f"damaged: its tables have version {version!s:.40}, and this Calipers knows "
        f"versions up to {HEAD}. Install the newer one."
    )


def _check_file(place: StorePlace, path: Path, *, create: bool) -> None:
    """Refuse what is not a file; create a new one, so that a file moved away later is noticed."""
    kind: int | None = None
    try:
        # Asked once: another process may make the file between two questions.
        with suppress(FileNotFoundError, NotADirectoryError):
            kind = path.stat().st_mode
        if kind is not None and S_ISREG(kind):
            return
        if kind is not None or place.shown == "-":
            # SQLite would leave a journal next to a device, and could use neither.
            raise InvalidInput(
                f"The history {place.shown} is a folder or a device; name a file."
            )
        if not create:
            raise StoreUnreadable(
                f"There is no history {place.shown}; check the path, or save an "
                "evaluation there with `calipers eval … --save NAME --store PATH`."
            )
        if path.parent.name == FOLDER:
            path.parent.mkdir(exist_ok=True)
            ignore = path.parent / ".gitignore"
            if not ignore.exists():
                # Keep it out of git: it is binary and changes with every evaluation.
                ignore.write_text("*\n", encoding="utf-8")
        # Questions and texts may be confidential. One that exists keeps its rights.
        path.touch(mode=0o600)
    except OSError as error:
        problem = WriteFailed if create else StoreUnreadable
        raise problem(
            f"The history {place.shown} cannot be {'made' if create else 'read'}: "
            f"{error.strerror}; create the folder or change its permissions, or name "
            "another place with --store."
        ) from error


def _sqlite(path: Path, patience: float) -> Engine:
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(
            f"{path.as_uri()}?mode=rw", uri=True, timeout=patience
        ),
        poolclass=NullPool,
    )
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _: object) -> None:
    # Python's driver would begin transactions late and commit before changing tables. Let
    # SQLAlchemy decide, so that a migration is one transaction too.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")


def _on_begin(connection: Connection) -> None:
    # A writer locks at once: two that read first and write later would deadlock.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql(place: StorePlace, keep: bool) -> Engine:
    try:
        import psycopg  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtra(
            "A history in PostgreSQL needs the library psycopg: "
            f"{pip_install('postgres')}"
        ) from None
    pooled: dict[str, object] = {"poolclass": NullPool}
    if keep:
        # Checked before use: a restarted server has closed them.
        pooled = {
            "poolclass": QueuePool,
            "pool_pre_ping": True,
            "pool_timeout": PATIENCE_SECONDS,
            "max_overflow": MOST_CONNECTIONS,
        }
    engine = create_engine(place.address, connect_args={"connect_timeout": 10}, **pooled)
    event.listen(engine, "begin", _on_begin_postgresql)
    return engine


def _on_begin_postgresql(connection: Connection) -> None:
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(PATIENCE_SECONDS * 1000)}")
