"""Pairs with everything that real data has, and every question that is asked of a pair."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl

import calipers
from calipers.model.matched import Matched
from tests.contracts.test_engines import made_tables

QUOTED = pl.DataFrame(
    {
        "query": ["p", "q", "q", "r", "s"],
        "document": ["d", "d", "e", "e", "d"],
        "quote": [
            "Time is a place",
            "a lock of many threads",
            "no such thing",
            "in two halves",
            "never returned",
        ],
        "tag.country": ["de", "fr", "fr", "de", None],
    }
)
SPANS = pl.DataFrame(
    {
        "query": ["p", "q", "q", "r"],
        "document": ["d", "d", "e", "e"],
        "start": [50, 0, 5, 0],
        "end": [60, 10, 9, 30],
    }
)
CHUNKS = pl.DataFrame(
    {
        "query": ["p", "q", "q", "r", "r", "r", "unknown"],
        "rank": [1, 1, 2, 1, 2, 3, 1],
        "item": ["a", "b", "a", "c", "d", "c", "a"],
        "document": ["d", "e", "d", "e", "e", "e", "d"],
        "start": [40, 0, 0, 0, 14, 0, 40],
        "end": [70, 9, 20, 14, 40, 14, 70],
        "text": [
            "Tirne is a place.",
            "Nothing",
            "A lock of many threads.",
            "It is in two",
            "two halves",
            "It is in two",
            "Tirne is a place.",
        ],
    }
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
    "diagnose both": lambda one, other: calipers.diagnose(other, before=one),
}


def as_text(answer: Any) -> str:
    """An answer as text, without the note that several files are one run."""
    text = json.dumps(answer, sort_keys=True, default=repr)
    return re.sub(r'(, )?"[^"]* is read as one: \d+ files?\."', "", text).replace("[, ", "[")


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
