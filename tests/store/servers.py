"""A real PostgreSQL server for the tests: its own data folder, loopback only, gone afterwards."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "p@ss/wörd:1"
MISSING = "PostgreSQL is not installed (on Debian: apt-get install postgresql)"


@dataclass(frozen=True)
class Server:
    port: int

    def address(self, database: str = "postgres", password: str = PASSWORD) -> str:
        from urllib.parse import quote

        secret = quote(password, safe="")
        return f"postgresql://calipers:{secret}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The address of a database that nobody else uses."""
        import psycopg

        name = f"test_{time.monotonic_ns()}"
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.address(name)


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest where there are several."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def _version(path: Path) -> float:
    return float(path.parts[-3])


@contextmanager
def postgresql() -> Iterator[Server]:
    """A server that lives as long as the block."""
    folder = programs()
    if folder is None:
        pytest.skip(MISSING)
    home = Path(tempfile.mkdtemp(prefix="calipers-postgresql-"))
    # The server refuses to run as root; Debian's package brings a user for it.
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(home, user)
    secret = home / "password"
    secret.write_text(PASSWORD, encoding="utf-8")
    if user is not None:
        shutil.chown(secret, user)
    data, port = home / "data", _free_port()
    made = ["-U", "calipers", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
    subprocess.run(
        [folder / "initdb", "-D", data, *made, f"--pwfile={secret}"],
        check=True,
        capture_output=True,
        user=user,
        cwd=home,
    )
    log = (home / "log").open("wb")
    started = f"-p {port} -h 127.0.0.1 -c unix_socket_directories= -c fsync=off".split()
    process = subprocess.Popen(
        [folder / "postgres", "-D", data, *started], stdout=log, stderr=log, user=user, cwd=home
    )
    try:
        server = Server(port)
        _wait(server, process)
        yield server
    finally:
        # At once: nobody needs what is in it, and other signals wait for those who are connected.
        process.send_signal(signal.SIGQUIT)
        process.wait(30)
        log.close()
        shutil.rmtree(home, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    for _ in range(300):
        try:
            psycopg.connect(server.address(), connect_timeout=2).close()
        except psycopg.OperationalError:
            assert process.poll() is None, "the server ended by itself"
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server did not start within 30 seconds")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgresql() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path) -> str:
    """Where a new history may be made, on each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    running: Server = request.getfixturevalue("server")
    return running.new_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def quick_place(request) -> Iterator[str]:
    """The same for thousands of writes: in memory where there is a folder for that.

    What is asked here is who may write when, and not how long a disk takes to be sure.
    """
    if request.param == "postgresql":
        yield request.getfixturevalue("server").new_database()
        return
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield str(Path(folder) / "history.db")
