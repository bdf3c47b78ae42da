"""The ground truth that labels make, and the watched metric with it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace

import polars as pl

from calipers.engines.scoring import choose_metrics, score
from calipers.errors import InvalidInput, NoCommonIds
from calipers.frozen import dataclass
from calipers.labels.agreement import decide
from calipers.match.pair import match_pair
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.labels import (
    IMPORT,
    JUDGED_BY,
    QUEUE,
    WHOLE_QUEUE,
    Label,
    TargetsAs,
    is_peoples,
    source_of,
)
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import Scores, Summary
from calipers.store.pool import LabelState, LogEntry, PoolItem, PoolSettings


@dataclass(frozen=True, eq=False)
class JudgedTruth:
    """The earlier ground truth, updated with the labels."""

    ground_truth: GroundTruth | None
    """None if there was no ground truth and nothing was judged."""
    grades: Mapping[int, float] = field(default_factory=dict)
    """The grade of each item that was judged, by its position in the pool."""
    left_out: int = 0
    """Items without a grade: a tie that nobody settled."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Who labelled each query: person:anna, machine:small, import, or several."""
    finished: bool = False
    """Whether humans judged everything in the pool."""

    def tagged(self, order: str | None) -> GroundTruth | None:
        """The ground truth with tags for who labelled each query and how it was chosen.

        ``order`` is the order of the queue; None without a queue.
        """
        truth = self.ground_truth
        if truth is None:
            return None
        sources = [self.sources.get(query, IMPORT) for query in truth.queries["query"]]
        tags = {JUDGED_BY: pl.Series(JUDGED_BY, sources, dtype=pl.String)}
        if order is not None:
            chosen = WHOLE_QUEUE if self.finished else order
            queue = [None if source == IMPORT else chosen for source in sources]
            tags[QUEUE] = pl.Series(QUEUE, queue, dtype=pl.String)
        return replace(truth, tags={**truth.tags, **tags})


def is_relevant(grade: float, rel: float | None) -> bool:
    """Whether a grade counts as relevant."""
    return grade > 0.0 if rel is None else grade >= rel


def why_waiting(
    query: str, items: Iterable[int], judged: JudgedTruth, state: LabelState
) -> str | None:
    """Why a question that was drawn cannot count yet: a result was skipped, or is a tie."""
    for item in items:
        if item in judged.grades:
            continue
        if state.labels(item):
            return (
                f"Judges differ on a result of the question {query!r:.60}: settle it to "
                "go on."
            )
        answers = state.given(item).values()
        if answers and all(answer.kind == "skip" for answer in answers):
            return (
                f"A result of the question {query!r:.60} was skipped: judge it to go on."
            )
    return None


def judged_truth(
    before: GroundTruth | None,
    items: Sequence[PoolItem],
    state: LabelState,
    settings: PoolSettings,
    *,
    machines: bool = False,
    unnamed: Collection[str] = (),
) -> JudgedTruth:
    """The earlier ground truth with one grade for every judged item that is not a tie.

    A label replaces the earlier grade of the same item. Labels of language models count
    only with ``machines``; ``unnamed`` judges may be human or not.
    """
    rows = []
    left_out = 0
    said_by: dict[int, list[str]] = {}
    grades: dict[int, float] = {}
    for position in state.touched():
        decision = decide(state, position, machines=machines)
        if decision is None or decision.counts is None:
            left_out += decision is not None
            continue
        deciding = (
            [decision.final]
            if decision.how == "final" and decision.final
            else [*decision.labels.values()]
        )
        marked = [*deciding, *decision.labels.values()]
        quote = next(
            (entry for entry in marked if entry.quote and entry.grade == decision.counts),
            None,
        )
        names = (
            IMPORT if entry.judge in unnamed else source_of(entry.judge)
            for entry in deciding
        )
        said_by[position], grades[position] = [*names], float(decision.counts)
        target = _target(items[position].label, quote, settings.targets_as)
        rows.append({"grade": grades[position], **target})
    if not rows:
        return JudgedTruth(before, left_out=left_out)
    same = [name for name in TARGET_SCHEMA if name != "grade"]
    new = pl.DataFrame(rows, schema=TARGET_SCHEMA).group_by(same, maintain_order=True)
    labelled = new.agg(pl.col("grade").max()).select(*TARGET_SCHEMA)
    truth = _merge_labels(before, labelled, items)
    sources: dict[str, set[str]] = {}
    for pool_item in items:
        sources.setdefault(pool_item.label.query_id, set()).update(
            said_by.get(pool_item.position, (IMPORT,))
        )
    # Targets that nobody judged came with the ground truth.
    same.remove("group")
    kept = truth.targets.join(labelled, on=same, how="anti", nulls_equal=True)
    for query in kept["query"].unique():
        sources.setdefault(query, set()).add(IMPORT)
    return JudgedTruth(
        truth,
        grades,
        left_out,
        {query: ",".join(sorted(names)) for query, names in sources.items()},
        all(is_peoples(",".join(said_by.get(item.position, ()))) for item in items),
    )


def _target(label: Label, marked: LogEntry | None, by: TargetsAs) -> dict[str, object]:
    """A judged item as a row of a ground truth."""
    known = {"query": label.query_id, "document": label.document}
    quote = None if marked is None else marked.quote
    if by == "span" and label.start is not None:
        if marked is None or quote is None:
            return {**known, "start": label.start, "end": label.end}
        at = (
            (label.text or "").find(quote)
            if marked.quote_start is None
            else marked.quote_start
        )
        start = label.start + max(at, 0)
        return {
            **known,
            "start": start,
            "end": start + len(quote) if at >= 0 else label.end,
        }
    if by == "id" and label.item is not None:
        return {**known, "item": label.item}
    if not quote and label.text is None:
        raise InvalidInput(
            f"The item {label.item!r:.60} of the query {label.query_id!r:.60} has no "
            f"text, which a ground truth by {by} needs; write it by id, or give runs "
            "with texts."
        )
    return {**known, "quote": quote or label.text}


def _merge_labels(
    before: GroundTruth | None, labelled: pl.DataFrame, items: Sequence[PoolItem]
) -> GroundTruth:
    """The ground truth with the labelled targets in place of what was said of them before."""
    texts = {item.label.query_id: item.label.query for item in items}
    both = {"query": pl.String(), "text": pl.String()}
    questions = pl.DataFrame([*texts.items()], schema=both, orient="row")
    questions = questions.filter(pl.col("query").is_in(labelled["query"].implode()))
    if before is None:
        return GroundTruth.from_targets(labelled, queries=questions)
    kept = before.targets
    for same in (["item"], ["quote"], ["document", "start", "end"]):
        on = ["query", *same]
        # A relabelled target stays in its group of alternatives.
        groups = kept.drop_nulls([*same, "group"]).select(*on, was="group").unique(on)
        known = labelled.select(on).drop_nulls()
        labelled = labelled.join(groups, on=on, how="left", maintain_order="left")
        labelled = labelled.with_columns(group=pl.coalesce("group", "was")).drop("was")
        kept = kept.join(known, on=on, how="anti", maintain_order="left")
    new = questions.join(before.queries, on="query", how="anti", maintain_order="left")
    return GroundTruth.from_targets(
        pl.concat([kept, labelled]),
        queries=pl.concat([before.queries.select("query", "text"), new]),
        tags={
            name: tag.extend_constant(None, new.height).alias(name)
            for name, tag in before.tags.items()
        },
    )


def measured(
    truth: GroundTruth | None, runs: Mapping[str, Run], settings: PoolSettings
) -> dict[str, Summary]:
    """The watched metric of every run, with its interval."""
    scored = {name: scored_run(truth, run, settings) for name, run in runs.items()}
    nothing = Summary(settings.metric, None, None, None, 0, 0)
    return {
        name: nothing if scores is None else next(iter(scores.summaries.values()))
        for name, scores in scored.items()
    }


def scored_run(
    truth: GroundTruth | None,
    run: Run,
    settings: PoolSettings,
    policy: Policy | None = None,
) -> Scores | None:
    """The watched metric of a run for every query; None while nothing can be matched."""
    if truth is None or not truth.targets.height:
        return None
    try:
        pair = match_pair(truth, run, matching_of(settings, policy))
    except NoCommonIds:
        return None
    return score(pair, choose_metrics(settings.metric, None, settings.rel))


def matching_of(settings: PoolSettings, policy: Policy | None = None) -> Matching:
    """How the ground truth of a pool is matched."""
    return Matching(rel=settings.rel, policy=policy or Policy())
