"""Run tests again and again, each time in a fork of a process that has loaded the libraries.

Starting Python, pytest, numpy and polars takes longer than most tests do. This process loads them
once, and never `calipers` itself: each fork imports the package anew from the folder that stands
first in PYTHONPATH, with the mutation that was written there. It answers one line of JSON with
another: an exit code of pytest, and, where lines are to be traced, which test executed which.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeAlias

LOADED = ("hypothesis", "hypothesis.extra.numpy", "numpy", "polars", "msgspec", "click", "anyio")
"""What the tests import anyway. None of them starts a thread when it is imported: a fork of a
process with threads may wait for ever."""
TIME_IS_UP = -1
"""The exit code of a run that was ended."""
EVERY = "*"
"""Stands for every test: lines that were executed while tests were collected."""

Lines: TypeAlias = dict[str, dict[str, list[int]]]
"""The lines of each file that each test executed."""


class Test(Protocol):
    """What is used of an item of pytest."""

    nodeid: str


@dataclass
class Tracer:
    """A plugin of pytest that notes which lines of a folder each test executes."""

    folder: str
    test: str = EVERY
    lines: dict[str, dict[str, set[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    seconds: dict[str, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Trace from now on, in threads too."""
        threading.settrace(self._call)
        sys.settrace(self._call)

    def pytest_runtest_setup(self, item: Test) -> None:
        """A fixture may serve every test of its file: what it executes counts for all of them."""
        self.test = item.nodeid.split("::")[0]
        sys.settrace(self._call)

    def pytest_runtest_call(self, item: Test) -> None:
        """What follows is executed by one test."""
        self.test = item.nodeid
        self.seconds[item.nodeid] = time.monotonic()

    def pytest_runtest_teardown(self, item: Test) -> None:
        """The test is over: its seconds order the runs with mutations."""
        if begun := self.seconds.get(item.nodeid):
            self.seconds[item.nodeid] = time.monotonic() - begun

    def _call(self, frame: FrameType, _event: str, _: object) -> Callable[..., Any] | None:
        """Whether the lines of a function that was called are of interest."""
        return self._line if frame.f_code.co_filename.startswith(self.folder) else None

    def _line(self, frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        """Note one line that is executed."""
        if event == "line":
            self.lines[self.test][frame.f_code.co_filename].add(frame.f_lineno)
        return self._line

    def answer(self) -> dict[str, object]:
        """What was noted, as JSON."""
        lines: Lines = {}
        for test, files in self.lines.items():
            lines[test] = {file: sorted(numbers) for file, numbers in files.items()}
        return {"lines": lines, "seconds": self.seconds}


@dataclass(frozen=True)
class Chosen:
    """A plugin of pytest that runs the tests that are named, in this order."""

    names: list[str]

    def pytest_configure(self) -> None:
        """The first example that fails is enough: finding the smallest one takes minutes."""
        with contextlib.suppress(ImportError):
            from hypothesis import Phase, settings

            phases = (Phase.explicit, Phase.generate)
            settings.register_profile("faults", settings.default, phases=phases, database=None)
            settings.load_profile("faults")

    def pytest_collection_modifyitems(self, items: list[Test]) -> None:
        """Leave out what is not named: ids may hold any character, so no argument names them."""
        if self.names:
            places = {name: place for place, name in enumerate(self.names)}
            items[:] = [item for item in items if item.nodeid in places]
            items.sort(key=lambda item: places[item.nodeid])


@dataclass(frozen=True)
class Run:
    """One run of tests, as one line of JSON says it."""

    files: list[str]
    tests: list[str]
    """Ids of the tests that are run, in this order; none stands for all."""
    seconds: float
    trace: str | None = None
    """The folder whose lines are traced."""
    notes: str | None = None
    """The file that they are written to."""


def perform(run: Run) -> int:
    """The exit code of pytest, in a process that ends with it."""
    import pytest

    plugins: list[object] = [Chosen(run.tests)]
    tracer = Tracer(run.trace) if run.trace else None
    if tracer:
        plugins.append(tracer)
        tracer.begin()
    options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
    # Libraries that are loaded already cannot be rewritten; an assertion fails without it too.
    options.append("--assert=plain")
    code = pytest.main(
        [*options, "-o", f"pythonpath={os.environ['PYTHONPATH']} .", *run.files], plugins
    )
    sys.settrace(None)
    if tracer and run.notes:
        Path(run.notes).write_text(json.dumps(tracer.answer()), encoding="utf-8")
    return int(code)


def fork(run: Run) -> int:
    """The exit code of a run in a fork, which is ended with all it started when time is up."""
    child = os.fork()
    if not child:
        code = TIME_IS_UP
        try:
            os.setsid()
            with _silenced():
                code = perform(run)
        finally:
            os._exit(code & 0xFF)
    until = time.monotonic() + run.seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return TIME_IS_UP


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Tests print nothing: the lines of this process are its answers."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    yield


def main() -> None:
    """Answer each line with the exit code of a run, until there are no more."""
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        print(fork(Run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
