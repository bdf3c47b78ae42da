"""Progress shows on a terminal, after some patience, and nowhere else."""

import io
import sys
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


def shown(monkeypatch: pytest.MonkeyPatch, patience: float) -> str:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", patience)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress() as told:
        told["progress"](10, 100)
        told["progress"](100, 100)
    return terminal.getvalue()


def test_a_bar_after_some_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "reading" in shown(monkeypatch, patience=-1.0)
    assert shown(monkeypatch, patience=60.0) == ""


def test_a_retriever_is_named_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress() as told:
        told["watch"](AnswerCounts(1, "a[/x]", answered=1, errors=Counter(timeout=2)), 4)
    assert "asking a[/x]" in terminal.getvalue()
    assert "2 failed" in terminal.getvalue()
