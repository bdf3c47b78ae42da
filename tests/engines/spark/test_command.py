"""--engine spark of every command that measures runs."""

import msgspec
import polars as pl
import pytest

from tests.cli.test_spark import ASKED
from tests.command import calipers_command, refused
from tests.contracts.pairs import as_text, made_tables, worse
from tests.engines.spark_frames import FILTERS

pytestmark = FILTERS


@pytest.fixture
def files(tmp_path):
    tables = made_tables()
    truth = tables.truth.unique("query", keep="first", maintain_order=True)
    records = [
        {"query": query, "ground_truth": {item: grade}, "tags": {"half": str(i % 2), "group": "x"}}
        for i, (query, item, grade) in enumerate(truth.rows())
    ]
    records.append({"query": "silent", "ground_truth": {}, "tags": {"half": "0"}})
    (tmp_path / "truth.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, records)))
    (tmp_path / "run").mkdir()
    run = tables.run.sort(pl.all())
    for i in range(3):
        run[i * 1400 :][:1400].write_parquet(tmp_path / "run" / f"part-{i}.parquet")
    (tmp_path / "other").mkdir()
    worse(run).write_parquet(tmp_path / "other" / "part-0.parquet")
    return tmp_path


def test_the_command_prints_what_it_prints_here(session, files):
    common = [
        "eval",
        "-g",
        files / "truth.jsonl",
        "-r",
        files / "run",
        "--ties",
        "trec",
        "--by",
        "half",
        "-m",
        "recall@5,mrr",
    ]
    here, there = (
        calipers_command(*common, "--json", "--per-query", files / f"{name}.parquet", *where)
        for name, where in (("here", []), ("there", ["--engine", "spark"]))
    )
    assert (there.code, here.code) == (0, 0), there.err
    ours, theirs = msgspec.json.decode(there.out), msgspec.json.decode(here.out)
    for part in ("summaries", "slices", "fingerprints", "metrics", "policy", "per_query"):
        assert ours[part] == theirs[part]
    kept = [pl.read_parquet(files / f"{name}.parquet") for name in ("here", "there")]
    assert kept[0].equals(kept[1])


@pytest.mark.parametrize("command", ["diagnose", "compare"])
def test_other_commands_print_what_they_print_here(command, session, files):
    asked = [one.format(files).replace("truth.parquet", "truth.jsonl") for one in ASKED[command]]
    here, there = (
        calipers_command(command, *asked, "--ties", "trec", "--json", *where)
        for where in ([], ["--engine", "spark"])
    )
    assert (there.code, here.code) == (0, 0), (there.err, here.err)
    ours, theirs = (as_text(msgspec.json.decode(one.out)) for one in (there, here))
    assert ours == theirs


def test_what_the_command_cannot_do_on_spark(session, files):
    pair = ["-g", files / "truth.jsonl", "-r", files / "run", "--engine", "spark"]
    for command in ("sweep", "eval"):
        assert "--memory does not work with --engine spark" in refused(
            command, *pair, "--memory", "2GB"
        )
        assert "Spark cannot do this" in refused(
            command, *pair[:3], files / "none", "--engine", "spark"
        )
    assert "both --ground-truth and --run" in refused("misses", "--engine", "spark")
    assert "--master is given without" in refused("gate", *pair[:4], "--master", "local")
