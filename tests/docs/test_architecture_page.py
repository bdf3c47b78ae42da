"""The page that walks one evaluation lists the files that this evaluation runs through, and all."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import calipers

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
LINK = re.compile(r"^- \[[^]]+\]\(src/calipers/([\w/]+\.py)\): \S", re.MULTILINE)
MOST_LOADED = 85
CONDITION = ["gate", "examples/python_questions.json", "--require", "recall@10 >= 0.1"]
MOST_FILES = {"eval": 60, "compare": 80, "gate": 65}

# The second time nothing is imported any more: what runs then is the evaluation itself. Threads
# count too, since reading ahead is part of it.
TWICE = """
import json, sys, threading
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path

import calipers

source = Path(calipers.__file__).parent
executed = {}


def note(frame, event, _):
    if event == "call":
        executed[command].add(frame.f_code.co_filename)


from calipers.cli import main


def ours(some):
    found = (Path(one) for one in some if one.startswith(str(source)))
    return sorted(one.relative_to(source).as_posix() for one in found)


loaded = {}
for command, *arguments in json.loads(sys.argv[1]):
    executed[command] = set()
    for profile in (None, note):
        sys.setprofile(profile)
        threading.setprofile(profile)
        with redirect_stdout(StringIO()), suppress(SystemExit):
            sys.argv = ["calipers", command, *arguments]
            main()
        sys.setprofile(None)
        threading.setprofile(None)
        if profile is None:
            known = {**sys.modules}
            loaded[command] = ours(
                one.__file__ for name, one in known.items() if name.startswith("calipers.")
            )
print(json.dumps([{name: ours(some) for name, some in executed.items()}, loaded]))
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    saved = tmp_path_factory.mktemp("baseline") / "before.json"
    data = "examples/python_questions.json"
    saved.write_text(json.dumps(calipers.evaluate(str(ROOT / data)).to_dict()))
    commands = [["eval", data], CONDITION, ["compare", str(saved), data]]
    done = subprocess.run(
        [sys.executable, "-c", TWICE, json.dumps(commands)],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


def test_the_page_lists_every_file_that_the_evaluation_runs_through_and_no_other(traced):
    listed, executed = LINK.findall(PAGE.read_text(encoding="utf-8")), traced[0]["eval"]
    assert {"cli/eval.py", "questions/evaluate/rule.py"} < set(executed)
    assert sorted(set(executed) - set(listed)) == [], "add these to the page"
    assert sorted(set(listed) - set(executed)) == [], "take these off the page"
    assert len(listed) == len(set(listed))
    assert f"{len(executed)} files" in PAGE.read_text(encoding="utf-8")


def test_few_files_are_run_through_and_few_are_loaded(traced):
    executed, loaded = traced
    # A file that holds a sentence and nothing else is nothing to read.
    read = [
        one
        for one in loaded["eval"]
        if len((ROOT / "src/calipers" / one).read_text().splitlines()) > 1
    ]
    assert len(read) <= MOST_LOADED
    for command, most in MOST_FILES.items():
        assert (
            f"questions/{'evaluate' if command == 'eval' else command}/rule.py"
            in (executed[command])
        )
        assert len(executed[command]) <= most, command


def test_a_gate_without_a_baseline_loads_nothing_of_compare(traced):
    assert [one for one in traced[1]["gate"] if "compare" in one] == []
