"""What is worth judging: what several retrievers put first, each thing once (depth-k pooling)."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.corpus.read import open_corpus
from calipers.io.one_side import load_ground_truth, load_run
from calipers.io.tables.columns import Columns
from calipers.labels.draft_result import Draft
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.model.run import Run
from calipers.text import normalise

FACTS = ("item", "text", "document", "start", "end")


@dataclass(eq=False)
class Pool:
    """The items of each question that came first in any run."""

    items: dict[str, list[Label]] = field(default_factory=dict)
    _by_id: dict[tuple[str, str], int] = field(default_factory=dict)
    _by_text: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, found: Label) -> None:
        """One more result; it joins what is there if the id is the same, or the text without id."""
        known = self.items.setdefault(found.query_id, [])
        at = self._find(found)
        if at is None:
            at = len(known)
            known.append(found)
        else:
            known[at] = _completed(known[at], found)
        if found.item is not None:
            self._by_id[found.query_id, found.item] = at
        if found.text is not None:
            self._by_text.setdefault((found.query_id, normalise(found.text)), at)

    def _find(self, found: Label) -> int | None:
        if found.item is not None and (found.query_id, found.item) in self._by_id:
            return self._by_id[found.query_id, found.item]
        if found.text is None:
            return None
        at = self._by_text.get((found.query_id, normalise(found.text)))
        if at is None or found.item is None:
            return at
        # Two ids with one text are two items: a ground truth has to name both.
        return at if self.items[found.query_id][at].item is None else None


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


def pool_runs(frames: Iterable[pl.DataFrame], k: int) -> Pool:
    """The first k results of every question in every run, each once.

    A frame has query, rank, and item or text. What one run knows of an item, such as its text,
    completes what the others know.

    >>> frame = pl.DataFrame({"query": ["q", "q"], "rank": [1, 2], "item": ["a", "b"]})
    >>> other = pl.DataFrame({"query": ["q", "q"], "rank": [1, 2], "item": ["b", "c"]})
    >>> [one.item for one in pool_runs([frame, other], 1).items["q"]]
    ['a', 'b']
    """
    pool = Pool()
    for frame in frames:
        first = frame.filter(pl.col("rank") <= k)
        names = [name for name in FACTS if name in first.columns]
        for row in first.select("query", *names).iter_rows(named=True):
            pool.add(Label(row.pop("query"), **row))
    return pool


def shuffled(items: Iterable[Label], seed: int) -> list[Label]:
    """The items of a question in an order that tells nothing of rank or run.

    Each place comes from a hash of the seed, the question and the item: one more run adds its
    items in between and leaves the others in their order.

    >>> items = [Label("q", item=name) for name in "abc"]
    >>> shuffled(items, 1) == shuffled(reversed(items), 1)
    True
    """

    def place(one: Label) -> bytes:
        return hashlib.sha256(msgspec.json.encode([seed, *one.pair])).digest()

    return sorted(items, key=place)


def without_judged(
    items: Mapping[str, Sequence[Label]], truth: GroundTruth
) -> tuple[dict[str, list[Label]], int]:
    """The items that a ground truth says nothing about, and how many were left out.

    It says something about an item whose id it has, whose text holds one of its quotes, or which
    covers one of its spans.
    """
    judged = dict(_by_query(truth.targets))
    left = {
        query: [one for one in some if not _is_judged(one, judged.get(query, ()))]
        for query, some in items.items()
    }
    return left, sum(map(len, items.values())) - sum(map(len, left.values()))


def _completed(known: Label, found: Label) -> Label:
    missing = {
        name: getattr(found, name)
        for name in FACTS
        if getattr(known, name) is None and getattr(found, name) is not None
    }
    return replace(known, **missing) if missing else known


def _by_query(targets: pl.DataFrame) -> Iterator[tuple[str, list[dict[str, object]]]]:
    for (query,), rows in targets.group_by("query", maintain_order=True):
        yield str(query), list(rows.iter_rows(named=True))


def _is_judged(one: Label, targets: Sequence[Mapping[str, object]]) -> bool:
    text = None
    for target in targets:
        if one.item is not None and target["item"] == one.item:
            return True
        if isinstance(target["quote"], str) and one.text is not None:
            text = normalise(one.text) if text is None else text
            if normalise(target["quote"]) in text:
                return True
        if _covers(one, target):
            return True
    return False


def _covers(one: Label, target: Mapping[str, object]) -> bool:
    start, end = target["start"], target["end"]
    if one.start is None or one.end is None or one.document != target["document"]:
        return False
    if not isinstance(start, int) or not isinstance(end, int):
        return False
    return one.start <= start and end <= one.end
