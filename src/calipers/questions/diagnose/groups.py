"""Queries that fail together: the retriever failed, returned nothing, or always the same."""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from calipers.frozen import dataclass
from calipers.model.arrays import Bools
from calipers.model.fact import Fact, Sentence, named, sentence
from calipers.model.matched import EMPTY, FAILED, MISSING
from calipers.model.scores import Scores
from calipers.model.slicing import UNASKED, auto_cuts, cut, tag_cuts
from calipers.present.escape import printable
from calipers.questions.diagnose.cures import Seen
from calipers.questions.slices.result import Slice
from calipers.questions.slices.rule import slice_scores
from calipers.shell import join_words
from calipers.words import number, plural

FEWEST = 5
"""A slice of fewer queries is not named."""
ALIKE = 0.5
"""From this share of the queries on, one list for all of them is a fault of its own."""


@dataclass(frozen=True, eq=False)
class Group:
    """Some queries, and what they have in common."""

    name: str
    title: str
    which: Bools
    says: str
    advice: str
    next: str


def groups(seen: Seen, scores: Scores) -> Iterator[Group]:
    """The groups of queries that may fail together, the most certain cause first."""
    known: set[bytes] = set()
    for group in chain(_by_status(seen), _same_list(seen), _slices(scores)):
        # The same queries under another name say nothing new.
        which = (group.which & seen.measured_queries).tobytes()
        if which not in known:
            yield group
        known.add(which)


_STATUSES = (
    (FAILED, "the retriever failed on {}", "no failures", "look at their errors"),
    (
        EMPTY,
        "nothing was returned for {}",
        "no empty lists",
        "check filters and thresholds",
    ),
    (MISSING, "{} not in the run", "no missing queries", "run every query"),
)


def _by_status(seen: Seen) -> Iterator[Group]:
    """Queries that failed, came back empty, or are not in the run."""
    for status, words, title, advice in _STATUSES:
        which = seen.matches.having_status(status) & seen.measured_queries
        n = int(which.sum())
        if not n:
            continue
        queries = (
            f"{n:,} of {plural(int(seen.measured_queries.sum()), 'query', 'queries')}"
        )
        verb = " are" if n > 1 else " is"
        what = words.format(queries + (verb if status == MISSING else ""))
        rest = _recall(seen, ~which)
        facts = [
            Fact(
                about="count", count=n, of=int(seen.measured_queries.sum()), text=status
            ),
            Fact(
                about="slice",
                slice=f"not {status}",
                metric=str(seen.metrics[0]),
                value=rest,
            ),
        ]
        text = f"{what[:1].upper()}{what[1:]}; the others have {seen.metrics[0]} {number(rest)}."
        yield Group(
            status,
            title,
            which,
            Sentence(text, facts),
            advice,
            "Why: `calipers misses`",
        )


def _same_list(seen: Seen) -> Iterator[Group]:
    """Queries that all get the same list, though they look for different things."""
    lists = seen.lists
    shown = lists.rank <= seen.k
    if not shown.any():
        return
    code = lists.query[shown]
    weight = lists.rank[shown].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    hashes = np.zeros(lists.n_queries, dtype=np.uint64)
    np.add.at(hashes, code, lists.name[shown] * (weight | np.uint64(1)))
    answered = (lists.lengths > 0) & seen.measured_queries
    _, place, counts = np.unique(
        hashes[answered], return_inverse=True, return_counts=True
    )
    most = int(np.argmax(counts)) if counts.size else 0
    if not counts.size or counts[most] < max(3, ALIKE * answered.sum()):
        return
    which = np.zeros(lists.n_queries, dtype=np.bool_)
    which[np.flatnonzero(answered)[place == most]] = True
    if _needs(seen, which) < counts[most] / 2:
        return
    yield Group(
        "same_list",
        "no list for all",
        which,
        Sentence(
            f"{int(counts[most]):,} of {plural(int(answered.sum()), 'query', 'queries')} get the "
            "same list of results, though they look for different things.",
            [
                Fact(
                    about="count",
                    count=int(counts[most]),
                    of=int(answered.sum()),
                    text="queries",
                )
            ],
        ),
        "like the rest",
        "Why: `calipers misses`",
    )


def _needs(seen: Seen, which: Bools) -> int:
    """How many different targets these queries have, at least: by their first target."""
    targets = seen.pair.targets
    matches = seen.matches
    query, first = np.unique(matches.target_query, return_index=True)
    rows = first[which[query]]
    named = targets[rows].select("item", "quote", "document")
    return named.n_unique()


def _slices(scores: Scores) -> Iterator[Group]:
    """Slices whose recall is significantly below that of the rest, the worst first."""
    cuts = list(dict.fromkeys([*tag_cuts(scores.tags), *auto_cuts(scores)]))
    if not cuts:
        return
    recall = next(metric.name for metric in scores.metrics if metric.kind == "recall")
    worse = [
        row
        for row in slice_scores(scores, cuts, metrics=[recall]).rows
        if row.is_worse and row.n >= FEWEST and (row.p_adjusted or 0.0) <= UNASKED
    ]
    for row in sorted(worse, key=lambda row: row.difference or 0.0):
        yield _slice(scores, row)


def _slice(scores: Scores, row: Slice) -> Group:
    """A slice as a group."""
    which = next(mask for value, mask in cut(scores, row.by) if value == row.value)
    chosen = f"{row.by}={row.value}"
    return Group(
        "slice",
        f"{printable(chosen, 20)}",
        which,
        sentence(
            "Queries with {whose.text} fail: {it.metric} is {it.value} on {it.queries}, "
            "{it.before} on the rest.",
            whose=named(_whose(row)),
            it=Fact(
                about="slice",
                slice=chosen,
                metric=row.metric,
                value=row.mean or 0.0,
                before=row.rest or 0.0,
                difference=row.difference,
                queries=row.n,
                direction="worse",
                sure=True,
            ),
        ),
        "like the rest",
        f"Why: `calipers misses --where {join_words([chosen])}`",
    )


def _whose(row: Slice) -> str:
    """What the queries of a slice have, in words: a value that names itself stands alone."""
    value = printable(row.value, 20)
    if row.by in ("targets", "length"):
        return value
    return f"{printable(row.by, 20)} = {value}"


def _recall(seen: Seen, which: Bools) -> float:
    """The mean recall of some queries; 0 where there are none."""
    some = seen.values[which & seen.measured_queries, 0]
    return float(some.mean()) if some.size else 0.0
