"""Queries measured block by block give what evaluation in memory gives, whatever the blocks."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from calipers.engines.in_blocks import evaluate_in_blocks
from calipers.errors import CalipersError
from calipers.io.formats import table as long_tables
from calipers.io.records.results import read_score_table
from calipers.match.pair import settle
from calipers.measures import parse
from calipers.questions.inputs import as_read

BY_ID = (
    "recall@5,ndcg@3,map,err@5,mrr,bpref,judged@10,first_rank,gm_map,num_ret,"
    "err@5(gains={2:7}),precision@1"
)
BY_TEXT = "recall@1,ndcg@2,mrr"
BY_SPAN = "recall@1,mrr,span_recall@2,iou@3"
POLICIES = {
    "missing": (None, "exclude", "error"),
    "unanswerable": (None, "zero", "error"),
    "unknown": (None, "ignore", "error"),
    "duplicates": (None, "error"),
    "ties": (None, "input", "error"),
    "nothing_in_common": (None, "zero"),
}
WORDS = ("a lock", "Of many", "threads", "time is", "a place", "in two", "halves", "no such")


def names(draw: random.Random, n: int) -> list[str]:
    return [f"{draw.choice(('q', 'query-with-a-long-name-', 'Q 0'))}{i}" for i in range(n)]


def drawn_tables(draw: random.Random, kind: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A ground truth with whatever goes wrong in real ones, and a run of most of its queries."""
    queries = names(draw, draw.choice((1, 2, 6, 12)))
    strangers = draw.choice(([], ["unknown1", "q00", "unknown2", "UNKNOWN"]))
    share = draw.choice((0.5, 1.0))
    asked = [query for query in queries if draw.random() < share] or queries[:1]
    truth = [row for query in queries for row in targets(draw, kind, query)]
    run = [row for query in [*asked, *strangers] for row in results(draw, kind, query)]
    order = draw.choice(("truth", "queries", "rows"))
    if order == "queries":
        place = {query: draw.random() for query in [*asked, *strangers]}
        run.sort(key=lambda row: place[row["query"]])
    if order == "rows":
        draw.shuffle(run)
    if draw.random() < 0.3:
        draw.shuffle(truth)
    truth += truth[:2]
    if kind == "id" and draw.random() < 0.3:
        # Without grades a row may name a query alone: nothing should be found for it.
        truth = [{name: row[name] for name in ("query", "item")} for row in truth]
        truth += [{"query": query, "item": None} for query in ("silent", "silent too")]
        run += results(draw, kind, "silent")
    return _table(truth), _table(run)


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    columns = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in columns}, infer_schema_length=None
    )


def targets(draw: random.Random, kind: str, query: str) -> list[dict[str, Any]]:
    grade = float(draw.choice((0, 1, 1, 2, 5)))
    tag = {"tag.land": f"l{len(query) % 3}"} if len(query) % 2 else {}
    about: dict[str, Any] = {"query": query, "grade": grade, **tag}
    if kind == "quote":
        quotes = draw.sample(WORDS, draw.choice((1, 2)))
        return [{**about, "quote": quote, "document": f"d{quote[0]}"} for quote in quotes]
    if kind == "span":
        starts = draw.sample(range(0, 60, 7), draw.choice((1, 3)))
        return [{**about, "document": f"d{at % 3}", "start": at, "end": at + 9} for at in starts]
    ids = draw.sample(range(30), draw.choice((1, 2, 6)))
    group = {"group": draw.choice(("g", None))} if kind == "group" else {}
    return [{**about, "item": f"d{i}", "document": f"D{i // 2}", **group} for i in ids]


def results(draw: random.Random, kind: str, query: str) -> list[dict[str, Any]]:
    found = []
    for rank in range(draw.choice((1, 3, 8))):
        i = draw.randrange(40)
        start = draw.randrange(60)
        letter = "D" if draw.random() < 0.05 else "d"
        row: dict[str, Any] = {
            "query": query,
            "item": f"{letter}{i}",
            "document": f"D{i // 2}",
            "score": draw.choice((0.5, 0.25, 1.0 + rank, 1.0 + 1e-12 * rank)),
        }
        if kind == "quote":
            row |= {"text": " ".join(draw.sample(WORDS, 3)), "document": f"d{i % 3}"}
        if kind == "span":
            row |= {"document": f"d{i % 3}", "start": start, "end": start + draw.choice((3, 30))}
        found.append(row)
    return found


def both_ways(
    folder: Path, truth: pl.DataFrame, run: pl.DataFrame, rows: int, **asked: Any
) -> tuple[Any, Any]:
    """What block by block gives, and what memory gives; an error is what is given, too."""
    given: Any = {"ground_truth": folder / "truth.parquet", "run": folder / "run.parquet"}
    truth.write_parquet(given["ground_truth"])
    run.write_parquet(given["run"])
    metrics, weights = parse(asked.pop("metrics")), asked.pop("weights", None)
    path = folder / "scores.parquet"

    def in_blocks():
        reading: Any = dict(given, **asked)
        both, one, matching = as_read(None, reading)
        settled = settle(both, one, matching)
        return evaluate_in_blocks(settled, metrics, path, weights=weights, rows=rows)

    def in_memory():
        return calipers.evaluate(**given, metrics=metrics, weights=weights, **asked)

    return _outcome(in_blocks), _outcome(in_memory)


def _outcome(make):
    try:
        return make()
    except CalipersError as error:
        return type(error), str(error)


def assert_same(folder: Path, blocks, memory) -> None:
    """Values, counts, fingerprints, notes and summaries, each to the last bit; or the error."""
    if isinstance(memory, tuple):
        assert blocks == memory
        assert not (folder / "scores.parquet").exists()
    else:
        assert not isinstance(blocks, tuple), blocks
        assert blocks.to_dict(per_query=False) == memory.to_dict(per_query=False)
        written = blocks.per_query
        in_order = memory.per_query.select("query").join(written, on="query", maintain_order="left")
        assert in_order.equals(memory.per_query)
        again = read_score_table(folder / "scores.parquet")
        assert again.to_dict(per_query=False) == memory.to_dict(per_query=False)
    assert not [one for one in folder.iterdir() if one.name.endswith(".part")]


CASES = ("id", "id", "group", "quote", "span", "document", "mapped")


@pytest.mark.parametrize("seed", range(28))
def test_blocks_of_any_size_are_as_all_at_once(tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    kind = CASES[seed % len(CASES)]
    monkeypatch.setattr(long_tables, "BATCH", draw.choice((2, 5, 1000)))
    asked: dict[str, Any] = {
        name: draw.choice((None, None, None, None, *some)) for name, some in POLICIES.items()
    }
    asked["metrics"] = {"quote": BY_TEXT, "span": BY_SPAN}.get(kind, BY_ID)
    asked["rel"] = draw.choice((None, 2.0))
    if kind == "document":
        asked["level"] = "document"
    elif kind in ("quote", "span"):
        asked["level"] = draw.choice((None, "chunk"))
    elif kind == "mapped":
        asked["map_ids"] = "prefix=doc/,case"
    else:
        asked["weights"] = draw.choice((None, {"recall@5": 1.0, "mrr": 2.0}))
        asked["corpus_size"] = draw.choice((None, 100))
    truth, run = drawn_tables(draw, kind)
    rows = draw.choice((1, 9, 10**6))
    assert_same(tmp_path, *both_ways(tmp_path, truth, run, rows, **asked))


@pytest.mark.parametrize("place", [0, 3000])
def test_a_query_may_come_back_at_the_beginning_or_at_the_end(tmp_path, place):
    truth = pl.DataFrame({"query": ["a", "b", "c"], "item": ["i0", "y", "z"], "grade": [1.0] * 3})
    asked = ["a", "b", "a", *["c"] * 3000]
    run = pl.DataFrame({"query": asked[place:] + asked[:place], "score": 1.0})
    run = run.with_row_index("row").with_columns(pl.format("i{}", "row").alias("item")).drop("row")
    assert_same(tmp_path, *both_ways(tmp_path, truth, run, 500, metrics="recall@5,mrr"))


def test_scores_in_a_file_answer_what_scores_in_memory_answer(tmp_path):
    truth = pl.DataFrame(
        {
            "query": [f"question {i}" + " word" * (i % 7) for i in range(60)],
            "item": "a",
            "grade": 1.0,
            "tag.land": ["x", "y", None] * 20,
        }
    )
    run = truth.select("query", item=pl.Series(["a", "b"] * 30), score=pl.lit(1.0)).reverse()
    blocks, memory = both_ways(
        tmp_path, truth, run, 7, metrics="recall@5,mrr,first_rank", weights={"mrr": 1.0}
    )
    assert len(blocks) == len(memory) == 60
    assert repr(blocks).startswith("<Scores of 60 queries in a file: recall@5 0.500, mrr 0.500")
    assert sorted(blocks.of("RR")) == sorted(memory.of("mrr"))
    for by in ("land", "length", "targets", ["land", "length"]):
        for metrics in (None, ["score", "recall@5"]):
            sliced = calipers.slices(blocks, by, metrics=metrics)
            assert sliced.to_dict() == calipers.slices(memory, by, metrics=metrics).to_dict()
    rows = sorted(blocks.to_dict()["per_query"], key=lambda row: row["query"])
    assert rows == sorted(memory.to_dict()["per_query"], key=lambda row: row["query"])
    assert sum(block.height for block in blocks.query_blocks(9)) == 60
    found = run.with_columns(item=pl.lit("a"))
    other = calipers.evaluate(ground_truth=truth, run=found, metrics="recall@5,mrr")
    compared = calipers.compare({"a": tmp_path / "scores.parquet", "b": other}, metrics="mrr")
    whole = calipers.compare({"a": memory, "b": other}, metrics="mrr")
    assert compared.to_dict() == whole.to_dict()
