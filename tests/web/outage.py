"""A store that is taken away and put back while a server uses it."""

import contextlib
import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class MovedFile:
    """An SQLite file that is moved away, locked or made unreadable, each in its turn."""

    def __init__(self, path: str) -> None:
        self.store = path
        # A file that the server has open cannot be moved on Windows.
        moves = [] if hasattr(os, "O_BINARY") else [self._moved, self._damaged]
        self._ways: list[Any] = [self._locked, *moves]
        self._turn = 0

    @contextmanager
    def away(self) -> Iterator[str]:
        way = self._ways[self._turn % len(self._ways)]
        self._turn += 1
        with way():
            yield way.__name__

    def close(self) -> None:
        """Nothing stays open."""

    @contextmanager
    def _quiet(self) -> Iterator[sqlite3.Connection]:
        # Nobody is in the middle of writing: a file that is moved then takes no label with it.
        connection = sqlite3.connect(self.store, timeout=30, isolation_level=None)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _moved(self) -> Iterator[None]:
        path = Path(self.store)
        with self._quiet():
            path.rename(path.with_suffix(".away"))
        try:
            yield
        finally:
            assert not path.exists(), "the server made a new file in place of the one that is away"
            path.with_suffix(".away").rename(path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._quiet():
            yield

    @contextmanager
    def _damaged(self) -> Iterator[None]:
        """Something else stands where the file was, as while a copy is put back."""
        path = Path(self.store)
        with self._moved():
            path.write_bytes(b"not a database, but long enough to be looked at")
            try:
                yield
            finally:
                path.unlink()


class Relay:
    """A PostgreSQL server behind a port of ours, which can be shut: refused, or broken off."""

    def __init__(self, address: str) -> None:
        self._target = urlsplit(address).port
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.store = address.replace(f":{self._target}/", f":{self.port}/")
        self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._open |= {client, server}
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _shut(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
            self._open.clear()

    @contextmanager
    def away(self) -> Iterator[str]:
        self._shut()
        try:
            yield "refused"
        finally:
            self._listening = socket.create_server(("127.0.0.1", self.port))
            self._serve()

    def close(self) -> None:
        self._shut()
