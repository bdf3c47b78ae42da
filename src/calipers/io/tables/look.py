"""What data means for one of its queries, in a line: what it should find, and what it returned."""

from collections.abc import Iterable, Sequence

import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset
from calipers.model.run import Run

_LOOKED_AT = 3
"""Ids that are shown of the targets and of the results of a query."""


def look_at(dataset: Dataset) -> str:
    """What was read, for its first query that says something; empty if none does."""
    looks = (look_for(dataset, query) for query in queries_of(dataset))
    return next(filter(None, looks), "")


def queries_of(dataset: Dataset) -> list[str]:
    """The first queries of a dataset."""
    truth = dataset.ground_truth
    run = dataset.run
    if truth is not None:
        return truth.queries["query"].head(20).to_list()
    return (
        []
        if run is None
        else run.frame["query"].unique(maintain_order=True).head(20).to_list()
    )


def look_for(dataset: Dataset, query: str) -> str:
    """What a query should find and what it returned: ``q1 "How …": should find a; returned b``."""
    own = queries_of(dataset)
    query = query if query in own or not own else own[0]
    parts = []
    if dataset.ground_truth is not None:
        wanted = _wanted(dataset.ground_truth, query)
        parts.append(
            f"should find {_listed(wanted)}" if wanted else "should find nothing"
        )
    if dataset.run is not None:
        returned = _returned(dataset.run, query)
        parts.append(f"returned {_listed(returned)}" if returned else "returned nothing")
    return f"{_called(dataset.ground_truth, query)}: {'; '.join(parts)}"


def _called(truth: GroundTruth | None, query: str) -> str:
    """The name of a query, and its text where that is another."""
    texts: Iterable[str | None] = (
        [] if truth is None else truth.queries.filter(pl.col("query") == query)["text"]
    )
    text = next((text for text in texts if text and text != query), None)
    if text is None:
        return _short(query, quoted=" " in query or query.endswith("?"))
    return f"{_short(query)} {_short(text, quoted=True)}"


def _wanted(truth: GroundTruth, query: str) -> list[str]:
    rows = truth.targets.filter((pl.col("query") == query) & (pl.col("grade") > 0))
    named = ("item", "quote", "document")
    graded = not (rows["grade"] == 1).all()
    shown = []
    for row in rows.iter_rows(named=True):
        called = next((str(row[name]) for name in named if row[name] is not None), "")
        shown.append(f"{called} ({row['grade']:g})" if graded else called)
    return shown


def _returned(run: Run, query: str) -> list[str]:
    rows = run.frame.filter(pl.col("query") == query)
    named = [name for name in ("item", "text", "document") if name in rows.columns]
    return [
        next((str(row[name]) for name in named if row[name] is not None), "")
        for row in rows.iter_rows(named=True)
    ]


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(
        _short(value, quoted=len(value.split()) > 2) for value in values[:_LOOKED_AT]
    )
    return f"{shown}, …" if len(values) > _LOOKED_AT else shown


def _short(text: str, *, quoted: bool = False) -> str:
    """A text on one line, cut after a few words."""
    line = " ".join(text.split())
    cut = f"{line[:29].rstrip()}…" if len(line) > 30 else line
    return f'"{cut}"' if quoted else cut
