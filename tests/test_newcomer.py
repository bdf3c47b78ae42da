"""The first quarter of an hour: an empty folder, eight commands, no page of docs."""

import importlib
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir
from importlib.metadata import distribution, distributions
from pathlib import Path
from unittest import mock

import pytest
import yaml
from packaging.requirements import Requirement

from tests.command import calipers_command

ROOT = Path(__file__).parents[1]
EDITED = """
    words = set(query.lower().replace("?", "").replace(".", "").split())
    best = sorted(
        DOCUMENTS,
        key=lambda name: -len(words & set(DOCUMENTS[name].lower().replace(":", "").split())),
    )
    return best[:k]
"""


class Terminal:
    """A newcomer's terminal: it counts the commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands = 0

    def run(self, line: str, code: int = 0) -> str:
        """What a command prints, on both streams."""
        self.commands += 1
        words = shlex.split(line)
        assert words[0] == "calipers"
        with (
            chdir(self.folder),
            mock.patch.object(sys, "path", [*sys.path]),
        ):
            done = calipers_command(*words[1:], columns=100)
        # The next process would read a module again, which may be edited by then.
        for one in self.folder.glob("*.py"):
            sys.modules.pop(one.stem, None)
        importlib.invalidate_caches()
        assert done.code == code, done.out + done.err
        assert "Traceback" not in done.err
        return done.out + done.err

    def edit_search(self) -> None:
        """Keep the old function, and write a better one."""
        search = self.folder / "search.py"
        shutil.copy(search, self.folder / "search_v1.py")
        head, _, _ = search.read_text().partition("\n    words = ")
        search.write_text(head + EDITED)


@pytest.fixture
def terminal(tmp_path):
    return Terminal(tmp_path)


def test_from_an_empty_folder_to_a_decision(terminal):
    said = terminal.run("calipers init")
    assert "Written: questions.csv" in said
    assert said.rstrip().endswith("calipers eval")
    lines = (terminal.folder / "questions.csv").read_text().splitlines()
    assert len(lines) == 1 + 4

    said = terminal.run("calipers eval --save before")
    assert "recall" in said
    assert "0.500" in said
    assert "Saved as before" in said

    terminal.edit_search()
    said = terminal.run("calipers eval --html report.html --save after")
    assert "1.000" in said
    assert "Written to report.html" in said
    assert "How can I get my money back?" in (terminal.folder / "report.html").read_text()

    said = terminal.run("calipers compare @before @after")
    assert said.startswith("~ recall@3 rose from 0.500 to 1.000 on 4 queries; this may be chance.")
    assert "+0.500" in said, "the edited function is the one that is asked"
    assert "2 of 4 queries better, none worse." in said
    assert "more queries" not in said

    said = terminal.run("calipers sweep")
    assert said.startswith("Use k = 2: it finds 100%, as much as k = 10.")

    said = terminal.run("calipers gate")
    assert said.startswith("✓ Passed: recall@3 is 1.000 on ")
    assert "recall@3 >= 0.5  1.000" in said

    said = terminal.run("calipers history")
    assert said.startswith("after is at recall@3 1.000; there is no earlier evaluation")
    assert [line.split()[0] for line in said.splitlines()[3:5]] == ["after", "before"]
    assert terminal.commands <= 8


def test_what_runs_in_ci_runs(terminal):
    """The commands of the workflow, in its order, on a pull request and on main."""
    terminal.run("calipers init")
    workflow = yaml.safe_load((terminal.folder / ".github/workflows/retrieval.yml").read_text())
    steps = {one["name"]: one["run"] for one in workflow["jobs"]["gate"]["steps"] if "run" in one}
    alone = "calipers gate --markdown retrieval.md"
    save = "calipers gate save -o .calipers/baseline.json"
    against = "calipers gate --baseline .calipers/baseline.json --allow 0.1 --markdown retrieval.md"
    check, refresh = steps["Check a pull request"], steps["Move the baseline of main"]
    assert {one.strip() for one in check.splitlines()} >= {against, f"else {alone}"}
    assert save in refresh
    terminal.run(alone)
    (terminal.folder / ".calipers").mkdir()
    terminal.run(save)
    assert "no query changed" in terminal.run(against)
    terminal.edit_search()
    shutil.copy(terminal.folder / "search.py", terminal.folder / "good.py")
    terminal.run(save + " --retriever good:search")
    shutil.copy(terminal.folder / "search_v1.py", terminal.folder / "search.py")
    # Four questions prove nothing of others; that these were lost is a fact all the same.
    assert terminal.run(against, code=1).startswith(
        "✗ Failed: recall@3 fell from 1.000 to 0.500; 2"
    )
    assert (terminal.folder / "retrieval.md").read_text().startswith("## ✗ ")


def test_an_own_retriever_is_asked_at_once(terminal):
    (terminal.folder / "mine.py").write_text("def find(query, k):\n    return ['a', 'b'][:k]\n")
    said = terminal.run("calipers init --retriever mine:find -k 2")
    line = said.rstrip().splitlines()[-1].strip()
    assert line == "calipers retrieve mine:find questions.csv -o run.jsonl"
    assert "4 of 4 questions answered" in terminal.run(line)


MOST_PACKAGES, MOST_MEGABYTES = 16, 300
SEARCH = """
def search(query, k):
    return [one for one in ("parcel", "gift") if one in query][:k]
"""


def installed(folder):
    """The command, from our wheel in an environment with what the wheel asks for and nothing else.

    What it asks for is copied from the environment of the tests; `make installed` fetches it.
    """
    wheels, place = folder / "wheels", folder / "environment"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (wheel,) = wheels.glob("*.whl")
    options = ["-q", "--disable-pip-version-check", "--no-compile", "--no-deps"]
    pip = [sys.executable, "-m", "pip", "--python", str(place), "install", *options, str(wheel)]
    subprocess.run(pip, capture_output=True, check=True)
    (site,) = place.glob("[Ll]ib/**/site-packages")
    (ours,) = distributions(path=[str(site)], name="calipers")
    for name in needed(ours):
        files = distribution(name).files or ()
        for top in {one.parts[0] for one in files} - {"..", "__pycache__"}:
            found = Path(str(distribution(name).locate_file(top)))
            (shutil.copytree if found.is_dir() else shutil.copy2)(found, site / top)
    return place


def needed(package):
    """The names of all that a package asks for, and they in turn."""
    found, waiting = set(), [package]
    while waiting:
        for line in waiting.pop().requires or ():
            one = Requirement(line)
            name = one.name.lower()
            if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
                found.add(name)
                waiting.append(distribution(name))
    return found


def size_of(place):
    """How many packages there are, and how many megabytes they unpack to.

    Without bytecode, which is Python's own cache and as large as its version makes it.
    """
    (site,) = place.glob("[Ll]ib/**/site-packages")
    packages = list(distributions(path=[str(site)]))
    files = [Path(str(one.locate_file(file))) for one in packages for file in one.files]
    kept = [one for one in files if one.is_file() and one.suffix != ".pyc"]
    return len(packages), sum(one.stat().st_size for one in kept) / 1e6


def test_what_is_installed_measures_and_draws(tmp_path):
    """Install the wheel alone: it is small, and a first table and a page need nothing else."""
    place = installed(tmp_path)
    packages, megabytes = size_of(place)
    assert packages <= MOST_PACKAGES
    assert megabytes <= MOST_MEGABYTES

    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "search.py").write_text(SEARCH)
    (folder / "questions.csv").write_text("question,chunk_id\nmy parcel?,parcel\nmy gift?,gift\n")
    strange = ("CALIPERS", "PYTHON", "VIRTUAL_ENV")
    known = {n: v for n, v in os.environ.items() if not n.startswith(strange)}
    program = place / ("Scripts" if os.name == "nt" else "bin") / "calipers"
    words = ("eval", "questions.csv", "--retriever", "search:search", "--html", "page.html")
    done = subprocess.run(
        [program, *words],
        cwd=folder,
        env={**known, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stdout + done.stderr
    assert said.startswith("Finds all of what it should in the first 10 results (")
    assert said.rstrip().endswith("Written to page.html")
    assert (folder / "page.html").read_text().count("<svg") >= 3
