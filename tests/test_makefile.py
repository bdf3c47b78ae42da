"""What the Makefile names is there, and a test whose worker died runs again."""

import re
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]


def test_every_test_that_is_named_is_there():
    named = re.findall(r"\btests/[\w/.]+", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_test_whose_worker_died_runs_again_once(request):
    plugins = request.config.pluginmanager
    hook = next(
        one.pytest_handlecrashitem
        for one in plugins.get_plugins()
        if hasattr(one, "DIED") and hasattr(one, "pytest_handlecrashitem")
    )
    again: list[str] = []
    for expected in ("rerun", "failed"):
        report = SimpleNamespace(outcome="failed")
        hook("tests/made_up.py::test", report, SimpleNamespace(mark_test_pending=again.append))
        assert report.outcome == expected
    assert again == ["tests/made_up.py::test"]
