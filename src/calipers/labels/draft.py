"""What is worth judging: what several retrievers put first, each thing once (depth-k pooling)."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.corpus.read import open_corpus
from calipers.io.load import load_ground_truth, load_run
from calipers.io.tables.columns import Columns
from calipers.labels.draft_result import Draft
from calipers.model.labels import Label
from calipers.model.run import Run
from calipers.questions.pooling import Pool, pool_runs, shuffled, without_judged


def draft(
    runs: Any,
    asked: Mapping[str, str] | None,
    *,
    k: int,
    seed: int,
    ground_truth: Any = None,
    corpus: Any = None,
    columns: Columns | None = None,
) -> Draft:
    """Pool the first k results of several runs into rows that somebody can judge.

    ``asked`` are the texts of the questions by id, in the order in which they are to be judged;
    None where the runs know them.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidInput(f"k is {k!r}; it must be a whole number of at least 1.")
    said = columns or Columns()
    loaded = [load_run(one, columns=said) for one in _listed(runs)]
    truth = None if ground_truth is None else load_ground_truth(ground_truth, columns=said)
    said.check_used()
    pool = pool_runs((run.frame for run in loaded), k)
    texts = asked if asked is not None else _texts(loaded, pool)
    items = {query: some for query, some in pool.items.items() if query in texts}
    if not items:
        raise InvalidInput(_nothing_in_common(texts, pool))
    left, judged = items, 0
    if truth is not None:
        left, judged = without_judged(items, truth)
    if corpus is not None:
        left = _with_texts(left, corpus)
    rows = tuple(
        replace(one, query=texts[query])
        for query in texts
        if query in left
        for one in shuffled(left[query], seed)
    )
    return Draft(
        rows=rows,
        runs=len(loaded),
        k=k,
        seed=seed,
        queries=len({row.query_id for row in rows}),
        silent=tuple(query for query in texts if query not in items),
        unknown=sum(query not in texts for query in pool.items),
        judged=judged,
        without_text=sum(row.text is None for row in rows),
    )


def _listed(runs: Any) -> list[Any]:
    if isinstance(runs, str | os.PathLike | Run | Mapping | pl.DataFrame):
        return [runs]
    # A list of records is one run; a list of anything else is a list of runs.
    if isinstance(runs, list | tuple) and runs and all(_is_record(one) for one in runs):
        return [list(runs)]
    found = list(runs) if isinstance(runs, Iterable) else [runs]
    if not found:
        raise InvalidInput("No run is given; give at least one, and better several.")
    return found


def _is_record(one: Any) -> bool:
    return isinstance(one, Mapping) and "query" in one and "retrieved" in one


def _texts(runs: list[Run], pool: Pool) -> dict[str, str]:
    """The text of every question as the runs know it."""
    known: dict[str, str] = {}
    for run in runs:
        if run.queries is None or "text" not in run.queries.columns:
            continue
        for query, text in run.queries.select("query", "text").iter_rows():
            if text is not None:
                known.setdefault(query, text)
    unknown = [query for query in pool.items if query not in known and " " not in query]
    if unknown:
        raise InvalidInput(
            f"The text of the question {unknown[0]!r:.80} is not known: the runs have ids alone, "
            "and nobody can judge an id; give the questions (--questions FILE)."
        )
    return {**known, **{query: query for query in pool.items if query not in known}}


def _with_texts(items: dict[str, list[Label]], corpus: Any) -> dict[str, list[Label]]:
    wanted = {one.item for some in items.values() for one in some if one.text is None} - {None}
    texts: dict[str, tuple[str, str | None]] = {}
    for batch in open_corpus(corpus).batches() if wanted else ():
        here = batch.filter(pl.col("id").is_in(list(wanted)))
        for row in here.iter_rows(named=True):
            texts.setdefault(row["id"], (row["text"], row["document"] if row["named"] else None))
    return {query: [_filled(one, texts) for one in some] for query, some in items.items()}


def _filled(one: Label, texts: Mapping[str, tuple[str, str | None]]) -> Label:
    found = texts.get(one.item or "")
    if one.text is not None or found is None:
        return one
    text, document = found
    return replace(one, text=text, document=one.document or document)


def _nothing_in_common(texts: Mapping[str, str], pool: Pool) -> str:
    asked = ", ".join(repr(one) for one in list(texts)[:3]) or "none"
    found = ", ".join(repr(one) for one in list(pool.items)[:3]) or "none"
    return (
        f"There is nothing to judge: the questions are {asked}, and the runs have results for "
        f"{found}; give the questions that these runs were asked."
    )
