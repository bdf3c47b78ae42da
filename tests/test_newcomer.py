"""The first quarter of an hour: an empty folder, eight commands, no page of docs.

Every command runs as a process of its own, as it does in a newcomer's terminal.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

SOURCE = Path(__file__).parents[1] / "src"
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
        self.environment = {
            **{n: v for n, v in os.environ.items() if not n.startswith("CALIPERS")},
            "PYTHONPATH": str(SOURCE),
            "COLUMNS": "100",
        }

    def run(self, line: str, typed: str = "", code: int = 0) -> str:
        """What a command prints, on both streams."""
        self.commands += 1
        words = line.split()
        assert words[0] == "calipers"
        done = subprocess.run(
            [sys.executable, "-c", "from calipers.cli import main; main()", *words[1:]],
            cwd=self.folder,
            env=self.environment,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

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
    said = terminal.run("calipers init", typed="\n\n")
    assert "Where is your retriever" in said
    assert "Written: questions.csv" in said
    assert said.rstrip().endswith("calipers eval")
    lines = (terminal.folder / "questions.csv").read_text().splitlines()
    assert len(lines) == 1 + 4

    said = terminal.run("calipers eval --save before")
    assert "recall" in said
    assert "0.500" in said
    assert "Saved as before" in said

    terminal.edit_search()
    said = terminal.run(
        "calipers compare --retriever old=search_v1:search --retriever new=search:search "
        "questions.csv"
    )
    assert said.startswith("? old → new: recall@3 ")
    assert "+0.500" in said, "the edited function is the one that is asked"
    assert "4 queries can show none, 7 could" in " ".join(said.split())

    said = terminal.run("calipers sweep")
    assert said.startswith("? k = 2 finds all that k = 10 finds in these 4 queries (not shown")

    said = terminal.run("calipers gate")
    assert said.startswith("✓ recall@3 is 1.000, >= 0.5 is required")
    assert "recall@3 >= 0.5  1.000" in said

    said = terminal.run("calipers eval --html report.html --save after")
    assert "1.000" in said
    assert "Written to report.html" in said
    assert "How can I get my money back?" in (terminal.folder / "report.html").read_text()

    said = terminal.run("calipers history")
    assert said.startswith("after is at recall@3 1.000; no earlier evaluation is listed.")
    assert [line.split()[1] for line in said.splitlines()[3:5]] == ["after", "before"]
    assert terminal.commands <= 8


def test_what_runs_in_ci_runs(terminal):
    """The commands of the workflow, in its order, on a pull request and on main."""
    terminal.run("calipers init --yes")
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
    assert "0 better, 0 worse of 4" in terminal.run(against)
    terminal.edit_search()
    shutil.copy(terminal.folder / "search.py", terminal.folder / "good.py")
    terminal.run(save + " --retriever good:search")
    shutil.copy(terminal.folder / "search_v1.py", terminal.folder / "search.py")
    # Four questions prove nothing of others; that these were lost is a fact all the same.
    assert terminal.run(against, code=1).startswith("✗ recall@3 1.000 → 0.500: 0 better, 2 worse")
    assert (terminal.folder / "retrieval.md").read_text().startswith("## ✗ ")


def test_a_second_time_changes_nothing(terminal):
    terminal.run("calipers init --yes")
    before = {p: p.read_bytes() for p in terminal.folder.rglob("*") if p.is_file()}
    said = terminal.run("calipers init --retriever search:search -k 5")
    assert "Left as it is: questions.csv" in said
    assert {p: p.read_bytes() for p in terminal.folder.rglob("*") if p.is_file()} == before


def test_an_own_retriever_is_asked_at_once(terminal):
    (terminal.folder / "mine.py").write_text("def find(query, k):\n    return ['a', 'b'][:k]\n")
    said = terminal.run("calipers init", typed="mine:find\n2\n")
    line = said.rstrip().splitlines()[-1].strip()
    assert line == "calipers retrieve mine:find questions.csv -o run.jsonl"
    assert "4 questions of 4 answered" in terminal.run(line)
