"""Forms, metrics and retrievers of another package, installed beside Calipers for real."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from calipers import plugins
from tests.command import Printed, typed_apart

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tests" / "data" / "plugin" / "calipers_example.py"
ENTRY_POINTS = """
[calipers.formats]
arrows = calipers_example:Arrows
{broken_format}
[calipers.metrics]
first_is_right = calipers_example:first_is_right
{broken_metric}
[calipers.retrievers]
fixed = calipers_example:fixed
{broken_retriever}
"""
BROKEN = {"broken_format": "", "broken_metric": "", "broken_retriever": ""}


@dataclass(frozen=True)
class Installed:
    """A folder of installed packages, as pip leaves one."""

    folder: Path

    def run(self, *commands: str) -> list[Printed]:
        """``calipers …``, one after the other in a process that sees the packages."""
        return typed_apart(commands, self.folder, self.folder, ROOT / "src", ROOT)


def install(folder: Path, **broken: str) -> Installed:
    shutil.copy(PACKAGE, folder)
    (folder / "calipers_broken.py").write_text("raise RuntimeError('no such index')\n")
    about = folder / "calipers_example-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: calipers-example\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS.format(**{**BROKEN, **broken}))
    return Installed(folder)


@pytest.fixture
def evals(tmp_path: Path) -> str:
    """The ground truth in the form of the package, and a run: their options."""
    rows = [{"query": "Who?", "retrieved": ["a", "b"]}, {"query": "When?", "retrieved": ["a", "b"]}]
    (tmp_path / "truth.txt").write_text("%arrows\nWho? -> a\nWhen? -> b\n")
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "-g truth.txt -r run.jsonl"


def test_form_metric_and_retriever_are_used_written_and_named(tmp_path, evals):
    (tmp_path / "other.bin").write_bytes(b"\0something else")
    (tmp_path / "questions.jsonl").write_text('{"query": "Who?"}\n')
    measured, listed, other, written, unknown, asked = install(tmp_path).run(
        f"eval {evals} -m first_hit@1,mrr --json",
        "metrics",
        "eval -g other.bin -r run.jsonl",
        "convert -g truth.txt out.arrows --from arrows",
        "convert -g truth.txt out.arrows --from arrow",
        "retrieve fixed:c7,c9 questions.jsonl -o found.jsonl -k 1",
    )
    means = {one["metric"]: one["mean"] for one in json.loads(measured.out)["summaries"]}
    assert means == {"first_is_right@1": 0.5, "mrr": 0.75}
    assert "plug-in" not in measured.err
    assert "first_is_right" in listed.out
    assert other.code == 2
    assert "is binary and in no format Calipers knows" in other.err
    assert written.code == 0, written.err
    assert (tmp_path / "out.arrows").read_bytes() == (tmp_path / "truth.txt").read_bytes()
    assert unknown.code == 2
    assert "Did you mean arrows" in unknown.err
    assert asked.code == 0, asked.err
    found = json.loads((tmp_path / "found.jsonl").read_text().splitlines()[0])
    assert found["retrieved"] == [{"id": "c7"}]


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
    if what == "broken_metric":
        # In a form of ours: theirs would load the module, and the metric with it.
        rows = [{"query": "Who?", "ground_truth": ["a"]}, {"query": "When?", "ground_truth": ["b"]}]
        (tmp_path / "truth.txt").write_text(json.dumps(rows))
    (done,) = install(tmp_path, **{what: "\n".join(entries)}).run(
        f"eval {evals} -m first_is_right@1 --json"
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["summaries"][0]["mean"] == 0.5
    for entry, said in entries.items():
        (line,) = (one for one in done.err.splitlines() if f"{entry.split(' ')[0]!r}" in one)
        assert line.partition("The plug-in ")[2]
        assert said in line


def test_what_is_built_in_asks_no_other_package_and_a_broken_retriever_is_a_sentence(tmp_path):
    (tmp_path / "evals.json").write_text(
        '[{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]'
    )
    installed = install(
        tmp_path,
        broken_format="bad_form = calipers_broken:Form",
        broken_metric="bad_metric = calipers_broken:metric",
        broken_retriever="bad = calipers_broken:make",
    )
    ours, broken = installed.run("eval evals.json -m mrr", "retrieve bad:x evals.json -o out.jsonl")
    assert ours.code == 0, ours.err
    assert "plug-in" not in ours.err
    assert broken.code == 2
    assert "The plug-in 'bad' of calipers.retrievers is left out" in broken.err
    assert "Error: The retriever 'bad:x' cannot be made" in broken.err


def test_nothing_is_declared_in_a_group_nobody_knows():
    assert not plugins.declared("calipers.nothing")
    assert not plugins.found("calipers.nothing")
