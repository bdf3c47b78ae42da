"""What changed between two runs, query by query, without ground truth."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures.spec import check_cutoff
from calipers.model.arrays import Floats
from calipers.model.document import Document, Lines, Note
from calipers.model.fact import Fact, Sentence, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.ranking import result_names
from calipers.model.result import HasRows, plain, sentences_of
from calipers.model.run import Run
from calipers.present.escape import printable
from calipers.questions.compare.comparable import some_queries
from calipers.questions.pooling import by_queries, query_names
from calipers.text import normalise
from calipers.words import first_results, is_far, number

MOST_LISTED = 10_000
"""Queries that an answer lists, the most changed ones; its counts and means are of
all."""


@dataclass(frozen=True)
class Moved:
    """A result that only one of the two runs has among its first k."""

    item: str
    """The id, or the text where there is no id."""
    rank: int


@dataclass(frozen=True)
class QueryDiff:
    """How much the results for one query changed."""

    query: str
    text: str | None
    overlap: float
    """The share of the first k that both have."""
    changed: bool
    """Whether anything is new, lost or at another rank."""
    new: tuple[Moved, ...]
    lost: tuple[Moved, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Diff(HasRows):
    """Two runs side by side, the most changed query first."""

    shown_by: ClassVar[str] = "calipers.questions.compare.unlabelled"

    old: str
    new: str
    k: int
    is_far: bool
    """Whether k is so far beyond every list that it is no number of results."""
    queries: tuple[QueryDiff, ...]
    """The most changed, up to ``MOST_LISTED``."""
    total: int
    """How many queries both runs have."""
    changed: int
    """How many of them have different results or a different order."""
    overlap: float
    """The mean over all queries."""
    new_results: int
    lost_results: int
    only_old: tuple[str, ...]
    """Queries that the new run does not have."""
    only_new: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """How the files were read, where that is not obvious."""

    def to_dict(self) -> dict[str, Any]:
        """The whole difference as plain values: what ``--json`` prints."""
        values = {**vars(self), "queries": self.total, "per_query": self.queries}
        kept = {
            name: value
            for name, value in values.items()
            if name not in ("total", "notes", "is_far")
        }
        shown: dict[str, object] = plain(kept)
        return {**shown, **sentences_of(self)}


def diff_runs(
    old: Run, new: Run, *, k: int = 10, truth: GroundTruth | None = None
) -> Diff:
    """Compare the first k results of two runs; ``truth`` supplies texts of the questions."""
    check_cutoff(k)
    asked_as = [new.queries, old.queries, *([] if truth is None else [truth.queries])]
    texts = {
        query: text for asked_a in asked_as for query, text in _texts_in(asked_a).items()
    }
    frames = [_first(run, k) for run in (old, new)]
    before, after = (_queries_of(*side) for side in zip((old, new), frames, strict=True))
    shared = before.filter(before.is_in(after.implode()))
    if not len(shared):
        raise InvalidInput(
            f"The two runs share no query: {old.name or 'the old one'} has "
            f"{some_queries(before)}; {new.name or 'the new one'} has "
            f"{some_queries(after)}. Ask both the same questions."
        )
    listed: list[QueryDiff] = []
    numbers: list[Floats] = []
    for names, both in by_queries(frames, shared):
        was, now = map(_listed, both)
        queries = [
            _row(name, texts.get(name), was.get(name, []), now.get(name, []))
            for name in names
        ]
        counts = [(q.overlap, q.changed, len(q.new), len(q.lost)) for q in queries]
        numbers.append(np.array(counts, dtype=np.float64))
        listed = sorted(
            [*listed, *queries], key=lambda query: (query.overlap, not query.changed)
        )
        listed = listed[:MOST_LISTED]
    every = np.concatenate(numbers)
    # Sum in one order, whatever that of the files: another would round differently.
    overlap, changed, came, went = (
        sum(column.tolist()) for column in np.sort(every, axis=0).T
    )
    remarks = (*(() if truth is None else truth.notes), *old.notes, *new.notes)
    return Diff(
        old=old.name or "old",
        new=new.name or "new",
        k=k,
        is_far=_is_far(frames, k),
        queries=tuple(listed),
        total=len(every),
        changed=int(changed),
        overlap=overlap / len(every),
        new_results=int(came),
        lost_results=int(went),
        only_old=tuple(before.filter(~before.is_in(after.implode()))),
        only_new=tuple(after.filter(~after.is_in(before.implode()))),
        notes=tuple(dict.fromkeys(remarks)),
    )


def _first(run: Run, k: int) -> pl.DataFrame:
    """The first k results of every query; a text stays only where there is no id."""

    def short(frame: pl.DataFrame) -> pl.DataFrame:
        if not {"item", "text"} <= set(frame.columns):
            return frame
        return frame.with_columns(text=pl.when(pl.col("item").is_null()).then("text"))

    return replace(run, scan=lambda: map(short, run.scan())).first(k)


def overlap_at(a: Sequence[str], b: Sequence[str]) -> float:
    """The share of the longer list that both have; 1 where both are empty.

    >>> overlap_at(["a", "b"], ["b", "c"])
    0.5
    """
    longest = max(len(a), len(b))
    return len(set(a) & set(b)) / longest if longest else 1.0


def _is_far(frames: Sequence[pl.DataFrame], k: int) -> bool:
    """Whether k is far beyond the lists of both runs; ``frames`` are their first k results."""
    # What reaches down to k may go on behind it.
    lengths = [frame.group_by("query").len()["len"].to_numpy() for frame in frames]
    return all(
        is_far(
            k,
            queries=each.size,
            returned=int(each.sum()),
            within=int(each[each < k].sum()),
        )
        for each in lengths
    )


def _queries_of(run: Run, frame: pl.DataFrame) -> pl.Series:
    """The queries of a run, including those without results."""
    known = [] if run.queries is None else [run.queries.select("query")]
    return query_names([*known, frame])


def _listed(frame: pl.DataFrame) -> dict[str, list[str]]:
    """The first k results of each query without duplicates: by id, by text or by place."""
    names = result_names(frame)
    if "text" in frame.columns:
        is_text = frame["text"].is_not_null()
        if "item" in frame.columns:
            is_text &= frame["item"].is_null()
        rows = is_text.arg_true()
        texts = [normalise(text) for text in frame["text"].gather(rows).to_list()]
        names = names.clone().scatter(rows, texts) if texts else names
    named = frame.select("query", names.alias("name"))
    # Row by row in Python, this took most of the time of the whole comparison.
    by_query = named.group_by("query", maintain_order=True).agg("name")
    return {query: list(dict.fromkeys(some)) for query, some in by_query.iter_rows()}


def _row(
    query: str, text: str | None, old: Sequence[str], new: Sequence[str]
) -> QueryDiff:
    """How much the results for one query changed."""
    if old == new:
        return QueryDiff(query, text, 1.0, False, (), ())
    moved = (_without(new, old), _without(old, new))
    return QueryDiff(query, text, overlap_at(old, new), True, *moved)


def _without(some: Sequence[str], others: Iterable[str]) -> tuple[Moved, ...]:
    known = set(others)
    return tuple(
        Moved(result, at) for at, result in enumerate(some, 1) if result not in known
    )


def _texts_in(queries: pl.DataFrame | None) -> dict[str, str]:
    if queries is None or "text" not in queries.columns:
        return {}
    rows = queries.select("query", "text").iter_rows()
    return {query: text for query, text in rows if text is not None}


LONGEST = 70
MOST_MOVED = 3
EXAMPLES = 5
"""Characters of a question, results of a query, and queries that are printed."""


def document(diff: Diff, examples: int = EXAMPLES) -> Document:
    """How many queries changed, by how much, and the most changed of them."""
    changed = [query for query in diff.queries if query.changed][:examples]
    rest = diff.changed - len(changed)
    lines = [line for query in changed for line in _query(query)]
    only = {"the old run": len(diff.only_old), "the new": len(diff.only_new)}
    return Document(
        _answer(diff),
        blocks=[
            *(
                [Lines(lines, f"The most changed, with their overlap@{diff.k}")]
                if lines
                else []
            ),
        ],
        notes=[
            *(Note("input", note) for note in diff.notes),
            *(
                Note(
                    "missing",
                    sentence(
                        "{it.count:query|queries} only in {run}: not compared.",
                        it=Fact(about="left out", count=n),
                        run=run,
                    ),
                )
                for run, n in only.items()
                if n
            ),
            Note(
                "marks",
                sentence(
                    "{it.metric} is the share of results that both have: {it.value} on "
                    "average.",
                    it=Fact(about="mean", metric=f"overlap@{diff.k}", value=diff.overlap),
                ),
            ),
            *([Note("counted", _further(rest))] if rest else []),
        ],
        rows=lambda: diff.queries,
    )


def _answer(diff: Diff) -> Sentence:
    """How many queries changed, and in what."""
    size = Fact(about="count", count=diff.changed, of=diff.total, k=diff.k)
    first = first_results(diff.k, is_far=diff.is_far)
    if not diff.changed:
        template = "Nothing changed in the {first} of {it.of:query|queries}."
        return sentence(template, first=first, it=size)
    if not diff.new_results and not diff.lost_results:
        what = sentence("the same results in another order")
    else:
        what = sentence(
            "{new.count:new result|new results}, {lost.count} lost",
            new=Fact(about="count", count=diff.new_results, text="new"),
            lost=Fact(about="count", count=diff.lost_results, text="lost"),
        )
    return sentence(
        "{it.count} of {it.of:query|queries} changed in the {first}: {what}.",
        it=size,
        first=first,
        what=what,
    )


def _further(rest: int) -> Sentence:
    """How many changed queries are not shown."""
    fact = Fact(about="count", count=rest, text="further")
    return sentence("{it.count:more query|more queries} changed.", it=fact)


def _query(query_diff: QueryDiff) -> Iterator[str]:
    yield (
        f"{number(query_diff.overlap)}  "
        f"{printable(query_diff.text or query_diff.query, LONGEST)}"
    )
    for what, some in (("new", query_diff.new), ("lost", query_diff.lost)):
        if some:
            named = [
                f"{printable(two.item, 40)} (rank {two.rank})"
                for two in some[:MOST_MOVED]
            ]
            rest = len(some) - MOST_MOVED
            more = f" and {rest} more" if rest > 0 else ""
            yield f"       {what}: {', '.join(named)}{more}"
