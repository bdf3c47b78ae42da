"""Blocks of whole queries, measured one at a time by the kernels that all engines share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from calipers.checks.counts import audit_counts
from calipers.engines.part import Part
from calipers.engines.plan import EnginePlan
from calipers.engines.scoring import facts_of, query_table
from calipers.io.tables.cast import cast_columns
from calipers.io.tables.tags import TAG
from calipers.match.choose import Choice, as_quotes, check_evidence, parse_matching
from calipers.match.pair import match_as_chosen
from calipers.measures import compute, parse
from calipers.model.fingerprint import DigestSum
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth, check_direction
from calipers.model.matched import Tally
from calipers.model.matches import Matches
from calipers.model.ranking import whole_queries
from calipers.model.run import RUN_SCHEMA, Run
from calipers.model.scores import combine

SIDE = "__side"
"""The column that tells the rows of the ground truth from those of the run."""
TRUTH, RUN = 0, 1
GIVEN_TAG = "__tag_"
"""How they are called on the way in: Spark takes a point in a name for a field of a structure."""
TEXT = "query_text"
ROWS_AT_ONCE = 200_000


def measure_partition(
    frames: Iterable[pl.DataFrame], plan: EnginePlan, rows: int = ROWS_AT_ONCE
) -> Iterator[tuple[pl.DataFrame, Part]]:
    """Tables of scores, with their counts, from rows of both sides sorted by query.

    A query may be cut by a frame, never by a partition.
    """
    for block, _ in whole_queries(gathered(frames, rows)):
        yield measure_block(block, plan)


def gathered(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """Frames of so many rows or more: a block costs some time, however small it is."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(one.height for one in held) >= rows:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def measure_block(block: pl.DataFrame, plan: EnginePlan) -> tuple[pl.DataFrame, Part]:
    """The scores of some whole queries with rows of both sides, and what was counted."""
    truth = _truth(block.filter(pl.col(SIDE) == TRUTH), plan)
    run = _run(block.filter(pl.col(SIDE) == RUN), plan)
    if plan.level == "document":
        from calipers.match.level import to_documents

        truth, run = to_documents(truth, run, replace(plan.policy, ties=plan.ties))
    choice = Choice(parse_matching("id" if plan.level == "document" else plan.match), truth)
    if truth.targets.height:
        check_evidence(choice)
    measured = measure(choice, run, plan)
    return measured.table, measured.part


@dataclass(frozen=True, eq=False)
class MeasuredBlock:
    """Some whole queries."""

    table: pl.DataFrame
    """One row for each, with its scores."""
    part: Part
    ground_truth: GroundTruth
    matches: Matches
    tally: Tally


def measure(choice: Choice, run: Run, plan: EnginePlan) -> MeasuredBlock:
    """Match, measure and count some whole queries: a run and all that its queries should find."""
    truth = choice.ground_truth
    # Whether nothing at all is in common is known once every block was seen.
    policy = replace(plan.policy, nothing_in_common="zero", ties=plan.ties)
    matches, tally = match_as_chosen(
        choice,
        run,
        policy,
        plan.corpus_size,
        together=plan.level == "evidence",
        fingerprint=plan.fingerprints,
    )
    matches = replace(matches, grades_in_all=np.array(plan.grades, dtype=np.float64))
    metrics = parse(list(plan.metrics))
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    audit = audit_counts(
        truth, matches, tally, depth=max(cutoffs) if cutoffs else None, rel=plan.rel
    )
    digest = tally.fingerprint.sum() if tally.fingerprint is not None else DigestSum()
    part = Part.of(audit, matches.edge_query.size, digest)
    values = compute(matches, metrics, plan.policy)
    columns = dict(zip(plan.metrics, values.T, strict=True))
    if plan.weights:
        columns["score"] = combine([facts_of(one) for one in metrics], values, plan.weights)
    for name, column in columns.items():
        part.count_values(name, column)
    table = query_table(matches, plan.rel).with_columns(
        *(tag.alias(TAG + name) for name, tag in truth.tags.items()),
        *(pl.Series(name, column).fill_nan(None) for name, column in columns.items()),
    )
    return MeasuredBlock(table, part, truth, matches, tally)


def checked(
    rows: pl.DataFrame, schema: dict[str, pl.DataType], columns: Iterable[str], name: str
) -> pl.DataFrame:
    """Some columns of rows that have no places, each as it must be, or a sentence."""
    made = cast_columns(rows.select(columns), schema, lambda _: name, 0)
    check_direction(made, lambda _: name)
    return made


def _truth(rows: pl.DataFrame, plan: EnginePlan) -> GroundTruth:
    says = pl.any_horizontal(pl.col(*plan.identities, "grade").is_not_null())
    # A query alone, without a grade, is one for which there is nothing to find.
    named = rows.filter(says)
    targets = checked(named, TARGET_SCHEMA, plan.truth_columns, "the ground truth")
    columns = {"query": rows["query"].cast(pl.String)}
    if TEXT in rows.columns:
        columns["text"] = rows[TEXT]
    tagged = pl.DataFrame(columns).with_columns(rows[GIVEN_TAG + name] for name in plan.tags)
    first = tagged.group_by("query", maintain_order=True).agg(pl.all().drop_nulls().first())
    texts = [name for name in ("query", "text") if name in first.columns]
    tags = {name: first[GIVEN_TAG + name].alias(name) for name in plan.tags}
    truth = GroundTruth.from_targets(
        targets, queries=first.select(texts), tags=tags, where=lambda _: "the ground truth"
    )
    return as_quotes(truth) if plan.quotes_from_ids else truth


def _run(rows: pl.DataFrame, plan: EnginePlan) -> Run:
    results = checked(rows, RUN_SCHEMA, plan.run_columns, "the run")
    if plan.texts_from_ids:
        results = results.rename({"item": "text"})
    return Run.from_frame(results, order=plan.order, ties=plan.ties)
