"""Forms, metrics and retrievers of another package, installed beside Calipers for real."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from calipers import plugins

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tests" / "data" / "plugin" / "calipers_example.py"
ENTRY_POINTS = """
[calipers.formats]
arrows = calipers_example:Arrows
packed = calipers_example:Packed
{broken_format}
[calipers.metrics]
first_is_right = calipers_example:first_is_right
{broken_metric}
[calipers.retrievers]
fixed = calipers_example:fixed
{broken_retriever}
"""
COMMAND = "from calipers.cli import main; main()"
BROKEN = {"broken_format": "", "broken_metric": "", "broken_retriever": ""}


@dataclass(frozen=True)
class Installed:
    """A folder of installed packages, as pip leaves one."""

    folder: Path

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """``calipers …`` in a process of its own that sees the packages."""
        path = os.pathsep.join([str(self.folder), str(ROOT / "src")])
        return subprocess.run(
            [sys.executable, "-c", COMMAND, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def install(folder: Path, **broken: str) -> Installed:
    shutil.copy(PACKAGE, folder)
    (folder / "calipers_broken.py").write_text("raise RuntimeError('no such index')\n")
    about = folder / "calipers_example-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: calipers-example\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS.format(**{**BROKEN, **broken}))
    return Installed(folder)


@pytest.fixture
def evals(tmp_path: Path) -> tuple[Path, Path]:
    truth, run = tmp_path / "truth.txt", tmp_path / "run.jsonl"
    truth.write_text("%arrows\nWho? -> a\nWhen? -> b\n")
    rows = [{"query": "Who?", "retrieved": ["a", "b"]}, {"query": "When?", "retrieved": ["a", "b"]}]
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return truth, run


def test_the_command_line_uses_form_and_metric(tmp_path, evals):
    installed = install(tmp_path)
    done = installed.run("eval", "-g", evals[0], "-r", evals[1], "-m", "first_hit@1,mrr", "--json")
    assert done.returncode == 0, done.stderr
    means = {one["metric"]: one["mean"] for one in json.loads(done.stdout)["summaries"]}
    assert means == {"first_is_right@1": 0.5, "mrr": 0.75}
    assert "plug-in" not in done.stderr
    assert "first_is_right" in installed.run("metrics").stdout


def test_a_form_may_be_binary_and_other_binary_files_are_refused(tmp_path, evals):
    installed = install(tmp_path)
    truth, run = evals
    truth.write_bytes(b"\0" + truth.read_bytes())
    done = installed.run("eval", "-g", truth, "-r", run, "-m", "mrr", "--json")
    assert done.returncode == 0, done.stderr
    truth.write_bytes(b"\0something else")
    refused = installed.run("eval", "-g", truth, "-r", run)
    assert refused.returncode == 2
    assert "is binary and in no form Calipers knows" in refused.stderr


def test_the_form_is_written_and_named(tmp_path, evals):
    installed = install(tmp_path)
    out = tmp_path / "out.arrows"
    done = installed.run("convert", "-g", evals[0], out, "--from", "arrows")
    assert done.returncode == 0, done.stderr
    assert out.read_text() == evals[0].read_text()
    unknown = installed.run("convert", "-g", evals[0], out, "--from", "arrow")
    assert unknown.returncode == 2
    assert "Did you mean arrows" in unknown.stderr


def test_the_retriever_is_asked(tmp_path, evals):
    installed = install(tmp_path)
    questions, out = tmp_path / "questions.jsonl", tmp_path / "found.jsonl"
    questions.write_text('{"query": "Who?"}\n')
    done = installed.run("retrieve", "fixed:c7,c9", questions, "-o", out, "-k", "1")
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text().splitlines()[0])["retrieved"] == [{"id": "c7"}]


BROKEN_FORMATS = {
    "bad_form = calipers_broken:Form": "RuntimeError: no such index",
    "not_there = calipers_gone:Form": "No module named 'calipers_gone'",
    "fails = calipers_example:Fails": "RuntimeError: cannot look at Probe",
    "no_form = calipers_example:fixed": "no class of calipers.io.format",
}
BROKEN_METRICS = {
    "bad_metric = calipers_broken:metric": "RuntimeError: no such index",
    "plain = calipers_example:fixed": "no function with the decorator",
}


@pytest.mark.parametrize(
    ("what", "entries"), [("broken_format", BROKEN_FORMATS), ("broken_metric", BROKEN_METRICS)]
)
def test_the_broken_are_named_and_the_rest_goes_on(tmp_path, evals, what, entries):
    truth, run = evals
    if what == "broken_metric":
        # In a form of ours: theirs would load the module, and the metric with it.
        truth = tmp_path / "truth.json"
        rows = [{"query": "Who?", "ground_truth": ["a"]}, {"query": "When?", "ground_truth": ["b"]}]
        truth.write_text(json.dumps(rows))
    done = install(tmp_path, **{what: "\n".join(entries)}).run(
        "eval", "-g", truth, "-r", run, "-m", "first_is_right@1", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summaries"][0]["mean"] == 0.5
    for entry, said in entries.items():
        (line,) = (one for one in done.stderr.splitlines() if f"{entry.split(' ')[0]!r}" in one)
        assert line.partition("The plug-in ")[2]
        assert said in line


def test_what_is_built_in_asks_no_other_package(tmp_path):
    records = tmp_path / "evals.json"
    records.write_text('[{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]')
    installed = install(
        tmp_path,
        broken_format="bad_form = calipers_broken:Form",
        broken_metric="bad_metric = calipers_broken:metric",
    )
    done = installed.run("eval", records, "-m", "mrr")
    assert done.returncode == 0, done.stderr
    assert "plug-in" not in done.stderr


def test_a_broken_retriever_is_a_sentence(tmp_path):
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"query": "Who?"}\n')
    installed = install(tmp_path, broken_retriever="bad = calipers_broken:make")
    done = installed.run("retrieve", "bad:x", questions, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "The plug-in 'bad' of calipers.retrievers is left out" in done.stderr
    assert "Error: The retriever 'bad:x' cannot be made" in done.stderr


def test_nothing_is_declared_in_a_group_nobody_knows():
    assert not plugins.declared("calipers.nothing")
    assert not plugins.found("calipers.nothing")
