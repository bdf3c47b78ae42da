"""Progress shows on a terminal, after some patience, and nowhere else."""

import io
import sys

import pytest

from calipers.cli import output as progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_where_nobody_looks() -> None:
    with progress.reading() as told:
        assert told is None


def shown(monkeypatch: pytest.MonkeyPatch, patience: float) -> str:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", patience)
    monkeypatch.setenv("TERM", "xterm")
    with progress.reading() as told:
        told(10, 100)
        told(100, 100)
    return terminal.getvalue()


def test_a_bar_after_some_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "reading" in shown(monkeypatch, patience=-1.0)
    assert shown(monkeypatch, patience=60.0) == ""
