"""Depth-k pooling: the first results of several runs without repeats, and which are judged."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.model.run import Run
from calipers.text import normalise

FACTS = ("item", "text", "title", "document", "start", "end")
QUERIES_AT_ONCE = 5_000


@dataclass(eq=False)
class Pool:
    """The items of each question in the first results of any run."""

    items: dict[str, list[Label]] = field(default_factory=dict)
    _by_id: dict[tuple[str, str], int] = field(default_factory=dict)
    _by_text: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, label: Label) -> None:
        """Add a result; it is merged with one of the same id, or of the same text without an id."""
        known = self.items.setdefault(label.query_id, [])
        at = self._find(label)
        if at is None:
            at = len(known)
            known.append(label)
        else:
            known[at] = _completed(known[at], label)
        if label.item is not None:
            self._by_id[label.query_id, label.item] = at
        if label.text is not None:
            self._by_text.setdefault((label.query_id, normalise(label.text)), at)

    def _find(self, label: Label) -> int | None:
        if label.item is not None and (label.query_id, label.item) in self._by_id:
            return self._by_id[label.query_id, label.item]
        if label.text is None:
            return None
        at = self._by_text.get((label.query_id, normalise(label.text)))
        if at is None or label.item is None:
            return at
        # Two ids with the same text are two items: a ground truth has to name both.
        return at if self.items[label.query_id][at].item is None else None


def pool_runs(frames: Iterable[pl.DataFrame], k: int) -> Pool:
    """Pool the first k results of every question from all runs, without repeats.

    A frame has query, rank, and item or text. Fields of an item that one run lacks, such
    as its text, are taken from the others.

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


def query_names(frames: Iterable[pl.DataFrame]) -> pl.Series:
    """The distinct queries of several tables, in order of appearance."""
    names = [frame["query"].unique(maintain_order=True) for frame in frames]
    if not names:
        return pl.Series("query", [], dtype=pl.String())
    return pl.concat(names).unique(maintain_order=True)


def by_queries(
    frames: Iterable[pl.DataFrame], queries: Iterable[str], at_once: int = QUERIES_AT_ONCE
) -> Iterator[tuple[list[str], list[pl.DataFrame]]]:
    """Batches of queries in order, with their rows in each of the tables.

    >>> frame = pl.DataFrame({"query": ["a", "b", "a"], "rank": [1, 1, 2]})
    >>> [(names, table["rank"].to_list()) for names, [table] in by_queries([frame], ["b", "a"], 1)]
    [(['b'], [1]), (['a'], [1, 2])]
    """
    names = pl.DataFrame({"query": pl.Series(queries, dtype=pl.String)}).with_row_index(
        "__at"
    )
    sorted_frames = []
    places = []
    for frame in frames:
        # The rows of a query are mostly contiguous: look it up once for all of them.
        runs = frame["query"].rle().struct.unnest()
        joined = runs.select(query="value").join(
            names, "query", "left", maintain_order="left"
        )
        at = joined["__at"].fill_null(names.height).to_numpy()
        lengths = runs["len"].to_numpy()
        if (at[1:] < at[:-1]).any():
            each = np.repeat(at, lengths)
            order = np.argsort(each, kind="stable")
            frame = frame[order]
            at = each[order]
            lengths = np.ones(each.size, dtype=np.int64)
        sorted_frames.append(frame)
        places.append((at, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])))
    for start in range(0, names.height, at_once):
        span = (start, min(start + at_once, names.height))
        ends = [first[np.searchsorted(at, span)] for at, first in places]
        yield (
            names["query"][start : start + at_once].to_list(),
            [frame[a:b] for frame, (a, b) in zip(sorted_frames, ends, strict=True)],
        )


def first_results(run: Run, k: int) -> pl.DataFrame:
    """The first k results of every question, with the fields that an annotator may see."""
    frame = run.first(k)
    return frame.select(
        name for name in ("query", "rank", *FACTS) if name in frame.columns
    )


def shuffled(items: Iterable[Label], seed: int) -> list[Label]:
    """Shuffle the items of a question, so that the order reveals neither rank nor run.

    The position comes from a hash of the seed, the question and the item: another run
    adds its items in between and keeps the order of the others.

    >>> items = [Label("q", item=name) for name in "abc"]
    >>> shuffled(items, 1) == shuffled(reversed(items), 1)
    True
    """
    return sorted(items, key=lambda item: place(seed, *item.pair))


def place(seed: int, *words: str) -> bytes:
    """A sort key for a seeded shuffle."""
    return hashlib.sha256(msgspec.json.encode([seed, *words])).digest()


def without_judged(
    items: Mapping[str, Sequence[Label]], truth: GroundTruth
) -> tuple[dict[str, list[Label]], int]:
    """The items that the ground truth does not judge, and the number left out.

    An item is judged if the ground truth has its id, or if it contains one of its quotes
    or spans.
    """
    targets = truth.targets.filter(pl.col("query").is_in(list(items)))
    judged = targets.rows_by_key("query", named=True)
    left = {
        query: [
            label for label in some if known_grade(label, judged.get(query, ())) is None
        ]
        for query, some in items.items()
    }
    return left, sum(map(len, items.values())) - sum(map(len, left.values()))


def _completed(known: Label, label: Label) -> Label:
    missing = {
        name: getattr(label, name)
        for name in FACTS
        if getattr(known, name) is None and getattr(label, name) is not None
    }
    return replace(known, **missing) if missing else known


def known_grade(label: Label, targets: Sequence[Mapping[str, Any]]) -> float | None:
    """The highest grade of the targets that an item is or contains; None if there is none.

    A text that contains an irrelevant passage may be relevant all the same.
    """
    text = None if label.text is None else normalise(label.text)
    grades = []
    for target in targets:
        grade = float(target["grade"])
        quote = normalise(target["quote"]) if target["quote"] else None
        is_it = (label.item is not None and target["item"] == label.item) or (
            quote is not None and quote == text
        )
        contains = (quote is not None and text is not None and quote in text) or _covers(
            label, target
        )
        same_span = contains and (label.start, label.end) == (
            target["start"],
            target["end"],
        )
        if is_it or same_span or (contains and grade > 0):
            grades.append(grade)
    return max(grades, default=None)


def _covers(label: Label, target: Mapping[str, object]) -> bool:
    start = target["start"]
    end = target["end"]
    if label.start is None or label.end is None or label.document != target["document"]:
        return False
    if not isinstance(start, int) or not isinstance(end, int):
        return False
    return label.start <= start and end <= label.end
