"""The recipes of CONTRIBUTING, carried out as they are written, in a copy of the project."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("src", "tests", "tools", "fuzz", "docs", "examples", "action", "skills", "pyproject.toml")
RECIPES = (
    "a metric",
    "a check to an audit",
    "a column to a comparison",
    "an option",
    "a form of files",
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
    return folder


def run(project, *arguments, code=0, **more):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{project / 'src'}{os.pathsep}{project}", **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def test_what_is_written_stands_within_the_walls_and_as_the_house_writes(project):
    written = {step["file"] for recipe in RECIPES for step in steps(recipe)}
    code = sorted(file for file in written if file.endswith(".py"))
    run(project, "-m", "ruff", "check", *code)
    run(project, "-m", "ruff", "format", "--check", *code)
    run(project, "tools/check_walls.py")


def test_the_metric_is_listed_and_measured(project):
    said = json.loads(run(project, "-m", "calipers", "metrics", "miss_rate", "--json"))
    assert said["metrics"][0]["formula"] == "1 if no target stands in the first k results, else 0."
    data = "examples/python_questions.json"
    found = run(project, "-m", "calipers", "eval", data, "-m", "miss_rate@3,hit_rate@3", "--json")
    missed, hit = json.loads(found)["summaries"]
    assert (missed["metric"], hit["metric"]) == ("miss_rate@3", "hit_rate@3")
    assert missed["mean"] == pytest.approx(1 - hit["mean"])


EVERYWHERE = """
import calipers, inspect, pydoc
from pathlib import Path
from calipers.config import check_config
data = "examples/python_questions.json"
for ask in (
    lambda: calipers.evaluate(data, release=3),
    lambda: calipers.evaluate(data, releas="v2"),
    lambda: check_config({"release": 3}, Path("calipers.toml")),
):
    try:
        ask()
    except calipers.CalipersError as error:
        print(error)
for ask in (calipers.evaluate, calipers.misses, calipers.audit, calipers.explain):
    assert inspect.signature(ask).parameters["release"].annotation == str | None
    assert "release: The release of the data that is read." in pydoc.render_doc(ask)
pair = calipers.read(data, release="v2")
assert calipers.evaluate(pair, metrics="mrr").settings["release"] == "v2"
levels = calipers.levels(data, release="v2", metrics="mrr").scores.values()
assert {one.settings["release"] for one in levels} == {"v2"}
"""


def test_an_option_that_is_declared_in_one_place_is_found_everywhere(project):
    wrong, unknown, key = run(project, "-c", EVERYWHERE).splitlines()
    assert wrong == "The argument release of evaluate is 3; it must be a text."
    assert unknown.endswith("Did you mean release?")
    assert key == "The key release of calipers.toml is 3; it must be a text."
    for command in ("eval", "audit", "explain", "misses"):
        shown = run(project, "-m", "calipers", command, "--help")
        assert re.search(r"--release NAME +The release of the data", shown), command
    (project / "release.toml").write_text('release = "v2"\n', encoding="utf-8")
    asked = ("-m", "calipers", "eval", "examples/python_questions.json", "-m", "mrr", "--json")
    found = {}
    for name, more in {
        "plain": (),
        "option": ("--release", "v2"),
        "file": ("--config", "release.toml"),
    }.items():
        printed = run(project, *asked, *more)
        (project / f"{name}.json").write_text(printed, encoding="utf-8")
        found[name] = json.loads(printed)
    assert "release" not in found["plain"]["settings"]
    assert found["option"]["settings"]["release"] == found["file"]["settings"]["release"] == "v2"
    prints = {name: one["fingerprints"]["settings"] for name, one in found.items()}
    assert prints["option"] == prints["file"] != prints["plain"]
    said = run(project, "-m", "calipers", "compare", "plain.json", "option.json", code=2)
    assert "the setting release is None in plain and 'v2' in option" in said


def test_the_check_is_made(project):
    rows = [{"query": f"{'very ' * 101}long?", "ground_truth": ["a"]}]
    (project / "long.json").write_text(json.dumps(rows), encoding="utf-8")
    found = json.loads(run(project, "-m", "calipers", "audit", "long.json", "--json"))
    assert [one["count"] for one in found["findings"] if one["name"] == "long_questions"] == [1]
    data = "tests/data/formats/ours.jsonl"
    said = json.loads(run(project, "-m", "calipers", "audit", data, "--json"))
    assert "long_questions" in said["passed"]


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
"""


def test_a_column_that_is_declared_in_one_place_is_in_every_face(project):
    run(project, "-c", COLUMN)


def test_the_question_is_asked_and_printed(project):
    data = "examples/python_questions.json"
    printed = run(project, "-m", "calipers", "reach", data, "--deepest", "2")
    code = f"import calipers; print(calipers.reach({data!r}, deepest=2))"
    assert run(project, "-c", code).strip() == printed.strip()
    assert " are found at rank 1." in printed


def test_contracts_and_references_hold_for_what_was_added(project):
    added = "miss_rate or quizbook or reach or shelf"
    places = (
        "tests/contracts/test_readers.py",
        "tests/contracts/test_retrievers.py",
        "tests/questions/test_operations.py",
        "src/calipers/questions/reach.py",
    )
    tested = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k")
    same = ("reach and give_the_same", "tests/questions/test_operations.py")
    run(project, *tested, *same, CALIPERS_WRITE_SCHEMAS="1")
    said = run(project, *tested, added, *places)
    assert "passed" in said


def test_the_documents_are_brought_up_to_date(project):
    run(project, "tools/write_metrics_page.py")
    assert "`miss_rate" in (project / "docs" / "metrics.md").read_text(encoding="utf-8")
    run(project, "tools/check_docs.py")
