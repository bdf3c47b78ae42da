"""Progress shows on a terminal, after some patience, and nowhere else."""

import io
import sys
import time
from collections import Counter

import pytest

from calipers.cli import output as progress
from calipers.live.run_file import AnswerCounts


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_where_nobody_looks() -> None:
    with progress.progress() as told:
        assert told == {}


COUNTS = AnswerCounts(1, "a[/x]", answered=1, errors=Counter(timeout=2))


@pytest.mark.parametrize("patience", [-1.0, 60.0])
@pytest.mark.parametrize(
    ("name", "done", "words"),
    [("progress", 10, ["reading"]), ("watch", COUNTS, ["asking a[/x]", "2 failed"])],
)
def test_a_bar_after_some_patience(monkeypatch, patience, name, done, words) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", patience)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress() as told:
        told[name](done, 100)
    for one in words:
        assert (one in terminal.getvalue()) is (patience < 0)


def test_what_cannot_say_how_far_it_is_shows_that_it_goes_on(monkeypatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress():
        time.sleep(0.3)
    assert "working" in terminal.getvalue()


def test_a_report_that_takes_long_shows_that_it_goes_on(monkeypatch, tmp_path) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    progress.write_file(str(tmp_path / "report.html"), lambda: time.sleep(0.3))
    assert "working" in terminal.getvalue()
