"""calipers eval --save: what is kept, and that nothing is lost where keeping fails."""

import json
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from calipers.store.listing import evaluations
from calipers.store.load import load_retrieved, load_scores
from calipers.store.open import open_store
from tests.command import CALIPERS, calipers_command, refused
from tests.systems import tagged

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def data(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CALIPERS_STORE", raising=False)
    path = tmp_path / "evals.jsonl"
    lines = [json.dumps(one) for one in tagged({"a": [1, None, 2], "b": [3, 4, 1]})]
    path.write_text("\n".join(lines))
    return path


def test_an_evaluation_is_kept_where_it_is_looked_for(data):
    printed = calipers_command("eval", data, "--save", "nightly", "--json")
    assert printed.code == 0
    (one,) = evaluations(open_store())
    assert printed.err == f"Saved as nightly (@{one.short}) in .calipers/history.db.\n"
    assert load_scores(open_store(), one).to_dict() == json.loads(printed.out)
    assert load_retrieved(open_store(), one).run is not None
    assert Path(".calipers/.gitignore").read_text() == "*\n"


def test_it_is_kept_and_drawn_although_the_reader_of_the_table_has_left(data):
    words = [*CALIPERS, "eval", str(data), "--save", "nightly", "--html", "k.html"]
    begun = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    begun.stdout.close()
    assert begun.wait(60) == 141
    assert Path("k.html").read_text().startswith("<!doctype html>")
    assert [one.name for one in evaluations(open_store())] == ["nightly"]


def test_the_corpus_is_remembered(data):
    corpus = data.parent / "corpus.jsonl"
    corpus.write_text('{"id": "target", "text": "found"}\n')
    for text in ("found", "changed"):
        corpus.write_text(json.dumps({"id": "target", "text": text}) + "\n")
        done = calipers_command("eval", data, "--save", "n", "--corpus", corpus, "--store", "h.db")
        assert done.code == 0, done.err
    newest, _ = evaluations(open_store("h.db"))
    assert newest.changed == ("corpus",)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--save", "a b"], "The name 'a b' cannot be used"),
        (["--save", "@x"], "The name '@x' cannot be used"),
        (["--save", "n", "--level", "all"], "--save needs one result"),
    ],
)
def test_what_cannot_be_kept_is_said_before_or_after_but_always(data, options, said):
    printed = calipers_command("eval", data, *options)
    assert printed.code == 2
    assert said in " ".join(printed.err.split())
    assert not Path(".calipers").exists()


@pytest.mark.parametrize("kind", ["foreign file", "no folder", "locked"])
def test_the_evaluation_is_printed_although_it_cannot_be_kept(data, kind, monkeypatch):
    monkeypatch.setattr("calipers.store.open.PATIENCE_SECONDS", 0.1)
    place = data.parent / ("none/h.db" if kind == "no folder" else "h.db")
    saving = ("eval", data, "--save", "n", "--store", place)
    with ExitStack() as held:
        if kind == "foreign file":
            place.write_text("no database")
        elif kind == "locked":
            calipers_command(*saving)
            holder = held.enter_context(closing(sqlite3.connect(place, isolation_level=None)))
            holder.execute("BEGIN EXCLUSIVE")
        printed = calipers_command(*saving)
    assert printed.code == 2
    assert "recall" in printed.out
    assert printed.err.startswith("Error: ")


def test_saved_evaluations_stand_wherever_a_file_of_results_does(data):
    for _ in range(2):
        calipers_command("eval", data, "--save", "nightly", "-m", "recall@5,mrr")
    same = calipers_command("compare", "@nightly~1", "@nightly").out
    assert same.startswith("~ @nightly~1 and @nightly score the same on all 6 queries.")
    compared = calipers_command("compare", "@nightly~1", "@nightly", "--json")
    assert json.loads(compared.out)["systems"] == ["@nightly~1", "@nightly"]
    gated = calipers_command("gate", data, "--baseline", "@nightly", "--allow", "0.1", "--explain")
    assert gated.code == 0, gated.err
    assert "The baseline is @nightly, saved on" in " ".join(gated.out.split())
    assert calipers_command("gate", "@nightly", "--require", "mrr >= 0.1").code == 0
    assert calipers_command("misses", "@nightly").code == 0
    again = calipers_command("eval", "@nightly", "-m", "recall@5,mrr", "--json")
    shown = json.loads(calipers_command("history", "show", "@nightly", "--json").out)
    assert json.loads(again.out)["per_query"] == shown["per_query"]
    assert "Did you mean @nightly?" in refused("compare", "@nigthly", data)


@pytest.mark.parametrize("judged", [False, True], ids=["targets", "with grades of 0"])
def test_what_is_not_used_costs_nothing(data, judged):
    data = str(EXAMPLES / "python_questions.json") if judged else data
    code = (
        "import sys; sys.argv = ['calipers', 'eval', sys.argv[1]]\n"
        "from calipers.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, data], capture_output=True, timeout=120)
    # Of numpy what polars takes arrays with.
    unused = {"sqlalchemy", "numpy.ma"}
    assert not unused & {*done.stdout.decode().splitlines()[-1].split()}, done.stderr
