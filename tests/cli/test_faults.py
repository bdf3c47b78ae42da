"""What ended in a foreign error, in silence or with something left behind."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import polars as pl
import pytest

import calipers
from calipers import start
from calipers.errors import InvalidInput
from tests.command import calipers_command, refused

ROOT = Path(__file__).parents[2]
POSIX = pytest.mark.skipif(os.name != "posix", reason="pipes, rights and limits of POSIX")


def record(number: int) -> dict[str, object]:
    return {
        "id": f"q{number}",
        "query": f"question {number}",
        "retrieved": ["d", "e"] if number % 3 else ["e"],
        "ground_truth": ["d"],
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(record(number)) for number in range(3000)]
    (tmp_path / "evals.jsonl").write_text("\n".join(lines[:30]))
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    return tmp_path


@pytest.mark.parametrize("level", ["3", "0", "1", "nan", "-1"])
@pytest.mark.usefixtures("here")
def test_a_level_of_confidence_that_is_none(level: str) -> None:
    for command in (("fuse", "evals.jsonl", "evals.jsonl"), ("eval", "evals.jsonl")):
        assert "The confidence level is" in refused(*command, "--confidence", level)


def test_a_series_of_polars_is_a_ranking() -> None:
    run = {"q": pl.Series(["b", "a"])}
    assert calipers.evaluate(run=run, ground_truth={"q": ["a"]}, metrics="mrr")["mrr"].mean == 0.5


def test_values_of_other_kinds_are_refused_in_sentences() -> None:
    with pytest.raises(InvalidInput, match="There is nothing to judge"):
        calipers.labels_pool("a", [])
    sentence = "no column for the query; found 5. No column there is called 'x'"
    with pytest.raises(InvalidInput, match=sentence):
        calipers.audit([{5: 0}], columns={"item": "x"})
    assert repr(calipers.Run(lambda: iter(()), stages=1)).startswith("<Run")
    missing = pytest.importorskip("pandas").NA
    with pytest.raises(InvalidInput, match="The policy ties=<NA> does not exist"):
        calipers.Policy(ties=missing)


@POSIX
@pytest.mark.parametrize(
    "words",
    [("convert", "many.jsonl", "F", "--to", "jsonl"), ("eval", "many.jsonl", "--html", "F")],
)
def test_a_pipe_whose_reader_leaves_is_named(here: Path, words: tuple[str, ...]) -> None:
    os.mkfifo(here / "F")

    def leave() -> None:
        with (here / "F").open("rb") as file:
            file.read(1)

    reader = threading.Thread(target=leave)
    reader.start()
    printed = calipers_command(*words)
    reader.join()
    assert printed.code == 2
    assert "The reader of F left before everything was written" in printed.err


@POSIX
def test_little_address_space_is_no_failed_gate(here: Path) -> None:
    pytest.importorskip("resource", reason="limits are those of Unix")
    words = f"{sys.executable} -m calipers gate evals.jsonl --require 'recall@10 >= 0.1'"
    line = ["sh", "-c", f"ulimit -v 300000; {words}"]
    done = subprocess.run(line, cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "There is not enough memory: the address space is limited to 307 MB" in done.stderr


@POSIX
@pytest.mark.parametrize("cores", [1, 64])
def test_little_address_space_is_shared_by_few_threads(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 threads of polars end in a signal below 2 GB."""
    limits = pytest.importorskip("resource", reason="limits are those of Unix")
    monkeypatch.setattr(limits, "getrlimit", lambda _: (1_600_000_000, 0))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(os, "environ", {})
    start._check_address_space()
    threads = os.environ.get("POLARS_MAX_THREADS")
    assert threads == (None if cores == 1 else "5")


@POSIX
def test_ctrl_c_while_the_command_loads_is_silent(tmp_path: Path) -> None:
    """A module that takes long to load stands for the imports."""
    (tmp_path / "click.py").write_text(
        "import time\nprint('loading', flush=True)\ntime.sleep(60)\n"
    )
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from calipers.start import program; program()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_baseline_that_is_cut_off_is_invalid_json(here: Path) -> None:
    (here / "base.json").write_text("{")
    sentence = refused("gate", "evals.jsonl", "--baseline", "base.json")
    assert "The JSON in base.json:1:2 ends in the middle of a value" in sentence
    sentence = refused("gate", "evals.jsonl", "--baseline", "many.jsonl")
    assert "many.jsonl is a run, and a baseline is a result that was measured" in sentence


@pytest.mark.parametrize("name", ["a/../../x", "a/..", "a//b", "a/./b"])
@pytest.mark.usefixtures("here")
def test_a_name_that_is_a_path_is_refused(name: str) -> None:
    said = refused("eval", "evals.jsonl", "--save", name)
    assert f"The name '{name}' cannot be used: between its slashes" in said
    assert calipers_command("eval", "evals.jsonl", "--save", "team/a..b").code == 0


@POSIX
def test_a_new_history_is_readable_by_its_owner_only(here: Path) -> None:
    assert calipers_command("eval", "evals.jsonl", "--save", "nightly").code == 0
    place = here / ".calipers" / "history.db"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    place.chmod(0o644)
    assert calipers_command("eval", "evals.jsonl", "--save", "nightly").code == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o644


def test_what_is_refused_leaves_nothing_behind(here: Path) -> None:
    assert calipers_command("eval", "evals.jsonl", "--save", "nightly", "-m", "mrr").code == 0
    before = sorted(path.name for path in here.iterdir())
    refused("history", "--html", "site", "-m", "nosuch@10")
    (here / "label.csv").write_text("query_id,query,item,text,grade\nq,Who?,a,Anna,\n")
    words = ("labels", "judge", "label.csv", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
    refused(*words, "-o", "out.jsonl", "--workers", "0", "--cache-folder", "cache/inner")
    refused(*words, "-o", "out.jsonl", "--retries", "0", "--cache-folder", "cache/inner")
    (here / "label.csv").unlink()
    assert sorted(path.name for path in here.iterdir()) == before


def test_no_cell_of_a_table_steers_a_terminal(here: Path) -> None:
    rows = [{**record(number), "tags": {"type": "a\x1b[31mb\u202e"}} for number in range(9)]
    (here / "evals.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for form in ("csv", "markdown"):
        printed = calipers_command("eval", "evals.jsonl", "--by", "type", "--as", form)
        assert printed.code == 0, printed.err
        assert not {"\x1b", "\u202e"} & set(printed.out)
    assert (
        "a\ufffd[31mb" in calipers_command("eval", "evals.jsonl", "--by", "type", "--as", "csv").out
    )


def test_spark_is_bound_to_the_pandas_that_it_takes() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert any(one.startswith("pandas") and one.endswith("<3") for one in extras["spark"])
