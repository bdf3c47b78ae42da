"""--engine spark: what is handed to operations, without Spark; tests/engines/spark has it."""

from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

from tests.command import calipers_command, refused
from tests.contracts.pairs import graded, worse

PAIR = ["-g", "{0}/truth.parquet", "-r", "{0}/run"]
ASKED = {
    "eval": [*PAIR, "-m", "recall@5,mrr", "--cluster", "country"],
    "sweep": [*PAIR, "-k", "1,5"],
    "diagnose": [*PAIR, "-k", "5"],
    "misses": [*PAIR, "-k", "5", "--candidates", "{0}/other"],
    "gate": [*PAIR, "--require", "recall@5 >= 0.01"],
    "compare": ["{0}/run", "one={0}/other", *PAIR[:2], "-m", "recall@5"],
    "plan": ["{0}/run", "{0}/other", *PAIR[:2], "--queries", "500"],
}
"""A command for each kind of setting that names a run."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("spark")
    truth, run = graded()
    truth.write_parquet(made / "truth.parquet")
    for name, rows in (("run", run), ("other", worse(run))):
        (made / name).mkdir()
        rows.write_parquet(made / name / "part-0.parquet")
    return made


@pytest.fixture
def read_there(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that Spark would read."""
    paths: list[str] = []

    def frame(_: object, path: str) -> pl.DataFrame:
        paths.append(Path(path).name)
        return pl.read_parquet(f"{path}/*.parquet")

    place = "calipers.engines.spark"
    monkeypatch.setattr(f"{place}.session", lambda master: nullcontext(master))
    monkeypatch.setattr(f"{place}.run_frame", frame)
    return paths


@pytest.mark.parametrize("command", ASKED)
def test_every_run_is_read_there(command: str, folder: Path, read_there: list[str]) -> None:
    asked = [one.format(folder) for one in ASKED[command]]
    done = calipers_command(command, *asked, "--json", "--engine", "spark")
    assert done.code == 0, done.err
    two = any(one.endswith("/other") for one in asked)
    assert sorted(read_there) == (["other", "run"] if two else ["run"])


@pytest.mark.parametrize("command", ["sweep", "misses", "gate"])
def test_what_spark_cannot_have(command: str, folder: Path, read_there: list[str]) -> None:
    pair = [one.format(folder) for one in PAIR]
    assert "--master is given without --engine spark" in refused(
        command, *pair, "--master", "local"
    )
    there = [command, *pair, "--engine", "spark"]
    assert "--memory does not work with --engine spark" in refused(*there, "--memory", "2GB")
    asked = refused(command, "--engine", "spark", folder / "truth.parquet")
    assert "DATA does not work with --engine spark" in asked
    assert "both --ground-truth and --run are needed" in refused(command, "--engine", "spark")
    assert read_there == []
