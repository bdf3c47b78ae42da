"""How much two rankings differ: rank-biased overlap, overlap at k, Kendall's tau."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.measures.spec import check_cutoff
from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.model.run import Run
from calipers.model.slicing import FROM_TEXT, UNTAGGED, is_cut, labels_of, with_computed
from calipers.questions.diff.result import (
    DIFF_SCHEMA,
    Diff,
    DiffSlice,
    Moved,
    QueryDiff,
    QueryDiffs,
)
from calipers.questions.pooling import (
    by_queries,
    first_results,
    pool_runs,
    query_names,
    rows_to_label,
    shuffled,
    without_judged,
)
from calipers.text import normalise
from calipers.words import did_you_mean

PERSISTENCE = 0.9
"""How likely a reader goes on to the next result; the first ten then weigh 86%."""


def diff_runs(
    old: Run,
    new: Run,
    *,
    k: int = 10,
    p: float = PERSISTENCE,
    by: Sequence[str] = (),
    truth: GroundTruth | None = None,
    seed: int = 0,
) -> Diff:
    """The first k results of two runs, query by query; ``truth`` knows tags and judgements."""
    check_cutoff(k)
    if not 0 < p < 1:
        raise InvalidInput(f"p is {p!r}; it must lie between 0 and 1, such as 0.9.")
    frames = [first_results(run, k) for run in (old, new)]
    asked, asked_now = (_queries_of(*one) for one in zip((old, new), frames, strict=True))
    shared = [query for query in asked if query in asked_now]
    if not shared:
        raise InvalidInput(
            f"The two runs share no query: {old.name or 'the old one'} has {_some(asked)}; "
            f"{new.name or 'the new one'} has {_some(asked_now)}. Ask both the same questions."
        )
    texts = {**_known_texts(new), **_known_texts(old)}
    tables: list[pl.DataFrame] = []
    judged = 0

    def to_judge() -> Iterator[list[Label]]:
        nonlocal judged
        for names, (olds, news) in by_queries(frames, shared):
            before, after = _listed(olds), _listed(news)
            found = [
                _diff(one, texts.get(one), before.get(one, []), after.get(one, []), p)
                for one in names
            ]
            tables.append(_as_table(found))
            labels, left_out = _to_judge(news, found, k, truth, seed)
            judged += left_out
            yield labels

    known = texts if truth is None else texts | _texts_in(truth.queries)
    # Where a question has no id of its own, its text is its id.
    rows = rows_to_label(
        to_judge(), lambda query: known.get(query) or (query if " " in query else None)
    )
    frames.clear()  # what comes takes about as much
    found = pl.concat(tables)
    return Diff(
        old=old.name or "old",
        new=new.name or "new",
        k=k,
        p=p,
        queries=QueryDiffs(found.sort("rbo", "overlap", maintain_order=True)),
        only_old=tuple(query for query in asked if query not in asked_now),
        only_new=tuple(query for query in asked_now if query not in asked),
        slices=tuple(
            one
            for name, labels in _cuts(found, by, truth).items()
            for one in _slices(found, name, labels)
        ),
        to_judge=rows,
        already_judged=judged,
        notes=tuple(
            dict.fromkeys((*(() if truth is None else truth.notes), *old.notes, *new.notes))
        ),
    )


def rank_biased_overlap(a: Sequence[str], b: Sequence[str], p: float = PERSISTENCE) -> float:
    """Agreement of two rankings, extrapolated from what is seen (Webber, Moffat, Zobel 2010).

    The agreement at depth d is the share of the first d that both have; depths weigh (1-p)·p^(d-1).
    Beyond the end of a list the agreement seen so far is taken to go on.

    >>> rank_biased_overlap(["a", "b"], ["a", "b"]), rank_biased_overlap(["a"], ["b"])
    (1.0, 0.0)
    >>> round(rank_biased_overlap(["a", "b", "c"], ["a", "c", "b"]), 3)
    0.955
    """
    short, long = sorted((a, b), key=len)
    s, l = len(short), len(long)  # noqa: E741 - the names of the paper
    if not s:
        return 1.0 if not l else 0.0
    seen_short: set[str] = set()
    seen_long: set[str] = set()
    common = common_at_s = 0
    total, weight = 0.0, 1 - p
    for depth in range(1, l + 1):
        one, other = short[depth - 1] if depth <= s else None, long[depth - 1]
        common += (one is not None and one in seen_long) + (other in seen_short) + (one == other)
        seen_long.add(other)
        if one is not None:
            seen_short.add(one)
        if depth == s:
            common_at_s = common
        beyond = common_at_s * (depth - s) / s if depth > s else 0.0
        agreement = (common + beyond) / depth
        total += weight * agreement
        weight *= p
    # Rounding may carry a sum of shares a little past its end.
    return min(1.0, total + agreement * p**l)


def overlap_at(a: Sequence[str], b: Sequence[str]) -> float:
    """The share of the longer list that both have; 1 where both are empty.

    >>> overlap_at(["a", "b"], ["b", "c"])
    0.5
    """
    longest = max(len(a), len(b))
    return len(set(a) & set(b)) / longest if longest else 1.0


def kendall_tau(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Pairs of shared results in the same order, less those in the other, over all pairs.

    >>> kendall_tau(["a", "b", "c"], ["c", "b", "a", "x"]), kendall_tau(["a"], ["a"])
    (-1.0, None)
    """
    place = {item: rank for rank, item in enumerate(b)}
    ranks = np.array([place[item] for item in a if item in place])
    n = len(ranks)
    if n < 2:
        return None
    pairs = n * (n - 1) // 2
    return float((2 * _pairs_in_order(ranks) - pairs) / pairs)


def _pairs_in_order(ranks: Ints) -> int:
    """How many pairs stand in order: each with each where they are few, else block by block."""
    if ranks.size <= 256:
        return int(np.triu(ranks[:, None] < ranks[None, :], 1).sum())
    beyond = int(ranks.max()) + 1
    places = np.arange(ranks.size)
    in_order, width = 0, 1
    while width < ranks.size:
        # Blocks of this width are sorted; of two neighbours, each of the right one comes behind
        # the smaller ones of the left.
        block = places // (2 * width)
        keys = block * beyond + ranks
        right = places // width % 2 == 1
        smaller = np.searchsorted(keys[~right], keys[right]) - block[right] * width
        in_order += int(smaller.sum())
        ranks = np.sort(keys, kind="stable") - block * beyond
        width *= 2
    return in_order


def _queries_of(run: Run, frame: pl.DataFrame) -> dict[str, None]:
    """The queries of a run, those for which nothing came back among them."""
    found = {} if run.queries is None else dict.fromkeys(run.queries["query"])
    return found | dict.fromkeys(query_names([frame]))


def _listed(frame: pl.DataFrame) -> dict[str, list[str]]:
    """The first k results of each query, each once, by id or else by text."""
    items = frame["item"] if "item" in frame.columns else pl.Series([None] * frame.height)
    texts = frame["text"] if "text" in frame.columns else pl.Series([None] * frame.height)
    found: dict[str, dict[str, None]] = {}
    for query, item, text in zip(frame["query"], items, texts, strict=True):
        found.setdefault(query, {})[_key(item, text)] = None
    return {query: list(some) for query, some in found.items()}


def _as_table(found: Sequence[QueryDiff]) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {
        name: [getattr(one, name) for one in found] for name in DIFF_SCHEMA
    }
    for which in ("new", "lost"):
        columns[which] = [[vars(moved) for moved in some] for some in columns[which]]
    return pl.DataFrame(columns, DIFF_SCHEMA)


def _key(item: str | None, text: str | None) -> str:
    return item if item is not None else normalise(text or "")


def _diff(
    query: str, text: str | None, old: Sequence[str], new: Sequence[str], p: float
) -> QueryDiff:
    return QueryDiff(
        query,
        text,
        rank_biased_overlap(old, new, p),
        overlap_at(old, new),
        kendall_tau(old, new),
        new=_without(new, old),
        lost=_without(old, new),
    )


def _without(some: Sequence[str], others: Iterable[str]) -> tuple[Moved, ...]:
    known = set(others)
    return tuple(Moved(item, rank) for rank, item in enumerate(some, 1) if item not in known)


def _known_texts(run: Run) -> dict[str, str]:
    return {} if run.queries is None else _texts_in(run.queries)


def _texts_in(queries: pl.DataFrame) -> dict[str, str]:
    if "text" not in queries.columns:
        return {}
    rows = queries.select("query", "text").iter_rows()
    return {query: text for query, text in rows if text is not None}


def _to_judge(
    new: pl.DataFrame,
    found: Sequence[QueryDiff],
    k: int,
    truth: GroundTruth | None,
    seed: int,
) -> tuple[list[Label], int]:
    """Exactly the new results, as rows to label, without those that were judged already."""
    fresh = {one.query: {moved.item for moved in one.new} for one in found if one.new}
    pool = pool_runs([new], k)
    items = {
        query: [one for one in some if _key(one.item, one.text) in fresh[query]]
        for query, some in pool.items.items()
        if query in fresh
    }
    judged = 0
    if truth is not None:
        items, judged = without_judged(items, truth)
    return [one for some in items.values() for one in shuffled(some, seed)], judged


def _slices(found: pl.DataFrame, by: str, labels: Sequence[str]) -> list[DiffSlice]:
    names = sorted(set(labels), key=lambda name: (name == UNTAGGED, name))
    of_query = pl.Series(labels)
    groups = {name: found.filter(of_query == name) for name in names}
    return [
        DiffSlice(
            by,
            name,
            some.height,
            int(some["changed"].sum()),
            sum(some["rbo"]) / some.height,
            sum(some["overlap"]) / some.height,
        )
        for name, some in groups.items()
    ]


def _cuts(
    found: pl.DataFrame, by: Sequence[str], truth: GroundTruth | None
) -> dict[str, list[str]]:
    """For each cut, the name of the slice of every query."""
    tags = {} if truth is None else truth.tags
    queries = found.select("query", "text")
    cuts = {}
    for name in dict.fromkeys(with_computed(by)):
        if name in tags and truth is not None:
            value_of: Mapping[str, str | None] = dict(
                zip(truth.queries["query"], tags[name].to_list(), strict=True)
            )
            cuts[name] = [value_of.get(query) or UNTAGGED for query in queries["query"]]
        elif name in FROM_TEXT:
            cuts[name] = labels_of(queries, {}, name).to_list()
        elif name in by:
            known = [*tags, *FROM_TEXT]
            where = "" if truth is not None else " Give the questions with their tags (-g FILE)."
            raise InvalidInput(
                f"The queries have no tag {name!r}; they can be cut by {', '.join(known)}."
                f"{did_you_mean(name, known)}{where}"
            )
    return {name: labels for name, labels in cuts.items() if name in by or is_cut(labels)}


def _some(queries: Mapping[str, object]) -> str:
    return ", ".join(f"{query!r:.60}" for query in list(queries)[:3]) or "none"
