"""Every question over a run, in blocks of any size and from any place: the same answer.

What a question says of results it asks of one block of whole queries at a time, so the size of
the blocks, the order of the run and the files that it stands in must not show.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from tests.io.files.test_remote import _put, store  # noqa: F401 - a fixture

DEPTH = 6
QUERIES = 14
Ask = Callable[..., Any]


def made(kind: str) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Queries with tags, groups, grades, ties, repetitions, empty lists, and some not in the run.

    Some queries of the run are unknown, and it has them in another order than the ground truth.
    """
    draw = random.Random(30)
    words = [f"word{n}" for n in range(60)]
    chunks: dict[str, dict[str, Any]] = {
        f"d{n // 4}#{n}": {
            "text": " ".join(draw.sample(words, 12)),
            "document": f"d{n // 4}",
            "start": 100 * n,
            "end": 100 * n + 100,
        }
        for n in range(48)
    }
    truth, rows = [], []
    for q in range(QUERIES):
        wanted = draw.sample(sorted(chunks), draw.choice((1, 2, 3)))
        targets: list[dict[str, Any]] = []
        for at, one in enumerate(wanted):
            grade = draw.choice((0, 1, 1, 2)) if kind == "id" else 1
            group = {"group": "either"} if at < 2 and q % 5 == 0 else {}
            place = {name: chunks[one][name] for name in ("document", "start", "end")}
            what: dict[str, Any] = {"id": one}
            if kind == "quote":
                what = {"quote": " ".join(str(chunks[one]["text"]).split()[2:7])}
            if kind == "span":
                what = {**place, "start": place["start"] + 10, "end": place["start"] + 60}
            targets.append({**what, "grade": grade, **group})
        if q == 7:
            targets = []
        tags = {"land": "north" if q % 3 else "south"}
        truth.append({"id": f"q{q}", "query": f"What is {q}?", "tags": tags, "targets": targets})
        if q in (11, 12):
            continue
        found = [*draw.sample(wanted, 1), *draw.choices(sorted(chunks), k=DEPTH - 1)]
        draw.shuffle(found)
        for one in found[: draw.choice((2, DEPTH, DEPTH))]:
            score = draw.choice((0.9, 0.5, 0.25))
            rows.append({"query": f"q{q}", "item": one, "score": score, **chunks[one]})
    rows += [{**row, "query": "unknown"} for row in rows[:2]]
    in_order = [{"ground_truth": one.pop("targets"), **one} for one in truth]
    names = sorted({row["query"] for row in rows}, key=lambda name: draw.random())
    return in_order, pl.DataFrame(sorted(rows, key=lambda row: names.index(row["query"])))


def without_place(answer: Any, *places: Path | str) -> str:
    """The answer as JSON, without the names of files."""
    text = json.dumps(answer.to_dict(), sort_keys=True)
    for place in places:
        text = text.replace(str(place), "RUN")
    text = re.sub(r'(, )?"RUN[^"]* is read as one: \d+ files\."', "", text)
    return text.replace("[, ", "[")


QUESTIONS: dict[str, Ask] = {
    "eval": lambda **given: calipers.evaluate(k=[1, 3], **given),
    "sweep": lambda **given: calipers.sweep(tokens=30, price=2.0, **given),
    "diagnose": lambda **given: calipers.diagnose(k=4, price=1.0, **given),
    "misses": lambda **given: calipers.misses(k=3, **given),
    "floor": lambda **given: calipers.floor(k=3, **given),
    "levels": lambda **given: calipers.levels(at="chunk,document", k=[3], **given),
    "gate": lambda **given: calipers.gate(
        require=["recall@3 >= 0.1", "tokens_mean@3 <= 1000"], **given
    ),
}
LOOK_INTO_TEXTS = ("sweep", "diagnose", "misses")
"""What is asked of quotes and spans, too."""


@pytest.fixture(scope="module", params=("id", "quote", "span"))
def data(request: Any, tmp_path_factory: Any) -> tuple[Path, pl.DataFrame, str]:
    folder = tmp_path_factory.mktemp(request.param)
    truth, run = made(request.param)
    (folder / "truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in truth))
    run.write_parquet(folder / "run.parquet")
    mixed = run.sample(fraction=1.0, shuffle=True, seed=3)
    (folder / "many").mkdir()
    for start in range(0, run.height, 17):
        mixed[start : start + 17].write_parquet(folder / "many" / f"part-{start:04}.parquet")
    return folder, run, request.param


def answers(folder: Path, run: Path | str, kind: str) -> Iterator[tuple[str, str]]:
    """What every question says; a question that cannot be asked says why."""
    for name, ask in QUESTIONS.items():
        if kind != "id" and name not in LOOK_INTO_TEXTS:
            continue
        answer = ask(ground_truth=folder / "truth.jsonl", run=run)
        yield name, without_place(answer, run, folder)


@pytest.fixture(scope="module")
def whole(data: Any) -> dict[str, str]:
    folder, _, kind = data
    return dict(answers(folder, folder / "run.parquet", kind))


def test_blocks_of_one_query(data: Any, whole: Any, monkeypatch: Any) -> None:
    """Larger ones are those of the recorded answers."""
    folder, _, kind = data
    monkeypatch.setattr("calipers.questions.shown_results.ROWS_AT_ONCE", 1)
    monkeypatch.setattr("calipers.io.tables.scan.SOME_ROWS", 1)
    monkeypatch.setattr("calipers.io.tables.scan.STRETCH", 1)
    monkeypatch.setattr("calipers.questions.inputs.MOST_KEPT", 0)
    assert dict(answers(folder, folder / "run.parquet", kind)) == whole


def test_rows_in_any_order_and_many_files(data: Any, whole: Any, monkeypatch: Any) -> None:
    folder, _, kind = data
    monkeypatch.setattr("calipers.questions.shown_results.ROWS_AT_ONCE", 5)
    assert dict(answers(folder, folder / "many", kind)) == whole


def test_an_object_store(data: Any, whole: Any, store: str, monkeypatch: Any) -> None:  # noqa: F811
    folder, _, kind = data
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", store)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    for part in sorted((folder / "many").iterdir()):
        _put(store, f"bucket/{kind}/{part.name}", part.read_bytes())
    assert dict(answers(folder, f"s3://bucket/{kind}/", kind)) == whole
