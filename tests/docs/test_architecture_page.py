"""The page that walks one evaluation names files that this evaluation runs through, and few."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
LINK = re.compile(r"\]\(\.\./src/calipers/([\w/]+\.py)\)")
MOST_FILES, MOST_MODULES = 22, 90

# The second time nothing is imported any more: what runs then is the evaluation itself.
TWICE = """
import json, sys
from contextlib import redirect_stdout, suppress
from io import StringIO

called = set()


def note(frame, event, _):
    if event == "call":
        called.add(frame.f_globals.get("__name__", ""))


from calipers.cli import main

for profile in (None, note):
    sys.setprofile(profile)
    with redirect_stdout(StringIO()), suppress(SystemExit):
        sys.argv = ["calipers", "eval", "evals.json"]
        main()
    sys.setprofile(None)
    if profile is None:
        loaded = sorted(n for n in sys.modules if n.partition(".")[0] == "calipers")
print(json.dumps({"loaded": loaded, "called": sorted(called)}))
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    example = (ROOT / "examples" / "python_questions.json").read_bytes()
    (folder / "evals.json").write_bytes(example)
    done = subprocess.run(
        [sys.executable, "-c", TWICE], cwd=folder, capture_output=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


def files():
    return LINK.findall(PAGE.read_text(encoding="utf-8"))


def test_the_page_names_few_files_and_each_once():
    assert len(files()) == len(set(files())) <= MOST_FILES
    assert len(files()) >= 15
    assert f"names {len(files())} files" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", files())
def test_a_file_on_the_page_is_one_that_the_evaluation_runs_through(file, traced):
    assert (ROOT / "src" / "calipers" / file).is_file()
    module = "calipers." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    assert module in traced["called"]


def test_few_modules_are_loaded(traced):
    assert "calipers.cli.eval" in traced["loaded"]
    assert len(traced["loaded"]) <= MOST_MODULES, traced["loaded"]
