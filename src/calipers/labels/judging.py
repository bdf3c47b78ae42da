"""What judging rests on: which label can move most, and the ground truth that labels make."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import polars as pl

from calipers.engines.scoring import choose_metrics, compute, score
from calipers.errors import InvalidInput, NoCommonIds
from calipers.labels.agreement import decide
from calipers.match.pair import match_pair
from calipers.model.arrays import Ints
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.labels import (
    IMPORT,
    JUDGED_BY,
    QUEUE,
    WHOLE_QUEUE,
    JudgeOnly,
    Label,
    Pair,
    is_peoples,
    source_of,
)
from calipers.model.matched import Matched, Matches
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import Scores, Summary
from calipers.questions.compare.unlabelled import diff_runs
from calipers.questions.misses.rule import explain_misses
from calipers.questions.shown_results import list_results
from calipers.store.pool import LabelState, LogEntry, PoolItem, PoolSettings

ABOUT_JUDGING = frozenset({"judged", "unjudged", "rbp_residual"})
"""These measure how much was judged; they would say nothing if everything were."""
NOT_BY_JUDGEMENT = frozenset({"Coverage", "Leaks"})
"""Views of characters and of what is forbidden."""
DEEPEST = 20
"""Unjudged results per query whose worth is looked at; further down a label moves little."""


def place(seed: int, *words: str) -> bytes:
    """Where something stands in an order that tells nothing."""
    return hashlib.sha256(msgspec.json.encode([seed, *words])).digest()


def label_worth(pairs: Iterable[Matched], metric: str) -> dict[Pair, float]:
    """How far calling one result relevant can move the metric, the most over all runs.

    By question and result, as ``Label.pair`` names them. Each unjudged result is taken as
    relevant by itself while the others stay as they are.
    """
    found: dict[Pair, float] = {}
    for pair in pairs:
        for name, moved in _worth(pair, metric):
            found[name] = max(found.get(name, 0.0), moved)
    return found


def _worth(pair: Matched, name: str) -> Iterable[tuple[Pair, float]]:
    [metric, *_] = [one.with_rel(pair.rel) for one in choose_metrics(name, None)]
    if metric.definition.name in ABOUT_JUDGING:
        return
    if metric.definition.view.__name__ in NOT_BY_JUDGEMENT:
        return
    matches, policy = pair.matches, pair.policy
    depth = min(metric.k or DEEPEST, DEEPEST)
    judged = pl.DataFrame({"query": matches.edge_query, "rank": matches.edge_rank}).unique()
    rows = (
        list_results(pair.run, matches, policy.ties, depth)
        .filter(~pl.col("repeated"))
        .join(judged, on=["query", "rank"], how="anti")
        .sort("query", "rank")
        .with_columns(ordinal=pl.int_range(pl.len()).over("query") + 1)
    )
    if not rows.height:
        return
    grade = max(matches.highest_grade, pair.rel or 0.0) or 1.0
    as_is = np.nan_to_num(compute(matches, [metric], policy)[:, 0])
    names = matches.queries["query"]
    extended, ordinals = _with_targets(matches, rows)
    for ordinal, some in rows.group_by("ordinal"):
        grades = np.where(ordinals == ordinal[0], grade, extended.target_grade)
        values = compute(extended.with_grades(grades), [metric], policy)[:, 0]
        moved = np.abs(np.nan_to_num(values) - as_is) / max(matches.n_queries, 1)
        for row in some.iter_rows(named=True):
            one = Label(names[row["query"]], item=row["item"], text=row["text"])
            yield one.pair, float(moved[row["query"]])


def _with_targets(matches: Matches, rows: pl.DataFrame) -> tuple[Matches, Ints]:
    """The matches with a target of grade 0 for each of these results, and its ``ordinal``.

    Targets that were there before have the ordinal 0.
    """
    query, rank, ordinal = (
        rows[name].to_numpy().astype(np.int64) for name in ("query", "rank", "ordinal")
    )
    n, m = matches.target_query.size, query.size
    units = int(matches.target_unit.max(initial=-1)) + 1
    order = np.argsort(np.concatenate([matches.target_query, query]), kind="stable")
    place = np.empty(n + m, dtype=np.int64)
    place[order] = np.arange(n + m)

    item = matches.target_item
    if item is not None:
        item = np.concatenate([item, int(item.max(initial=-1)) + 1 + np.arange(m)])[order]
    edge_query = np.concatenate([matches.edge_query, query])
    edge_rank = np.concatenate([matches.edge_rank, rank])
    edge_target = np.concatenate([place[matches.edge_target], place[n:]])
    edges = np.lexsort((edge_target, edge_rank, edge_query))
    extended = replace(
        matches,
        target_query=np.concatenate([matches.target_query, query])[order],
        target_grade=np.concatenate([matches.target_grade, np.zeros(m)])[order],
        target_unit=np.concatenate([matches.target_unit, units + np.arange(m)])[order],
        target_item=item,
        edge_query=edge_query[edges],
        edge_rank=edge_rank[edges],
        edge_target=edge_target[edges],
        edge_overlap=np.concatenate([matches.edge_overlap, np.ones(m)])[edges],
        spans=None,
    )
    return extended, np.concatenate([np.zeros(n, np.int64), ordinal])[order]


def in_order(
    items: Sequence[PoolItem], worth: Mapping[Pair, float] | None, seed: int
) -> list[PoolItem]:
    """Items question by question; the results of a question in an order that tells nothing.

    With ``worth`` the question comes first whose best label can move the metric most. Within a
    question nothing is sorted by worth: it would give the ranks away.
    """
    first = {item.label.query_id: item.position for item in reversed(items)}
    best: dict[str, float] = {}
    for item in items:
        value = (worth or {}).get(item.label.pair, 0.0)
        best[item.label.query_id] = max(best.get(item.label.query_id, 0.0), value)
    return sorted(
        items,
        key=lambda one: (
            -best[one.label.query_id],
            first[one.label.query_id],
            place(seed, *one.label.pair),
        ),
    )


def check_quote(quote: str, start: int | None, label: Label) -> None:
    """Refuse a quote that does not stand in the text of its item, or not there."""
    text = label.text or ""
    if quote not in text:
        raise InvalidInput(
            f"The quote {quote[:60]!r} does not stand in the text of the item; mark a part of it."
        )
    if start is not None and (start < 0 or not text.startswith(quote, start)):
        raise InvalidInput(
            f"The quote {quote[:60]!r} does not stand at character {start} of the text; mark it "
            "again."
        )


@dataclass(frozen=True, eq=False)
class JudgedTruth:
    """What was known before, with what the judges said."""

    ground_truth: GroundTruth | None
    """None while nothing is known and nothing was judged."""
    grades: Mapping[int, float] = field(default_factory=dict)
    """The grade of each item that was judged, by its position in the pool."""
    left_out: int = 0
    """Items without a grade: a tie that nobody settled."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Whose the labels of each query are: person:anna, machine:small, import, or several."""
    finished: bool = False
    """Whether people judged everything in the pool."""

    def tagged(self, order: str | None) -> GroundTruth | None:
        """The ground truth with tags: whose labels a query has, and how it came to be judged.

        ``order`` is that of the queue; None: there was none.
        """
        truth = self.ground_truth
        if truth is None:
            return None
        said = [self.sources.get(one, IMPORT) for one in truth.queries["query"]]
        chosen = WHOLE_QUEUE if self.finished else order
        queue = [None if one == IMPORT else chosen for one in said]
        both: dict[str, list[str | None]] = {JUDGED_BY: [*said]}
        if order is not None:
            both[QUEUE] = queue
        tags = {name: pl.Series(name, values, dtype=pl.String) for name, values in both.items()}
        return replace(truth, tags={**truth.tags, **tags})


def judged_truth(
    before: GroundTruth | None,
    items: Sequence[PoolItem],
    state: LabelState,
    settings: PoolSettings,
    *,
    machines: bool = False,
    unnamed: Collection[str] = (),
) -> JudgedTruth:
    """The ground truth before, with one grade for every item that was judged and is no tie.

    A label stands in place of what the ground truth said of the same item. What a language model
    said counts only with ``machines``; of ``unnamed`` judges nobody knows whether they are people.
    """
    rows, left_out = [], 0
    said_by: dict[int, list[str]] = {}
    grades: dict[int, float] = {}
    for position in state.touched():
        found = decide(state, position, machines=machines)
        if found is None:
            continue
        if found.grade is None:
            left_out += 1
            continue
        given = [found.final] if found.how == "final" and found.final else [*found.labels.values()]
        marked = [*given, *found.labels.values()]
        quote = next((one for one in marked if one.quote and one.grade == found.grade), None)
        said_by[position] = [
            IMPORT if one.judge in unnamed else source_of(one.judge) for one in given
        ]
        grades[position] = float(found.grade)
        target = _target(items[position].label, quote, settings)
        rows.append({"grade": float(found.grade), **target})
    if not rows:
        return JudgedTruth(before, left_out=left_out)
    new = pl.DataFrame(rows, schema=TARGET_SCHEMA).group_by(
        [name for name in TARGET_SCHEMA if name != "grade"], maintain_order=True
    )
    labelled = new.agg(pl.col("grade").max()).select(*TARGET_SCHEMA)
    truth = _together(before, labelled, items)
    return JudgedTruth(
        truth,
        grades,
        left_out,
        _sources(truth, labelled, items, said_by),
        all(is_peoples(",".join(said_by.get(one.position, ()))) for one in items),
    )


def _sources(
    truth: GroundTruth,
    labelled: pl.DataFrame,
    items: Sequence[PoolItem],
    said_by: Mapping[int, Collection[str]],
) -> dict[str, str]:
    """Whose the labels of each query are; what nobody judged here came with the ground truth."""
    found: dict[str, set[str]] = {}
    for one in items:
        found.setdefault(one.label.query_id, set()).update(said_by.get(one.position, (IMPORT,)))
    same = [name for name in TARGET_SCHEMA if name not in ("grade", "group")]
    kept = truth.targets.join(labelled, on=same, how="anti", nulls_equal=True)
    for query in kept["query"].unique():
        found.setdefault(query, set()).add(IMPORT)
    return {query: ",".join(sorted(one)) for query, one in found.items()}


def _target(label: Label, marked: LogEntry | None, settings: PoolSettings) -> dict[str, object]:
    known = {"query": label.query_id, "document": label.document}
    quote = None if marked is None else marked.quote
    if settings.targets_as == "span" and quote is None and label.start is not None:
        return {**known, "start": label.start, "end": label.end}
    if settings.targets_as == "span" and marked and quote is not None and label.start is not None:
        at = marked.quote_start
        if at is None:
            at = (label.text or "").find(quote)
        start = label.start + max(at, 0)
        return {**known, "start": start, "end": start + len(quote) if at >= 0 else label.end}
    if settings.targets_as == "id" and label.item is not None:
        return {**known, "item": label.item}
    if not quote and label.text is None:
        raise InvalidInput(
            f"The item {label.item!r:.60} of the query {label.query_id!r:.60} has no text, which a "
            f"ground truth by {settings.targets_as} needs; write it by id, or give runs with texts."
        )
    return {**known, "quote": quote or label.text}


def _together(
    before: GroundTruth | None, labelled: pl.DataFrame, items: Sequence[PoolItem]
) -> GroundTruth:
    texts = {one.label.query_id: one.label.query for one in items}
    asked = pl.DataFrame(
        {"query": list(texts), "text": list(texts.values())},
        schema={"query": pl.String(), "text": pl.String()},
    ).filter(pl.col("query").is_in(labelled["query"].implode()))
    if before is None:
        return GroundTruth.from_targets(labelled, queries=asked)
    kept = before.targets
    for same in (["item"], ["quote"], ["document", "start", "end"]):
        known = labelled.select("query", *same).drop_nulls()
        labelled = _in_their_groups(labelled, kept, same)
        kept = kept.join(known, on=["query", *same], how="anti", maintain_order="left")
    new = asked.join(before.queries, on="query", how="anti", maintain_order="left")
    return GroundTruth.from_targets(
        pl.concat([kept, labelled]),
        queries=pl.concat([before.queries.select("query", "text"), new]),
        tags={
            name: tag.extend_constant(None, new.height).alias(name)
            for name, tag in before.tags.items()
        },
    )


def _in_their_groups(
    labelled: pl.DataFrame, before: pl.DataFrame, same: Sequence[str]
) -> pl.DataFrame:
    """What was one of several alternatives stays one of them, whatever its grade is now."""
    groups = before.drop_nulls([*same, "group"]).select("query", *same, was="group")
    if not groups.height:
        return labelled
    found = labelled.join(
        groups.unique(["query", *same]), on=["query", *same], how="left", maintain_order="left"
    )
    return found.with_columns(group=pl.coalesce("group", "was")).drop("was")


def measured(
    truth: GroundTruth | None, runs: Mapping[str, Run], settings: PoolSettings
) -> dict[str, Summary]:
    """The watched metric of every run, with its interval."""
    found = {}
    for name, run in runs.items():
        scores = scored_run(truth, run, settings)
        if scores is None:
            found[name] = Summary(settings.metric, None, None, None, 0, 0)
        else:
            found[name] = next(iter(scores.summaries.values()))
    return found


def scored_run(
    truth: GroundTruth | None, run: Run, settings: PoolSettings, policy: Policy | None = None
) -> Scores | None:
    """The watched metric of a run for every query; None while nothing can be matched."""
    pair = matched_run(truth, run, settings, policy)
    if pair is None:
        return None
    return score(pair, choose_metrics(settings.metric, None, settings.rel))


def matched_run(
    truth: GroundTruth | None, run: Run, settings: PoolSettings, policy: Policy | None = None
) -> Matched | None:
    """A run against the judged ground truth; None while they have nothing to do with each other."""
    if truth is None or not truth.targets.height:
        return None
    try:
        return match_pair(
            truth,
            run,
            Matching(
                match=settings.match,
                level=settings.level,
                rel=settings.rel,
                policy=policy or Policy(),
            ),
        )
    except NoCommonIds:
        return None


def worth_judging(
    only: JudgeOnly, truth: GroundTruth | None, runs: Mapping[str, Run], settings: PoolSettings
) -> set[str]:
    """The questions with a miss in some run, or in which some run differs from the first."""
    if only == "misses":
        return set(_with_misses(truth, runs.values(), settings))
    first, *others = runs.values()
    if not others:
        raise InvalidInput(
            "Only what is different is to be judged, and one run alone differs from nothing; name "
            "the run before the change and the one after it."
        )
    return {
        one.query
        for other in others
        for one in diff_runs(first, other, k=settings.depth).queries
        if one.changed
    }


def _with_misses(
    truth: GroundTruth | None, runs: Iterable[Run], settings: PoolSettings
) -> Iterable[str]:
    if truth is None:
        raise InvalidInput(
            "Only questions with a miss are to be judged, and without a ground truth nothing is "
            "missed; name it with -g."
        )
    # A run that has nothing in common with the ground truth misses all of it.
    policy = Policy(nothing_in_common="zero")
    for run in runs:
        pair = matched_run(truth, run, settings, policy)
        if pair is not None:
            yield from explain_misses(pair, settings.depth, cases=0).by_query["query"]
