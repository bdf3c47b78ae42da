"""Opening a history: connecting, recognising it, bringing its tables up to date."""

import os
import sqlite3
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from calipers.errors import CalipersError, InvalidInput, MissingExtra, WriteFailed
from calipers.store.errors import StoreUnreadable, read_complaint, write_complaint
from calipers.store.place import FOLDER, StorePlace, locate
from calipers.store.schema import HEAD, VERSION_TABLE, VERSIONS
from calipers.version import pip_install

_BY_FILE: "WeakValueDictionary[Path, Turns]" = WeakValueDictionary()
_ONE_AT_A_TIME = threading.Lock()
PATIENCE_SECONDS = 30.0
"""How long to wait while somebody else writes."""
APPLICATION_ID = 0x43414C50
"""Written into the head of an SQLite file ("CALP"), so that tools can tell what it is."""
LARGE = 64 << 20
"""A file up to here is looked through before it is read: a quarter of a second."""
MOST_CONNECTIONS = 20
"""To a server, beside the five that stay open."""
_LOCK = 0x43414C50
"""The number under which PostgreSQL lets one process at a time change the tables."""


class Turns:
    """A queue of those who write, the threads of one process; the first in it has the turn.

    SQLite has no queue. Who finds the file locked asks again, later each time, while newcomers
    ask at once: of twenty who write all the time one may wait until its patience is over.
    Whoever waited longer than the patience goes ahead without a turn: then the lock of the file
    decides, and says so if somebody holds it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()

    @contextmanager
    def mine(self, patience: float) -> Iterator[None]:
        """Wait for a turn, so many seconds at most, and hand it on at the end of the block."""
        came = threading.Event()
        with self._lock:
            self._queue.append(came)
            self._queue[0].set()
        try:
            came.wait(patience)
            yield
        finally:
            with self._lock:
                self._queue.remove(came)
                if self._queue:
                    self._queue[0].set()


def turns_of(path: Path) -> Turns:
    """The turns of a file: the same for everybody in this process who writes to it."""
    with _ONE_AT_A_TIME:
        key = path.resolve()
        found = _BY_FILE.get(key)
        if found is None:
            found = _BY_FILE[key] = Turns()
        return found


@dataclass(frozen=True)
class Store:
    """A history whose tables are up to date; nothing stays connected unless it is kept."""

    place: StorePlace
    engine: Engine
    turns: Turns | None = None
    """Who may write next; PostgreSQL knows by itself."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the history from beginning to end."""
        options = {} if self.place.kind == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        with (
            spoken(self.place, writing=False),
            self.engine.connect().execution_options(**options) as connection,
        ):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes become visible all at once, or not at all."""
        with spoken(self.place, writing=True), self._transaction() as connection:
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with (
            nullcontext() if self.turns is None else self.turns.mine(PATIENCE_SECONDS),
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def outside(self, statement: str) -> None:
        """Run a statement that no transaction may hold, such as VACUUM."""
        with (
            spoken(self.place, writing=True),
            self.engine.connect().execution_options(
                isolation_level="AUTOCOMMIT", outside=True
            ) as connection,
        ):
            connection.execute(text(statement))


def open_store(
    given: str | os.PathLike[str] | None = None,
    *,
    create: bool = False,
    keep: bool = False,
    damaged: bool = False,
) -> Store:
    """The history that is named or found, ready to use; with ``create`` also a new one.

    ``keep`` is for those who come back all the time: connections to a server stay open, as making
    one takes longer than a label. A process that forks must not keep any. ``damaged`` is for those
    who ask what is wrong with it; to others a file whose pages do not fit together is refused.
    """
    store = open_place(locate(given, create=create), create=create, keep=keep)
    if not (create or keep or damaged):
        _refuse_damage(store)
    return store


def _refuse_damage(store: Store) -> None:
    """Rows have checksums; a page in another's place makes rows vanish, and no checksum speaks."""
    path = store.place.path
    if path is None or path.stat().st_size > LARGE:
        return
    with store.reading() as connection:
        found = connection.execute(text("PRAGMA integrity_check(1)")).scalar()
    if found != "ok":
        raise StoreUnreadable(
            f"The history {store.place.shown} is damaged: {' '.join(str(found).split()):.120}; put "
            "back a copy of it, and see with `calipers history check` what is left."
        )


def open_place(place: StorePlace, *, create: bool = False, keep: bool = False) -> Store:
    """The history at a place, its tables brought up to date."""
    if place.path is not None:
        _check_file(place, place.path, create=create)
    turns = None if place.path is None else turns_of(place.path)
    store = Store(place, _engine(place, create=create, keep=keep), turns)
    # What was kept open is closed with the last who has the store.
    weakref.finalize(store, store.engine.dispose)
    with store.reading() as connection:
        version = _version(connection, place)
    if version is None and not create:
        raise StoreUnreadable(
            f"The history {place.shown} is empty: no evaluation was ever saved there. Save one "
            "with `calipers eval … --save NAME`."
        )
    if version != HEAD:
        migrate(store)
    # A file that is moved away later is missed, and not made anew without anything in it.
    return open_place(place, keep=keep) if create and place.path is not None else store


def migrate(store: Store, to: str = HEAD) -> None:
    """Bring the tables to a version, in one transaction that one process at a time may hold."""
    import warnings

    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    with store.writing() as connection:
        if store.place.kind == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        if _version(connection, store.place) == to:
            return
        config.attributes["connection"] = connection
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            command.upgrade(config, to)
        if store.place.kind == "sqlite":
            connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID}"))


def _version(connection: Connection, place: StorePlace) -> str | None:
    """The version of the tables; None where there are none; foreign ones are refused."""
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if place.kind == "sqlite" and tables:
            raise StoreUnreadable(
                f"{place.shown} is no history of Calipers but an SQLite database of something "
                f"else: it holds {', '.join(sorted(tables)[:3])}; name another file."
            )
        return None
    row = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).first()  # noqa: S608 - a constant
    version = None if row is None else str(row[0])
    if version is not None and not (version.isdigit() and len(version) == len(HEAD)):
        raise StoreUnreadable(
            f"The history {place.shown} is damaged: its tables have the version {version!r:.40}; "
            "put back a copy of it."
        )
    if version is not None and version not in VERSIONS:
        raise InvalidInput(
            f"The history {place.shown} was written by a newer version of Calipers: its tables "
            f"have version {version}, and this Calipers knows versions up to {HEAD}. Install the "
            "newer one."
        )
    return version


def _check_file(place: StorePlace, path: Path, *, create: bool) -> None:
    if path.is_dir():
        raise InvalidInput(f"The history {place.shown} is a folder; name a file in it.")
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except FileNotFoundError:
        if not create:
            raise StoreUnreadable(
                f"There is no history {place.shown}; check the path, or save an evaluation there "
                "with `calipers eval … --save NAME --store PATH`."
            ) from None
        _make_folder(place, path.parent)
        return
    except OSError as error:
        raise StoreUnreadable(
            f"The history {place.shown} cannot be read: {error.strerror}; check its permissions."
        ) from error
    if head and head != b"SQLite format 3\x00":
        raise StoreUnreadable(
            f"{place.shown} is no history of Calipers: it is not an SQLite database; name another "
            "file."
        )


def _make_folder(place: StorePlace, folder: Path) -> None:
    if folder.name != FOLDER:
        if not folder.is_dir():
            raise WriteFailed(
                f"The history {place.shown} cannot be made: there is no folder {folder}; create "
                "the folder, or name another place with --store."
            )
        return
    try:
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            # The history changes with every evaluation and is binary: nothing for git.
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise WriteFailed(
            f"The history {place.shown} cannot be made: {error.strerror}; change the "
            "permissions, or name another place with --store."
        ) from error


def _engine(place: StorePlace, *, create: bool, keep: bool = False) -> Engine:
    if place.kind == "postgresql":
        return _postgresql(place, keep)
    path = place.path
    if path is None:
        raise InvalidInput("A history in SQLite needs a file.")
    address = f"{path.as_uri()}?mode={'rwc' if create else 'rw'}"
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True, timeout=PATIENCE_SECONDS),
        poolclass=NullPool,
    )
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _: object) -> None:
    # Python's driver would begin transactions late and commit before changing tables; here
    # SQLAlchemy says when, so that a migration too is one transaction.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")


def _on_begin(connection: Connection) -> None:
    # A writer takes its lock at once: two that both read first and write later would deadlock.
    options = connection.get_execution_options()
    if not options.get("outside"):
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes") else "BEGIN")


def _postgresql(place: StorePlace, keep: bool) -> Engine:
    try:
        import psycopg  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtra(
            f"A history in PostgreSQL needs the library psycopg: {pip_install('postgres')}"
        ) from None
    pooled: dict[str, Any] = {"poolclass": NullPool}
    if keep:
        # Asked whether they are alive before use: a server that was started again closed them.
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
    if not connection.get_execution_options().get("outside"):
        milliseconds = int(PATIENCE_SECONDS * 1000)
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")


@contextmanager
def spoken(place: StorePlace, *, writing: bool) -> Iterator[None]:
    """Errors of the database as sentences of ours, without any password."""
    try:
        yield
    except CalipersError:
        raise
    except SQLAlchemyError as error:
        complaint = write_complaint if writing else read_complaint
        raise complaint(place, error) from None
    except UnicodeDecodeError as error:
        # A text in the file that nobody wrote; the driver hands it on undecoded.
        raise StoreUnreadable(
            f"The history {place.shown} is damaged: a text in it is not valid ({error.reason}); "
            "put back a copy of it."
        ) from None
