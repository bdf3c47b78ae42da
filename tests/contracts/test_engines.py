"""Every engine gives what evaluation in memory gives, whatever its partitions and their order."""

import random
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import calipers
from calipers.errors import CalipersError
from calipers.model.run import Run
from calipers.model.scores import Scores
from tests.contracts.test_elsewhere import run_elsewhere

BY_ID = "recall@5,ndcg@3,map,err@5,mrr,bpref,judged@10,first_rank,num_ret,precision@1"
BY_TEXT = "recall@1,3,ndcg@2,map,mrr"
BY_SPAN = "recall@1,mrr,span_recall@2,span_precision@3,iou@3"
POLICIES = {
    "missing": (None, "exclude", "error"),
    "unanswerable": (None, "zero", "error"),
    "unknown": (None, "ignore", "error"),
    "duplicates": (None, "error"),
    "ties": (None, "input", "error"),
    "nothing_in_common": (None, "zero"),
}
WORDS = ("a lock", "Of many", "threads", "time is", "a place", "in two", "halves", "no such")
CASES = ("id", "id", "group", "quote", "tolerant", "span", "document", "mapped")


def in_pieces(frame: pl.DataFrame, rows: int) -> Run:
    """A run that is read from a file, so many rows at a time."""
    return replace(Run.from_frame(frame), scan=lambda: frame.iter_slices(rows), in_memory=False)


def drawn_tables(draw: random.Random, kind: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A ground truth with whatever goes wrong in real ones, and a run of most of its queries."""
    names = ("q", "query-with-a-long-name-", "Q 0")
    queries = [f"{draw.choice(names)}{i}" for i in range(draw.choice((1, 2, 6, 12, 40)))]
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
    return _table(truth + truth[:2]), _table(run)


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    columns = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in columns}, infer_schema_length=None
    )


def targets(draw: random.Random, kind: str, query: str) -> list[dict[str, Any]]:
    grade = float(draw.choice((0, 1, 1, 2, 5)))
    tag = {"tag.land": f"l{len(query) % 3}"} if len(query) % 2 else {}
    about: dict[str, Any] = {"query": query, "grade": grade, **tag}
    if kind in ("quote", "tolerant"):
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
    for rank in range(draw.choice((1, 3, 8, 30))):
        i = draw.randrange(40)
        start = draw.randrange(60)
        letter = "D" if draw.random() < 0.05 else "d"
        row: dict[str, Any] = {
            "query": query,
            "item": f"{letter}{i}",
            "document": f"D{i // 2}",
            "score": draw.choice((0.5, 0.25, 1.0 + rank, 1.0 + 1e-12 * rank)),
        }
        if kind in ("quote", "tolerant"):
            row |= {"text": " ".join(draw.sample(WORDS, 3)), "document": f"d{i % 3}"}
        if kind == "span":
            row |= {"document": f"d{i % 3}", "start": start, "end": start + draw.choice((3, 30))}
        found.append(row)
    return found


def outcome(run: Any, asked: dict[str, Any]) -> Any:
    try:
        return calipers.evaluate(run=run, **asked)
    except CalipersError as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", range(32))
def test_pieces_and_machines_give_what_memory_gives(seed):
    draw = random.Random(seed)
    kind = CASES[seed % len(CASES)]
    truth, run = drawn_tables(draw, kind)
    asked: dict[str, Any] = {
        name: draw.choice((None, None, None, None, *some)) for name, some in POLICIES.items()
    }
    asked["metrics"] = {"quote": BY_TEXT, "tolerant": BY_TEXT, "span": BY_SPAN}.get(kind, BY_ID)
    asked["rel"] = draw.choice((None, 2.0))
    if kind == "document":
        asked["level"] = "document"
    elif kind in ("quote", "tolerant", "span"):
        asked["level"] = draw.choice((None, "chunk"))
        asked["match"] = "quote(min=0.7)" if kind == "tolerant" else None
    elif kind == "mapped":
        asked["map_ids"] = "prefix=doc/,case"
    else:
        asked["corpus_size"] = draw.choice((None, 100))
    asked["ground_truth"] = truth
    memory = outcome(run, asked)
    found = outcome(in_pieces(run, draw.choice((1, 7, 1000))), asked)
    assert _answer(found) == _answer(memory)
    if asked["ties"] != "input":  # rows on other machines have no order
        there = outcome(run_elsewhere(run, draw.choice((1, 2, 8, 33))), asked)
        assert _beyond_order(there) == _beyond_order(memory)


def _answer(found: Any) -> Any:
    return found.to_dict() if isinstance(found, Scores) else found


def _beyond_order(found: Any) -> Any:
    """The answer, or the kind of error, without examples: those depend on which rows come first."""
    if not isinstance(found, Scores):
        return found[0]
    answer = found.to_dict()
    del answer["settings"]["notes"], answer["audit"]["unknown_examples"], answer["sentences"]
    return answer


@pytest.mark.parametrize("place", [0, 3000])
def test_a_query_may_come_back_at_the_beginning_or_at_the_end(place):
    truth = pl.DataFrame({"query": ["a", "b", "c"], "item": ["i0", "y", "z"], "grade": [1.0] * 3})
    asked = ["a", "b", "a", *["c"] * 3000]
    run = pl.DataFrame({"query": asked[place:] + asked[:place], "score": 1.0})
    run = run.with_row_index("row").with_columns(pl.format("i{}", "row").alias("item")).drop("row")
    how = {"ground_truth": truth, "metrics": "recall@5,mrr"}
    assert outcome(in_pieces(run, 500), how).to_dict() == outcome(run, how).to_dict()
