"""What a ground truth says already, put before judges once more."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.model.run import Run
from calipers.questions.pooling import shuffled


def with_targets(
    rows: Sequence[Label],
    truth: GroundTruth,
    runs: Iterable[Run],
    asked: Mapping[str, str],
    *,
    queries: Collection[str] | None,
    seed: int,
) -> list[Label]:
    """The rows and what the ground truth expects, in an order that tells nothing.

    Without this only what was returned could be judged again, and a target that no run returns
    could never be put right. A span whose text no run knows is left out: there is nothing to read.

    >>> truth = GroundTruth.from_targets(pl.DataFrame({"query": ["q"], "item": ["a"]}))
    >>> rows = [Label("q", "Why?", item="b")]
    >>> found = with_targets(rows, truth, [], {"q": "Why?"}, queries=None, seed=0)
    >>> sorted(one.item for one in found)
    ['a', 'b']
    """
    targets = truth.targets
    if queries is not None:
        targets = targets.filter(pl.col("query").is_in(list(queries)))
    found: dict[str, dict[str, Label]] = {}
    for one in rows:
        found.setdefault(one.query_id, {})[one.pair[1]] = one
    for one in _with_texts(targets, list(runs)):
        if one.query_id in asked:
            known = found.setdefault(one.query_id, {})
            known.setdefault(one.pair[1], replace(one, query=asked[one.query_id]))
    return [
        one for query in asked if query in found for one in shuffled(found[query].values(), seed)
    ]


def _with_texts(targets: pl.DataFrame, runs: Sequence[Run]) -> Iterator[Label]:
    items = targets["item"].drop_nulls().unique().implode()
    documents = targets.filter(pl.col("start").is_not_null())["document"].unique().implode()
    texts: dict[str, str] = {}
    chunks: dict[str, list[tuple[int, int, str]]] = {}
    for run in runs:
        have = run.frame.columns
        if {"item", "text"} <= set(have):
            some = run.frame.filter(pl.col("item").is_in(items)).select("item", "text")
            texts.update(some.drop_nulls().unique("item").iter_rows())
        if {"document", "start", "end", "text"} <= set(have):
            some = run.frame.filter(pl.col("document").is_in(documents))
            some = some.select("document", "start", "end", "text").drop_nulls().unique()
            for document, start, end, text in some.iter_rows():
                chunks.setdefault(document, []).append((start, end, text))
    for row in targets.iter_rows(named=True):
        one = Label(
            row["query"],
            item=row["item"],
            document=row["document"],
            start=row["start"],
            end=row["end"],
            text=row["quote"] or texts.get(row["item"] or ""),
        )
        if one.start is not None and one.end is not None and one.text is None:
            one = replace(one, text=_cut_out(one, chunks.get(one.document or "", ())))
        if one.item is not None or one.text is not None:
            yield one


def _cut_out(one: Label, chunks: Iterable[tuple[int, int, str]]) -> str | None:
    """The text of a span, from a chunk that holds all of it."""
    first, last = one.start or 0, one.end or 0
    for start, end, text in chunks:
        if start <= first and last <= end and len(text) == end - start:
            return text[first - start : last - start]
    return None
