"""Cases carried out: many in one process, which is forked anew for every batch."""

import io
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from fuzz.case import Case, Finding

SECONDS = 10.0
"""Longer is a hang; what a case waits for a processor that others use is not counted."""
PATIENCE = 6
"""A process that no signal ends is given up after so many times as long."""
MOST_BYTES = 1 << 30
"""More is too much for an input of a megabyte at most."""
MOST_DATA = 4 << 30
"""What a process may take at all: the machine stays usable whatever a case does."""
MAY_FAIL = ("gate", "history", "audit", "convert")
"""Commands whose exit code 1 means that something was checked and did not hold."""
READER_LEFT = 141
STOPPED = 130
"""Where a question is asked and nobody answers."""
PIPE = "pipe.jsonl"
"""A file of this name is a pipe."""
_FRAME = re.compile(r'File ".*?/(calipers/[^"]+)", line (\d+), in (\S+)')


class Clock:
    """The seconds that a case works or sleeps, however many others share the processors."""

    def __init__(self) -> None:
        self._began, self._before = time.monotonic(), _delays()

    def seconds(self) -> float:
        """The time since the beginning; of a long one, without what was spent in the queue."""
        passed = time.monotonic() - self._began
        if passed < SECONDS:
            return passed
        now = _delays()
        # The process waits for the slowest of its threads.
        queued = max((now[one] - self._before.get(one, 0) for one in now), default=0)
        return passed - queued / 1e9

    def check(self, *_: Any) -> None:
        """Called by the alarm: end what hangs, and look again later at what was kept waiting."""
        if self.seconds() >= SECONDS:
            raise Hang
        signal.setitimer(signal.ITIMER_REAL, max(0.05, SECONDS - self.seconds()))


def _delays() -> dict[str, int]:
    """How long each thread stood ready while others ran, in nanoseconds; Linux counts it."""
    found = {}
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, ValueError, IndexError):  # a thread may end meanwhile
            found[path.parent.name] = int(path.read_text().split()[1])
    return found


class Hang(BaseException):
    """A case took too long."""


def carry_out(cases: Sequence[Case]) -> Iterator[Finding | None]:
    """What each case came to, in order; a process that dies or hangs is a finding too."""
    done = 0
    while done < len(cases):
        for finding in _batch(cases[done:]):
            done += 1
            yield finding


def _batch(cases: Sequence[Case]) -> Iterator[Finding | None]:
    reading, writing = os.pipe()
    home = Path(tempfile.mkdtemp(prefix="calipers-fuzz-"))
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(cases, writing, home)
    os.close(writing)
    answered, left = 0, b""
    try:
        while answered < len(cases):
            busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
            ready, _, _ = select.select([reading], [], [], PATIENCE * SECONDS * busy)
            piece = os.read(reading, 1 << 16) if ready else b""
            if not piece:
                what = "the process ended" if ready else "a hang that no signal ends"
                yield Finding(what, cases[answered])
                return
            *lines, left = (left + piece).split(b"\n")
            for line in lines:
                found = json.loads(line)
                case = cases[answered]
                answered += 1
                yield Finding(found["what"], case, found["details"]) if found else None
                if found:
                    # Whatever a finding left behind in the process ends with it.
                    return
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        shutil.rmtree(home, ignore_errors=True)


def _child(cases: Sequence[Case], writing: int, home: Path) -> None:
    # Not the addresses it may reserve: threads and memory pools reserve far more than they use.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["CALIPERS_TRACEBACK"] = "1"
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.environ["HOME"] = str(home)
    try:
        for case in cases:
            try:
                found = judged(case, home / "case")
            except BaseException:  # noqa: BLE001 - a fault of the campaign is not to be overlooked
                found = {"what": "a fault of the campaign", "details": traceback.format_exc()}
            os.write(writing, json.dumps(found).encode() + b"\n")
    finally:
        os._exit(0)


def judged(case: Case, folder: Path) -> dict[str, str] | None:
    """What is wrong with the way a case ended; None where nothing is."""
    _lay_out(case, folder)
    before, devices = set(_paths(folder)), set(map(str, Path("/dev").iterdir()))
    began = _forget_peak()
    clock = Clock()
    signal.signal(signal.SIGALRM, clock.check)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        found, refused = _called(case) if case.call else _run(case)
    except Hang:
        # The table library turns what a signal raises into an error of its own at times.
        found, refused = ("a hang", "".join(traceback.format_stack()[-3:])), False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if clock.seconds() >= SECONDS and case.kind != "shadow":
        found = ("a hang", found[1] if found else "")
    used = _peak() - began
    if found is None and used > MOST_BYTES:
        found = ("too much memory", f"{used >> 20} MB")
    left = sorted(set(_paths(folder)) - before - KEPT)
    if found is None and (odd := [one for one in left if one.startswith("-")]):
        found = ("a file called -", ", ".join(odd))
    if found is None and (there := set(map(str, Path("/dev").iterdir())) ^ devices):
        found = ("changed what is in /dev", ", ".join(there))
    if found is None and refused and left:
        found = (
            f"left behind by {(case.command or (case.call.partition('(')[0],))[0]}",
            ", ".join(left),
        )
    return None if found is None else {"what": found[0], "details": found[1]}


KEPT = {".calipers", ".calipers/answers", ".calipers/answers/answers.sqlite"}
"""What a model answered stays whatever comes after: it was paid for."""


def _lay_out(case: Case, folder: Path) -> None:
    _empty(folder)
    for name, content in case.files:
        if name == PIPE:
            os.mkfifo(name)
            threading.Thread(target=_feed, args=(content,), daemon=True).start()
        else:
            Path(name).write_bytes(content)


def _feed(content: bytes) -> None:
    """Write into the pipe once somebody reads it, or for a while nobody does."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with suppress(OSError):  # nobody reads yet, or the reader left
            writing = os.open(PIPE, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(writing, True)
            with io.FileIO(writing, "wb") as file:
                file.write(content)
            return
        time.sleep(0.002)


def _empty(folder: Path) -> None:
    """An empty folder to work in: the same one, as to enter a new one takes longer than a case."""
    try:
        left = list(os.scandir("."))
        entered = folder.samefile(".")
    except OSError:
        entered = False
    if not entered:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.chdir(folder)
        return
    for one in left:
        if one.is_dir(follow_symlinks=False):
            shutil.rmtree(one.path, ignore_errors=True)
        else:
            Path(one.path).unlink()


def _paths(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if "__pycache__" not in path.parts:
            yield str(path.relative_to(folder))


def _forget_peak() -> int:
    """What is in use now; the highest use is counted from here."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """The highest use of memory since it was last forgotten, in bytes."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _called(case: Case) -> tuple[tuple[str, str] | None, bool]:
    import calipers
    from calipers.errors import CalipersError

    try:
        eval(case.call, {"calipers": calipers})  # noqa: S307 - our own expression
    except CalipersError:
        return None, True
    except Hang:
        raise
    except BaseException as error:  # noqa: BLE001 - also a panic of the table library
        return (_place(error), "".join(traceback.format_exception(error)[-6:])), True
    return None, False


def _place(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "calipers" in f.filename]
    last = frames[-1] if frames else None
    where = f" in {Path(last.filename).stem}.{last.name}" if last else ""
    return f"{type(error).__name__}{where}"


def _served() -> int:
    """The port of a server that says what stands in answer.http, whatever it is asked."""
    global _PORT
    if _PORT is None:
        listening = socket.create_server(("127.0.0.1", 0))
        _PORT = int(listening.getsockname()[1])
        threading.Thread(target=_serve, args=(listening,), daemon=True).start()
    return _PORT


_PORT: int | None = None


def _serve(listening: socket.socket) -> None:
    while True:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.settimeout(2)
            connection.recv(65_536)
            connection.sendall(Path("answer.http").read_bytes())


PAGES = ("cp437", "cp1252", "ascii", "cp932")
STREAMS = {
    "full": ("full", ""),
    "closed": ("closed", ""),
    "none": ("none", ""),
    "full stderr": ("", "full"),
    "closed stderr": ("", "closed"),
    "no stderr": ("", "none"),
    **{page: (page, page) for page in PAGES},
}
"""What is wrong with standard output and standard error, by the kind of a case."""


def _stream(fault: str) -> io.TextIOWrapper | None:
    """A stream: kept (in an encoding), on a full disk, read by nobody, or not there."""
    if fault == "none":
        return None
    if fault == "full":
        return io.TextIOWrapper(io.FileIO("/dev/full", "w"), encoding="utf-8")
    if fault == "closed":
        reading, writing = os.pipe()
        os.close(reading)
        return io.TextIOWrapper(io.FileIO(writing, "w"), encoding="utf-8")
    return io.TextIOWrapper(io.BytesIO(), encoding=fault or "utf-8")


def printed(command: Sequence[str], kind: str = "") -> tuple[int, str, str]:
    """Run a command line here: its exit code, and what it printed to both streams."""
    from calipers.cli import forgiving, main

    if any("PORT" in word for word in command):
        command = [word.replace("PORT", str(_served())) for word in command]
    out, err = (_stream(fault) for fault in STREAMS.get(kind, ("", "")))
    code: Any = 0
    with (
        mock.patch.object(sys, "argv", ["calipers", *command]),
        redirect_stdout(out),
        redirect_stderr(forgiving(err) if err and kind.endswith("stderr") else err),
    ):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code
    return code or 0, _text(out), _text(err)


def _streamed(case: Case) -> tuple[tuple[str, str] | None, bool]:
    """The exit code is that of the same command whose streams are whole, or says what is wrong."""
    usual, out, err = printed(case.command)
    _lay_out(case, Path.cwd())
    code, shown, said = printed(case.command, case.kind)
    signs = (shown + said).count("?") > (out + err).count("?")
    if case.kind in PAGES and signs:
        return ("a sign that the encoding lacks is printed as ?", shown + said), False
    failing = {"full": 2, "closed": READER_LEFT, "none": 2}.get(case.kind, usual)
    if code not in (usual, failing):
        return (f"exit code {code} of a command that gives {usual}", said[-1500:]), True
    return None, code == usual == 2 and case.command[0] != "retrieve"


def _run(case: Case) -> tuple[tuple[str, str] | None, bool]:
    if case.kind in STREAMS:
        return _streamed(case)
    if case.kind == "dash" and case.command[:1] == ("convert",) and (found := _dash(case)):
        return found, False
    code, out, said = _shadowed(case) if case.kind == "shadow" else printed(case.command)
    if code in (0, STOPPED):
        return None, False
    if code == 2 and "Traceback" not in said:
        empty = not said.strip() and not out.strip()
        # What was finished of a run is kept by intent, so that the same command can go on.
        goes_on = "goes on" in said or case.command[:1] == ("grid",)
        return (("exit code 2 without a sentence", "") if empty else None), not goes_on
    if code == 1 and case.command and case.command[0] in MAY_FAIL:
        return None, False
    frames = _FRAME.findall(said)
    where = f" in {Path(frames[-1][0]).stem}.{frames[-1][2]}" if frames else ""
    kind = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception|Exit|Interrupt))\b", said, re.MULTILINE)
    return (f"{kind[-1] if kind else f'exit code {code}'}{where}", said[-1500:]), True


def _text(stream: io.TextIOWrapper | None) -> str:
    if stream is None:
        return ""
    with suppress(OSError, ValueError):
        stream.flush()
    buffer = stream.buffer
    if not isinstance(buffer, io.BytesIO):
        return ""
    return buffer.getvalue().decode(stream.encoding, errors="replace")


def _dash(case: Case) -> tuple[str, str] | None:
    """What convert writes to standard output is what it writes to a file."""
    code, out, _ = printed(case.command)
    form = case.command[-1]
    name = f"dash.{DASHES.get(form, form)}"
    other, _, said = printed([name if word == "-" else word for word in case.command])
    if code or other:
        return None
    same = Path(name).read_bytes().decode(errors="replace") == out
    return None if same else (f"another {form} on standard output than in a file", said)


DASHES = {"ours": "jsonl"}


def _shadowed(case: Case) -> tuple[int, str, str]:
    """Run a command in a process of its own, which has loaded nothing yet."""
    signal.setitimer(signal.ITIMER_REAL, 0)  # how long others kept it waiting is not known
    start = "from calipers.cli import main; main()"
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-P", "-c", start, *case.command],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE * SECONDS * 2,
    )
    return done.returncode, done.stdout, done.stderr
