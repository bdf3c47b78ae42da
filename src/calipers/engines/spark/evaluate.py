"""Spark: DataFrames in, a DataFrame of scores out, by the kernels that evaluation uses elsewhere.

Rows of both sides come together by query, and a worker measures them block by block. Only counts
come back to the driver, one row from each partition. Nothing here needs more than the DataFrame
API, so that it works through Spark Connect as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from calipers.engines.blocks import (
    IDENTITIES,
    EnginePlan,
    Part,
    measure_block,
    merged,
)
from calipers.engines.scoring import (
    check_confidence,
    facts_of,
    settings_fingerprint,
    weights_by_name,
)
from calipers.engines.spark.scores import SparkScores
from calipers.engines.spark.session import need_spark
from calipers.engines.spark.sides import Sides, named, one_side
from calipers.engines.summary import enforce
from calipers.engines.summary_only import scores_elsewhere
from calipers.errors import CalipersError, InvalidInput
from calipers.io.records.results import QUERY_SCHEMA
from calipers.io.spark_blocks import Buckets, joined, nothing_of, pack_there, unpacked
from calipers.io.spark_errors import spoken
from calipers.io.tables.checked import TAG
from calipers.io.tables.columns import Columns
from calipers.match.pair import check_matching
from calipers.measures import Metric
from calipers.model.ground_truth import TARGET_SCHEMA
from calipers.model.policy import CHOICES, Policy
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, natural_order
from calipers.version import __version__

UNDERSTOOD = ("match", "level", "rel", "corpus_size", "like", "fingerprints", "columns")
"""The keywords beside the policies that have a meaning here."""
PART = "__part"
"""The column in which a partition says what it counted; empty in the rows of queries."""


def evaluate_frames(
    run: Any,
    ground_truth: Any,
    metrics: Sequence[Metric],
    matching: Mapping[str, Any],
    *,
    query: str | None = None,
    item: str | None = None,
    tags: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    partitions: int | None = None,
    confidence: float = 0.95,
) -> SparkScores:
    """The scores of a run, both sides given as Spark DataFrames with one row per item.

    ``matching`` are the keywords that say how to match; those without a meaning here are refused.
    """
    for name, value in matching.items():
        if value is not None and name not in (*CHOICES, *UNDERSTOOD):
            raise InvalidInput(f"{name} has no meaning on Spark; leave it out.")
    like, rel, corpus_size = (matching.get(name) for name in ("like", "rel", "corpus_size"))
    match, level = matching.get("match"), matching.get("level")
    check_matching(match, level, rel, corpus_size)
    policy = Policy.like(like) if like else Policy()
    policy = policy.with_changes(**{name: matching.get(name) for name in CHOICES})
    others = Columns.of(matching.get("columns"))
    check_confidence(confidence)
    need_spark()
    with spoken():
        both = {"query": query, "item": item}
        truth_names = named(ground_truth, "The ground truth", both, others, TARGET_SCHEMA)
        run_names = named(run, "The run", both, others, RUN_SCHEMA)
        others.check_used()
        order = _order(run_names, policy)
        # As in files, a column tag.country is the tag country.
        given = (*tags, *(one for one in ground_truth.columns if one.startswith(TAG)))
        _check_tags(ground_truth, given)
        tagged = {one.removeprefix(TAG): one for one in given}
        sides = _sides(run, ground_truth, run_names, truth_names, tuple(tagged.values()))
        metrics = tuple(dict.fromkeys(metric.with_rel(rel) for metric in metrics))
        # As a run in memory has it: ranks leave no ties.
        ties = policy.ties or ("trec" if order == "score" else "input")
        plan = EnginePlan(
            metrics=tuple(map(str, metrics)),
            policy=replace(policy, ties=ties),
            truth_columns=sides.truth_columns,
            run_columns=sides.run_columns,
            order=order,
            rel=rel,
            corpus_size=corpus_size,
            weights=weights_by_name(weights, rel),
            tags=tuple(tagged),
            fingerprints=matching.get("fingerprints", True),
        )
        plan, notes = sides.settle(plan, match, level)
        measured = _measured(sides, plan, partitions)
        parts = measured.where(f"{PART} is not null").select(PART).collect()
        part = merged(Part.decode(bytes(row[0])) for row in parts)
        if part.error is not None:
            measured.unpersist()
            raise InvalidInput(part.error)
        sides.check_in_common(plan, part)
        by = "document" if plan.level == "document" else plan.match
        settings = {
            "calipers": __version__,
            "rel": rel,
            "corpus_size": corpus_size,
            "matched_at": plan.level,
            "match": by,
            "notes": list(notes),
            "confidence": confidence,
        }
        return _scores(plan, metrics, part, settings, measured, sides)


def _scores(
    plan: EnginePlan,
    metrics: Sequence[Metric],
    part: Part,
    settings: Mapping[str, Any],
    measured: Any,
    sides: Sides,
) -> SparkScores:
    facts = tuple(facts_of(metric) for metric in metrics)
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    audit = part.audit(max(cutoffs) if cutoffs else None)
    enforce(plan.policy, audit)
    prints = {"settings": settings_fingerprint(facts, plan.policy, plan.weights, settings)}
    if plan.fingerprints:
        of_truth = sides.truth_fingerprint(plan, audit.judgements)
        prints = {"ground_truth": of_truth, "run": part.digest.hexdigest(), **prints}
    return scores_elsewhere(
        SparkScores,
        plan,
        facts,
        part,
        audit,
        tags=plan.tags,
        fingerprints=prints,
        settings=settings,
        frame=measured.where(f"{PART} is null").drop(PART),
        persisted=measured,
    )


def _order(names: Mapping[str, str], policy: Policy) -> Order:
    order = natural_order(names)
    if order == "listed":
        raise InvalidInput(
            "The run has neither a score nor a rank, and the rows of a DataFrame have no order; "
            "add a column score or rank."
        )
    if order == "score" and policy.ties == "input":
        raise InvalidInput(
            "ties=input is asked for, and the rows of a DataFrame have no order; choose "
            "ties=trec or ties=error, or give the run a column rank."
        )
    return order


def _check_tags(ground_truth: Any, tags: Sequence[str]) -> None:
    for tag in tags:
        if tag not in ground_truth.columns:
            raise InvalidInput(
                f"The ground truth has no column {tag!r} to slice by; found "
                f"{', '.join(ground_truth.columns)}."
            )


def _sides(
    run: Any,
    ground_truth: Any,
    run_names: Mapping[str, str],
    truth_names: Mapping[str, str],
    tags: Sequence[str],
) -> Sides:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    run_names = {ours: theirs for ours, theirs in run_names.items() if ours in RUN_SCHEMA}
    truth = one_side(ground_truth, truth_names, tags, "the ground truth")
    if "grade" not in truth_names:
        named = F.coalesce(*(name for name in IDENTITIES if name in truth_names))
        truth = truth.withColumn("grade", F.when(named.isNotNull(), F.lit(1.0)))
    results = one_side(run, run_names, (), "the run")
    judged = tuple(n for n in TARGET_SCHEMA if n in truth_names or n == "grade")
    return Sides(truth, results, judged, tuple(n for n in RUN_SCHEMA if n in run_names))


_SETTLING = ("rank", "item", "text", "document", "start", "quote")
"""Equal scores and ranks are settled by what stands in the row, not by when it arrived."""


def _measured(sides: Sides, plan: EnginePlan, partitions: int | None) -> Any:
    both = sides.run, sides.truth
    buckets = Buckets.of(sides.run.sparkSession, partitions)
    packed = (
        pack_there(one, buckets, [name for name in _SETTLING if name in one.columns])
        for one in both
    )
    nothing = nothing_of(sides.run), nothing_of(sides.truth)
    return joined(*packed).mapInArrow(_worker(plan, nothing), _schema(plan)).persist()


def _schema(plan: EnginePlan) -> Any:
    from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

    kinds = {pl.String(): T.StringType(), pl.Int64(): T.LongType()}
    values = [*plan.metrics, *(["score"] if plan.weights else [])]
    return T.StructType(
        [
            *(T.StructField(name, kinds[kind]) for name, kind in QUERY_SCHEMA.items()),
            *(T.StructField(TAG + name, T.StringType()) for name in plan.tags),
            *(T.StructField(name, T.DoubleType()) for name in values),
            T.StructField(PART, T.BinaryType()),
        ]
    )


def _worker(plan: EnginePlan, nothing: tuple[pl.DataFrame, pl.DataFrame]) -> Any:
    """What runs in each partition."""
    values = [*plan.metrics, *(["score"] if plan.weights else [])]

    def work(batches: Any) -> Any:
        import pyarrow as pa

        text, whole, number = pa.string(), pa.int64(), pa.float64()
        schema = pa.schema(
            [
                ("query", text),
                ("text", text),
                ("status", text),
                ("retrieved", whole),
                ("targets", whole),
                *((TAG + name, text) for name in plan.tags),
                *((name, number) for name in values),
                (PART, pa.binary()),
            ]
        )
        part = Part()
        try:
            for results, judged in unpacked(batches, *nothing):
                table, counted = measure_block(results, judged, plan)
                part.merge(counted)
                rows = table.with_columns(pl.lit(None, dtype=pl.Binary).alias(PART))
                yield from rows.select(schema.names).to_arrow().cast(schema).to_batches()
        except CalipersError as error:
            part.error = str(error)
        empty = {name: [None] for name in schema.names}
        yield pa.RecordBatch.from_pydict({**empty, PART: [part.encode()]}, schema=schema)

    return work
