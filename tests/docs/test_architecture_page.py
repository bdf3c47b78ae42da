"""The page that walks one evaluation lists the files that this evaluation runs through, and all."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
LINK = re.compile(r"^- \[[^]]+\]\(src/calipers/([\w/]+\.py)\): \S", re.MULTILINE)
MOST_FILES, MOST_LOADED = 50, 80

# The second time nothing is imported any more: what runs then is the evaluation itself. Threads
# count too, since reading ahead is part of it.
TWICE = """
import json, sys, threading
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path

import calipers

source = Path(calipers.__file__).parent
executed = set()


def note(frame, event, _):
    if event == "call":
        executed.add(frame.f_code.co_filename)


from calipers.cli import main

for profile in (None, note):
    sys.setprofile(profile)
    threading.setprofile(profile)
    with redirect_stdout(StringIO()), suppress(SystemExit):
        sys.argv = ["calipers", "eval", "examples/python_questions.json"]
        main()
    sys.setprofile(None)
    threading.setprofile(None)
    if profile is None:
        loaded = {one.__file__ for name, one in sys.modules.items() if name.startswith("calipers.")}
print(json.dumps([
    sorted(Path(one).relative_to(source).as_posix() for one in some if one.startswith(str(source)))
    for some in (executed, loaded)
]))
"""


@pytest.fixture(scope="module")
def traced():
    done = subprocess.run(
        [sys.executable, "-c", TWICE], cwd=ROOT, capture_output=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


def test_the_page_lists_every_file_that_the_evaluation_runs_through_and_no_other(traced):
    listed, (executed, _) = LINK.findall(PAGE.read_text(encoding="utf-8")), traced
    assert {"cli/eval.py", "questions/evaluate/rule.py"} < set(executed)
    assert sorted(set(executed) - set(listed)) == [], "add these to the page"
    assert sorted(set(listed) - set(executed)) == [], "take these off the page"
    assert len(listed) == len(set(listed))


def test_few_files_are_run_through_and_few_are_loaded(traced):
    executed, loaded = traced
    # A file that holds a sentence and nothing else is nothing to read.
    read = [
        one for one in loaded if len((ROOT / "src/calipers" / one).read_text().splitlines()) > 1
    ]
    assert len(executed) <= MOST_FILES
    assert len(read) <= MOST_LOADED
    assert f"{len(executed)} files" in PAGE.read_text(encoding="utf-8")
