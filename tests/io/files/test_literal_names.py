"""A file that exists is that file, whatever its name looks like."""

from pathlib import Path

import polars as pl
import pytest

import calipers
from calipers.io.files.write import WRITERS

ODD = ("z*", "e[1]", "a?", "{a,b}", "**", "~x", "$HOME", "a b", "%41", "-x", "#1", "[!a]")
ENDINGS = (".csv", ".parquet", ".arrow", ".jsonl", ".run")
TRUTH = {"q": ["a"]}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("stem", ODD)
def test_a_name_is_no_pattern(
    stem: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, items in ((f"z1{ending}", ["b"]), (f"z2{ending}", ["c"]), (stem + ending, ["a"])):
        _write(Path(name), items)
    for given in (stem + ending, Path(stem + ending), tmp_path / (stem + ending)):
        scores = calipers.evaluate(ground_truth=TRUTH, run=given, metrics="recall@1")
        assert scores["recall@1"].mean == 1.0
        assert scores.queries["retrieved"].to_list() == [1]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".jsonl"])
def test_nor_is_that_of_a_corpus(ending: str, tmp_path: Path) -> None:
    for name, text in (("z1", "one"), ("z2", "two"), ("z*", "the GIL is a lock")):
        _save(pl.DataFrame({"id": ["a"], "text": [text]}), tmp_path / f"{name}{ending}")
    record = [{"query": "q", "ground_truth": [{"quote": "GIL is a lock"}]}]
    found = calipers.resolve(record, tmp_path / f"z*{ending}")
    assert found.records[0]["ground_truth"][0]["document"] == "a"


def _write(path: Path, items: list[str]) -> None:
    if path.suffix == ".run":
        path.write_text("".join(f"q Q0 {item} 1 1.0 x\n" for item in items))
    elif path.suffix == ".jsonl":
        path.write_text(f'{{"query": "q", "retrieved": ["{items[0]}"]}}\n')
    else:
        frame = pl.DataFrame({"query": ["q"] * len(items), "item": items, "score": [1.0]})
        _save(frame, path)


def _save(frame: pl.DataFrame, path: Path) -> None:
    with path.open("wb") as file:
        WRITERS[path.suffix](frame, file)
