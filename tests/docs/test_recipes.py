"""The recipes of CONTRIBUTING, carried out as they are written, in a copy of the project."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import typed_apart

ROOT = Path(__file__).parents[2]
PARTS = (
    *("src", "tests", "tools", "fuzz", "docs", "examples", "action", "skills", "simulations"),
    "pyproject.toml",
)
RECIPES = (
    "a metric",
    "a check to an audit",
    "a column to a comparison",
    "an option",
    "a slice statistic",
    "a file format",
    "a question and its command",
    "a kind of retriever",
)
STEP = re.compile(
    r"^ *(?P<how>At the end of|New file|In) `(?P<file>[^`]+)`"
    r"(?:, (?P<side>above|below) `(?P<line>[^`]+)`)?:\n\n"
    r"(?P<indent> *)```\w+\n(?P<block>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


def steps(recipe):
    """What a recipe writes, step by step."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"## Add {recipe}\n")[2].partition("\n## ")[0]
    found = list(STEP.finditer(section))
    assert section.count("```") == 2 * len(found) > 0, "above each example stands its file"
    return found


def carry_out(step, project):
    """Write what a step shows where it says."""
    path = project / step["file"]
    indent = len(step["indent"])
    block = "".join(line[indent:] or "\n" for line in step["block"].splitlines(keepends=True))
    is_definition = block.startswith(("def ", "class ", "@"))
    if step["how"] == "New file":
        assert not path.exists(), step["file"]
        path.write_text(block, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if step["how"] == "At the end of":
        path.write_text(text + ("\n\n" if is_definition else "\n") + block, encoding="utf-8")
        return
    lines = text.splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if line.startswith(step["line"])]
    assert at, f"{step['file']} has no line that begins with {step['line']!r}"
    place = at[0] + (step["side"] == "below")
    lines.insert(place, block + ("\n\n" if is_definition else ""))
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with what all recipes add."""
    folder = tmp_path_factory.mktemp("project")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            # With its bytecode: what no recipe touches need not be compiled again.
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("node_modules"))
        else:
            shutil.copy(source, folder / part)
    for page in ROOT.glob("*.md"):
        shutil.copy(page, folder)
    for recipe in RECIPES:
        for step in steps(recipe):
            carry_out(step, folder)
    run(folder, "tools/write_stub.py")
    return folder


def run(project, *arguments, **more):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{project / 'src'}{os.pathsep}{project}", **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


DATA = "examples/python_questions.json"
COMMANDS = {
    "the metric": "metrics miss_rate --json",
    "measured": f"eval {DATA} -m miss_rate@3,hit_rate@3 --json",
    "plain": f"eval {DATA} -m mrr --json",
    "option": f"eval {DATA} -m mrr --json --release v2",
    "file": f"eval {DATA} -m mrr --json --config release.toml",
    "checked": "audit long.json --json",
    "passed": "audit tests/data/formats/ours.jsonl --json",
    "asked": f"reach {DATA} --deepest 2",
    **{f"help of {name}": f"{name} --help" for name in ("eval", "audit", "misses")},
}


@pytest.fixture(scope="module")
def printed(project):
    """What each command prints there."""
    rows = [{"query": f"{'very ' * 101}long?", "ground_truth": ["a"]}]
    (project / "long.json").write_text(json.dumps(rows), encoding="utf-8")
    (project / "release.toml").write_text('release = "v2"\n', encoding="utf-8")
    found = typed_apart([*COMMANDS.values()], project, project / "src", project)
    assert [one.err for one in found if one.code] == []
    return {name: one.out for name, one in zip(COMMANDS, found, strict=True)}


def test_what_is_written_stands_within_the_walls_and_as_the_house_writes(project):
    written = {step["file"] for recipe in RECIPES for step in steps(recipe)}
    code = sorted(file for file in written if file.endswith(".py"))
    run(project, "-m", "ruff", "check", *code)
    run(project, "-m", "ruff", "format", "--check", *code)
    run(project, "tools/check_walls.py")


def test_the_metric_is_listed_and_measured(printed):
    (listed,) = json.loads(printed["the metric"])["metrics"]
    assert listed["formula"] == "1 if no target stands in the first k results, else 0."
    missed, hit = json.loads(printed["measured"])["summaries"]
    assert (missed["metric"], hit["metric"]) == ("miss_rate@3", "hit_rate@3")
    assert missed["mean"] == pytest.approx(1 - hit["mean"])


def test_an_option_that_is_declared_in_one_place_is_found_everywhere(printed):
    for command in ("eval", "audit", "misses"):
        shown = printed[f"help of {command}"]
        assert re.search(r"--release NAME +The release of the data", shown), command
    found = {name: json.loads(printed[name]) for name in ("plain", "option", "file")}
    assert "release" not in found["plain"]["settings"]
    assert found["option"]["settings"]["release"] == found["file"]["settings"]["release"] == "v2"
    prints = {name: one["fingerprints"]["settings"] for name, one in found.items()}
    assert prints["option"] == prints["file"] != prints["plain"]


def test_the_check_is_made(printed):
    found = json.loads(printed["checked"])["findings"]
    assert [one["count"] for one in found if one["name"] == "long_questions"] == [1]
    assert "long_questions" in json.loads(printed["passed"])["passed"]


COLUMN = """
import calipers
from calipers.present.csv import as_csv
from calipers.present.html import for_page
from calipers.present.markdown import as_markdown
truth = {f"q{i}": ["a"] for i in range(9)}
old = {q: ["b", "a"] for q in truth}
new = {q: ["a", "b"] if i < 7 else ["b", "a"] for i, q in enumerate(truth)}
found = calipers.compare({"old": old, "new": new}, truth, metrics="mrr")
document = found.document()
for face in (found.explain(), as_markdown(document), for_page(document), as_csv(document)):
    assert "moved" in face and "7" in face.partition("moved")[2], face
assert found.to_polars()["moved"].to_list() == [None, 7]
tagged = [
    {"query": q, "retrieved": old[q], "ground_truth": ["a"], "tags": {"t": q[-1]}} for q in truth
]
found = calipers.slices(calipers.evaluate(tagged, metrics="hit_rate@1"), "t")
assert {row.found_nothing for row in found.rows} == {1}
print(calipers.reach("examples/python_questions.json", deepest=2))
"""


def test_a_column_is_in_every_face_and_a_question_is_asked_and_printed(project, printed):
    assert run(project, "-c", COLUMN).strip() == printed["asked"].strip()
    assert " queries find a target first." in printed["asked"]


def test_contracts_and_references_hold_for_what_was_added(project):
    added = "miss_rate or quizbook or reach or shelf"
    places = (
        "tests/contracts/test_readers.py",
        "tests/contracts/test_retrievers.py",
        "tests/questions/test_operations.py",
        "src/calipers/questions/reach.py",
    )
    tested = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", added, *places)
    assert "passed" in run(project, *tested, CALIPERS_WRITE_SCHEMAS="1")
    assert (project / "src" / "calipers" / "schemas" / "reach.json").is_file()


def test_the_documents_are_brought_up_to_date(project):
    run(project, "tools/write_metrics_page.py")
    assert "`miss_rate" in (project / "docs" / "metrics.md").read_text(encoding="utf-8")
    run(project, "tools/check_docs.py")
