"""Every setting of ``calipers eval`` in every way: the effect it has in memory, or a sentence.

The settings are those of the command: a new one is found here without being named, and fails
until it has an example below.
"""

import json
import random
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calipers.cli.eval import eval as command
from tests.command import Printed, calipers_command
from tests.questions.samples import write_lines
from tests.workbook import write_workbook

PAIR = ("-g", "truth.jsonl", "-r", "run.parquet")
EXAMPLES: dict[str, tuple[str, ...]] = {
    "data": ("evals.jsonl",),
    "ground_truth": ("-g", "other_truth.jsonl"),
    "run": ("-r", "other_run.parquet"),
    "retriever": ("--retriever", "search.py:search"),
    "ask_for": ("--retriever", "search.py:search", "-k", "3", "--ask-for", "4"),
    "workers": ("--retriever", "search.py:search", "--workers", "2"),
    "metrics": ("-m", "recall@3,mrr"),
    "k": ("-k", "3"),
    "where": ("--where", "land=north"),
    "min_score": ("--min-score", "0.5"),
    "rel": ("--rel", "2"),
    "match": ("--match", "id"),
    "level": ("--level", "document"),
    "map_ids": ("--map-ids", "case"),
    "columns": ("--column", "document=document"),
    "sheet": ("-g", "truth.xlsx", "--sheet", "Data"),
    "grades": ("--column", "document=document", "--grades", "3=5"),
    "distance": ("--column", "document=document", "--distance", "score"),
    "like": ("--like", "trec_eval"),
    "missing": ("--missing", "exclude"),
    "unanswerable": ("--unanswerable", "zero"),
    "judged": ("--judged", "complete"),
    "duplicates": ("--duplicates", "error"),
    "unknown": ("--unknown", "error"),
    "errors": ("--errors", "exclude"),
    "ties": ("--ties", "input"),
    "nothing_in_common": ("--nothing-in-common", "zero"),
    "calls": ("--join-calls", "last"),
    "store": ("--store", "history.db"),
    "corpus_size": ("-m", "tn@3,mrr", "--corpus-size", "100"),
    "memory": ("--memory", "2GB"),
    "confidence": ("--confidence", "0.8"),
    "cluster": ("--cluster", "land"),
    "weight_by": ("--weight-by", "asked"),
    "per_query": ("--per-query", "scores.parquet"),
    "by": ("--by", "land", "--by", "auto"),
    "primary": ("--by", "land", "--primary", "mrr"),
    "corrected_by": ("--corrected-by", "truth.jsonl", "--sampled", "all"),
    "sampled": ("--corrected-by", "truth.jsonl", "--sampled", "at-random"),
    "html": ("--html", "page.html"),
    "markdown": ("--markdown", "short.md"),
    "corpus": ("--corpus", "corpus.jsonl"),
    "price": ("--price", "0.5"),
    "save": ("--save", "night", "--store", "history.db"),
    "as_json": (),
    "output_format": ("--as", "csv"),
    "quiet": ("--quiet",),
    "explain": ("--explain",),
    "config": ("--config", "settings.toml"),
}
"""What a person would write for each setting, together with what it cannot be without."""
AS_TEXT = ("output_format", "quiet", "explain")
"""Settings that show nothing in JSON."""
THE_WAY_ITSELF = {
    "levels": ("level",),
    "page": ("html",),
}
"""Settings that lead to a way: there is nothing to compare."""
FILES = ("scores.parquet", "page.html", "short.md", "history.db", "logged")


def made_records() -> list[dict[str, Any]]:
    """Queries with tags, grades, documents, ties, repetitions, and some without results."""
    draw = random.Random(24)
    chunks = [f"d{n // 4}#{n}" for n in range(24)]
    records = []
    for q in range(30):
        wanted = draw.sample(chunks, draw.choice((1, 2, 3)))
        grades = [0] if q == 7 else [1, 2, 3]
        found = [] if q == 11 else draw.sample(chunks, 8)
        scores = sorted((draw.choice((0.9, 0.8, 0.5, 0.25)) for _ in found), reverse=True)
        records.append(
            {
                "id": f"q{q}",
                "query": f"{'What is the number' if q % 2 else 'Was ist die Nummer'} {q}?",
                "tags": {"land": "north" if q % 3 else "south", "asked": f"{1 + q % 4}"},
                "ground_truth": [
                    {"id": one, "document": one[:2], "grade": draw.choice(grades)} for one in wanted
                ],
                "retrieved": [
                    {"id": one, "document": one[:2], "score": score}
                    for one, score in zip(found, scores, strict=True)
                ],
            }
        )
    return records


def write_run(path: Path, records: list[dict[str, Any]]) -> None:
    rows = [{"query": one["id"], **item} for one in records for item in one["retrieved"]]
    pl.DataFrame(rows).rename({"id": "item"}).write_parquet(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("ways")
    records = made_records()
    truth = [{k: v for k, v in one.items() if k != "retrieved"} for one in records]
    write_lines(here / "evals.jsonl", records)
    write_lines(here / "truth.jsonl", truth)
    write_lines(here / "other_truth.jsonl", truth[:20])
    rows = [
        [one["id"], target["id"], target["document"], target["grade"]]
        for one in truth
        for target in one["ground_truth"]
    ]
    header = ["query", "item", "document", "grade"]
    write_workbook(here / "truth.xlsx", {"Cover": [["Ours"]], "Data": [header, *rows]})
    write_run(here / "run.parquet", records)
    write_run(here / "other_run.parquet", records[:25])
    write_lines(here / "corpus.jsonl", [{"id": f"d{n // 4}#{n}"} for n in range(24)])
    (here / "settings.toml").write_text('metrics = "recall@3,mrr"\n')
    (here / "search.py").write_text(
        "def search(query, k):\n"
        "    first = sum(map(ord, query)) % 24\n"
        "    return [f'd{n % 24 // 4}#{n % 24}' for n in range(first, first + k)]\n"
    )
    return here


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    take_away(FILES)


def test_every_setting_has_an_example_here() -> None:
    settings = {str(one.name) for one in command.params} - {"help_all"}
    lacking, stale = settings - EXAMPLES.keys(), EXAMPLES.keys() - settings
    assert not lacking, f"no example of {', '.join(sorted(lacking))}"
    assert not stale, f"{', '.join(sorted(stale))}: not a setting of calipers eval"


def arguments_of(name: str) -> list[str]:
    """A whole command for the example of a setting, or without any for an empty name."""
    example = EXAMPLES.get(name, ())
    inputs: list[str] = []
    if name != "data":
        inputs += () if "-g" in example else PAIR[:2]
        inputs += () if {"-r", "--retriever"} & {*example} else PAIR[2:]
    form = () if name in AS_TEXT else ("--json",)
    return ["eval", *inputs, *example, *form]


@cache
def in_memory(name: str) -> tuple[Printed, frozenset[str]]:
    """What is printed in memory, and which files are written."""
    printed = calipers_command(*arguments_of(name))
    return printed, frozenset(written())


def take_away(files: Iterable[str]) -> None:
    for name in files:
        shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink(missing_ok=True)


def written() -> list[str]:
    return [name for name in FILES if Path(name).exists()]


def in_a_way(way: str, name: str) -> Printed:
    further = {"levels": ("--level", "all"), "page": ("--html", "way.html")}
    return calipers_command(*arguments_of(name), *further[way])


def comparable(printed: str, way: str) -> Any:
    """What a way must have in common with memory."""
    if not printed.startswith("{"):
        return printed
    found = json.loads(printed)
    if way == "levels":
        found = found.get("levels", {}).get("evidence", found)
        # Ties and whole corpora are noted of one result, not of several levels.
        found["settings"].pop("notes")
        found.pop("sentences")
    found["per_query"].sort(key=lambda row: row["query"])
    return found


def cases() -> list[tuple[str, str]]:
    """Every setting and way."""
    settings = {way: EXAMPLES.keys() - {*itself} for way, itself in THE_WAY_ITSELF.items()}
    # By setting: what it does in memory is asked once for all ways.
    return [(name, way) for name in EXAMPLES for way in settings if name in settings[way]]


@pytest.mark.parametrize(("name", "way"), cases())
def test_the_same_effect_or_a_sentence(
    name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, files = in_memory(name)
    assert here.code == 0, here.err
    take_away(files)
    if way == "page" and not files & {"page.html", "short.md", "logged"} and len(name) % 2:
        # Half of the pages are enough to see that one can be drawn; it takes longest.
        monkeypatch.setattr("calipers.questions.evaluate.rule.report_of", lambda *_: None)
        monkeypatch.setattr("calipers.cli.eval.write_page", lambda *_: None)
    there = in_a_way(way, name)
    assert "Traceback" not in there.err
    if there.code == 2:
        named = [name, name.upper(), *(one for one in EXAMPLES[name] if one.startswith("-"))]
        assert any(one in there.err for one in named), there.err
        return
    assert (there.code, here.code) == (0, 0), (there.err, here.err)
    assert files <= {*written()}
    if way == "levels" and name in AS_TEXT:
        plain = in_a_way(way, "")
        assert there.out != plain.out
    else:
        assert comparable(there.out, way) == comparable(here.out, way)
