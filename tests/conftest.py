"""Settings every test shares."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

# A tenth of the time went into looking for cycles among objects that live until the end.
gc.set_threshold(100_000, 20, 100)

# Deadlines fail on a busy machine, not on a wrong answer. In CI the same examples run each time,
# elsewhere others each time; CALIPERS_EXAMPLES=500 looks longer.
settings.register_profile(
    "calipers",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=int(os.environ.get("CALIPERS_EXAMPLES", "10")),
)
settings.load_profile("calipers")

# For other processes: loaded here, a metric would stand among ours, and Windows would rule.
collect_ignore = ["data/plugin", "windows"]

# Some of the libraries report to their makers, or fetch prices, when loaded; a test stays at home.
for name, value in {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}.items():
    os.environ.setdefault(name, value)

LONG = (
    "tests/test_newcomer.py",
    "tests/fuzz/",
    "tests/browser/",
    "tests/web/test_browser.py",
    "tests/web/test_killed.py",
    "tests/store/test_together.py",
    "tests/test_disk_and_kill.py",
    "tests/simulations/test_bands.py",
    "tests/docs/test_recipes.py",
)
"""Where single tests take many seconds."""


def pytest_collection_modifyitems(items):
    """Begin with the long ones, or one worker is left with them while the others are done."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


DIED: set[str] = set()
"""Tests during which a worker died, each of them once."""


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem, report, sched):
    """Run a test again, once, during which its worker died; the second time it has failed.

    A thread of the table library's own runtime has died by a signal, in one whole run of dozens and
    in a test that passes hundreds of times in a row: the summary counts what was run again.
    """
    if crashitem not in DIED:
        DIED.add(crashitem)
        report.outcome = "rerun"
        sched.mark_test_pending(crashitem)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in documents and source: tests hold none, and looking takes seconds."""
    found = yield
    return [one for one in found if type(one).__name__ != "DoctestModule"]


CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, driven by Playwright: one for all, as a process can drive one alone."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        yield launched
        launched.close()
