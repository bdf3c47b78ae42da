"""Spark: DataFrames in, a DataFrame of scores out, by the kernels that evaluation uses elsewhere.

Rows of both sides come together by query, and a worker measures them block by block. Only counts
come back to the driver, one row from each partition. Nothing here needs more than the DataFrame
API, so that it works through Spark Connect as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from calipers.engines.blocks import GIVEN_TAG, EnginePlan, Part, measure_block, merged
from calipers.engines.scoring import (
    check_confidence,
    deepest_cutoff,
    facts_of,
    settings_fingerprint,
    weights_by_name,
)
from calipers.engines.spark.scores import SparkScores
from calipers.engines.spark.session import need_spark
from calipers.engines.spark.sides import Sides
from calipers.engines.summary import enforce
from calipers.engines.summary_only import scores_elsewhere
from calipers.errors import CalipersError, InvalidInput
from calipers.io.format import is_of_spark
from calipers.io.records.results import QUERY_SCHEMA
from calipers.io.spark import in_our_names, quoted, spoken
from calipers.io.spark_blocks import Buckets, joined, nothing_of, pack_there, unpacked
from calipers.io.tables.cells import TAG
from calipers.io.tables.columns import Columns
from calipers.match.choose import check_ties
from calipers.measures import Metric
from calipers.model.matching import Matching
from calipers.model.policy import CHOICES
from calipers.model.run import natural_order
from calipers.version import __version__

UNDERSTOOD = ("match", "level", "rel", "corpus_size", "like", "fingerprints", "columns")
"""The keywords beside the policies that have a meaning here."""
TRUTH, RUN = "The ground truth", "The run"
PART = "__part"
"""The column in which a partition says what it counted; empty in the rows of queries."""


def evaluate_frames(
    run: Any,
    ground_truth: Any,
    metrics: Sequence[Metric],
    asked: Mapping[str, Any],
    *,
    query: str | None = None,
    item: str | None = None,
    tags: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    partitions: int | None = None,
    confidence: float = 0.95,
) -> SparkScores:
    """The scores of a run, both sides given as Spark DataFrames with one row per item.

    ``asked`` are the keywords that say how to match; those without a meaning here are refused.
    """
    for name, value in asked.items():
        if value is not None and name not in (*CHOICES, *UNDERSTOOD):
            raise InvalidInput(f"{name} has no meaning on Spark; leave it out.")
    matching = Matching.of(asked)
    policy = matching.policy
    said = Columns.of(asked.get("columns"))
    both = {ours: one for ours, one in (("query", query), ("item", item)) if one is not None}
    said = replace(said, named={**said.named, **both})
    check_confidence(confidence)
    need_spark()
    with spoken():
        for what, frame in ((TRUTH, ground_truth), (RUN, run)):
            if not is_of_spark(frame):
                raise InvalidInput(
                    f"{what} is a {type(frame).__name__}, and calipers.spark takes DataFrames of "
                    "Spark; calipers.evaluate takes all else."
                )
            _check_has(frame, what, {one: f"for the {ours}" for ours, one in both.items()})
        # As in files, a column tag.country is the tag country.
        given = (*tags, *(one for one in ground_truth.columns if one.startswith(TAG)))
        _check_has(ground_truth, TRUTH, dict.fromkeys(given, "to slice by"))
        tagged = {one.removeprefix(TAG): one for one in given}
        further = {f"{GIVEN_TAG}{i}": one for i, one in enumerate(tagged.values())}
        judged = in_our_names(ground_truth, "ground_truth", TRUTH, said, further)
        results = in_our_names(run, "run", RUN, said)
        said.check_used()
        judged.check_targets(given)
        order = natural_order(results.called)
        check_ties(policy.ties, order)
        sides = Sides.of(judged, results)
        metrics = tuple(dict.fromkeys(metric.with_rel(matching.rel) for metric in metrics))
        # As a run in memory has it: ranks leave no ties.
        ties = policy.ties or ("trec" if order == "score" else "input")
        plan = EnginePlan(
            metrics=tuple(map(str, metrics)),
            matching=replace(matching, policy=replace(policy, ties=ties)),
            truth_columns=sides.truth_columns,
            run_columns=sides.run_columns,
            order=order,
            weights=weights_by_name(weights, matching.rel),
            tags=tuple(tagged),
            fingerprints=asked.get("fingerprints", True),
        )
        plan, notes = sides.settle(plan)
        settings = {
            "calipers": __version__,
            **plan.matching.to_settings(),
            "notes": list(notes),
            "confidence": confidence,
        }
        measured = _measured(sides, plan, partitions)
        try:
            return _scores(plan, metrics, settings, measured, sides)
        except BaseException:
            measured.unpersist()
            raise


def _scores(
    plan: EnginePlan,
    metrics: Sequence[Metric],
    settings: Mapping[str, Any],
    measured: Any,
    sides: Sides,
) -> SparkScores:
    parts = measured.where(f"{PART} is not null").select(PART).collect()
    part = merged(Part.decode(bytes(row[0])) for row in parts)
    if part.error is not None:
        raise InvalidInput(part.error)
    sides.check_in_common(plan, part)
    facts = tuple(facts_of(metric) for metric in metrics)
    audit, policy = part.audit(deepest_cutoff(metrics)), plan.matching.policy
    enforce(policy, audit)
    prints = {"settings": settings_fingerprint(facts, policy, plan.weights, settings)}
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


def _check_has(frame: Any, what: str, columns: Mapping[str, str]) -> None:
    for name, use in columns.items():
        if name not in frame.columns:
            found = ", ".join(frame.columns)
            raise InvalidInput(f"{what} has no column {name!r} {use}; found {found}.")


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
    made = ", ".join(f"{quoted(name)} {kind}" for name, kind in _kinds(plan).items())
    return joined(*packed).mapInArrow(_worker(plan, nothing), made).persist()


def _kinds(plan: EnginePlan) -> dict[str, str]:
    """The columns that workers make, each with what it holds."""
    return {
        **{
            name: "string" if kind == pl.String() else "long" for name, kind in QUERY_SCHEMA.items()
        },
        **dict.fromkeys((TAG + name for name in plan.tags), "string"),
        **dict.fromkeys((*plan.metrics, *(["score"] if plan.weights else [])), "double"),
        PART: "binary",
    }


def _worker(plan: EnginePlan, nothing: tuple[pl.DataFrame, pl.DataFrame]) -> Any:
    """What runs in each partition."""

    def work(batches: Any) -> Any:
        import pyarrow as pa

        types = {"string": pa.string(), "long": pa.int64(), "double": pa.float64()}
        kinds = _kinds(plan).items()
        schema = pa.schema([(name, types.get(kind, pa.binary())) for name, kind in kinds])
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
