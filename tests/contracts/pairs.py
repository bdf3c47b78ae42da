"""Pairs with everything that real data has, and every question that is asked of a pair."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

import calipers
from calipers.model.matched import Matched

QUOTED = pl.DataFrame(
    [
        ("p", "d", "Time is a place", "de"),
        ("q", "d", "a lock of many threads", "fr"),
        ("q", "e", "no such thing", "fr"),
        ("r", "e", "in two halves", "de"),
        ("s", "d", "never returned", None),
    ],
    schema=["query", "document", "quote", "tag.country"],
    orient="row",
)
SPANS = pl.DataFrame(
    [("p", "d", 50, 60), ("q", "d", 0, 10), ("q", "e", 5, 9), ("r", "e", 0, 30)],
    schema=["query", "document", "start", "end"],
    orient="row",
)
CHUNKS = pl.DataFrame(
    [
        ("p", 1, "a", "d", 40, 70, "Tirne is a place."),
        ("q", 1, "b", "e", 0, 9, "Nothing"),
        ("q", 2, "a", "d", 0, 20, "A lock of many threads."),
        ("r", 1, "c", "e", 0, 14, "It is in two"),
        ("r", 2, "d", "e", 14, 40, "two halves"),
        ("r", 3, "c", "e", 0, 14, "It is in two"),
        ("unknown", 1, "a", "d", 40, 70, "Tirne is a place."),
    ],
    schema=["query", "rank", "item", "document", "start", "end", "text"],
    orient="row",
)


@dataclass(frozen=True)
class Tables:
    truth: pl.DataFrame
    run: pl.DataFrame


def made_tables() -> Tables:
    """Queries with everything that goes wrong in real ones, one of them far longer than others."""
    draw = random.Random(16)
    truth, run = [], []
    for q in range(120):
        judged = draw.sample(range(60), draw.choice((1, 2, 7)))
        # The highest grade is in one query alone, and some have nothing relevant.
        truth += [
            (f"q{q}", f"d{d}", float(draw.choice((0, 1, 2)) if q != 77 else 4)) for d in judged
        ]
        if q % 10 == 3:
            continue
        depth = 3000 if q == 50 else draw.choice((1, 5, 30))
        run += [
            (f"q{q}", f"d{draw.randrange(depth + 40)}", draw.choice((0.1, 0.5, 0.25, 3.0)))
            for _ in range(depth)
        ]
    run += [(f"unknown{i}", "d1", 1.0) for i in range(5)]
    truth += truth[:4]
    return Tables(
        pl.DataFrame(truth, schema=["query", "item", "grade"], orient="row"),
        pl.DataFrame(run, schema=["query", "item", "score"], orient="row"),
    )


def graded() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ids with ties, copies, judgements given twice, alternatives, tags, missing queries."""
    tables = made_tables()
    number = pl.col("query").str.slice(1).cast(pl.Int64)
    country = pl.when(number % 9 > 0).then(pl.format("land {}", number % 3))
    group = pl.when((number % 4 == 0) & (pl.col("grade") > 0)).then(pl.lit("either"))
    words = pl.lit("how ").repeat_by(number % 7).list.join("") + pl.col("query")
    truth = tables.truth.with_columns(
        group.alias("group"), words.alias("query_text"), country.alias("tag.country")
    )
    # The one long list would make most of the time, and says nothing more here.
    run = tables.run.group_by("query", maintain_order=True).head(30)
    return truth.sort(pl.all()), run.sort(pl.all())


def pairs() -> dict[str, tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]]:
    """Ground truth, run, and how they are matched; rows in the order that Spark gives them."""
    ours = {"ties": "trec"}
    return {
        "ids": (*graded(), ours),
        "quotes": (QUOTED, CHUNKS, {}),
        "tolerant quotes": (QUOTED, CHUNKS, {"match": "quote(min=0.8)", "level": "chunk"}),
        "documents": (QUOTED, CHUNKS, {"level": "document"}),
        "spans": (SPANS, CHUNKS, {}),
    }


def worse(run: pl.DataFrame) -> pl.DataFrame:
    """Another run of the same queries, which lacks some."""
    return run.filter(~pl.col("query").str.ends_with("7")).with_columns(
        pl.col("item").str.replace("d1", "e1")
    )


QUESTIONS: dict[str, Callable[[Matched], Any]] = {
    "evaluate": lambda pair: calipers.evaluate(pair),
    "coverage": lambda pair: calipers.evaluate(
        pair, metrics="span_recall@2" if pair.settings["match"].startswith("span") else "mrr"
    ),
    "sweep": lambda pair: calipers.sweep(pair),
    "diagnose": lambda pair: calipers.diagnose(pair, k=5),
    "misses": lambda pair: calipers.misses(pair, k=5),
    "floor": lambda pair: calipers.floor(pair, k=5),
    "slices": lambda pair: calipers.slices(
        calipers.evaluate(pair), "country" if pair.ground_truth.tags else "auto"
    ),
    "levels": lambda pair: calipers.levels(pair, metrics="recall@2,mrr"),
}
TWO: dict[str, Callable[[Matched, Matched], Any]] = {
    "compare": lambda one, other: calipers.compare({"one": one, "other": other}),
    "gate": lambda one, other: calipers.gate(
        other, baseline=calipers.evaluate(one, metrics="recall@5")
    ),
    "compare by clusters": lambda one, other: calipers.compare(
        {"one": one, "other": other}, cluster=next(iter(one.ground_truth.tags), None)
    ),
    "plan": lambda one, other: calipers.plan({"one": one, "other": other}, difference=0.1),
}


def as_text(answer: Any) -> str:
    """An answer as text."""
    return json.dumps(answer, sort_keys=True, default=repr)


def answers(one: Matched, other: Matched | None = None) -> dict[str, Any]:
    """The answer to every question, as plain values, or the sentence that refuses it."""
    asked: dict[str, Callable[[], Any]] = {n: partial(ask, one) for n, ask in QUESTIONS.items()}
    if other is not None:
        asked |= {name: partial(ask, one, other) for name, ask in TWO.items()}
    found = {}
    for name, ask in asked.items():
        try:
            found[name] = ask().to_dict()
        except calipers.CalipersError as error:
            found[name] = str(error)
    return found
