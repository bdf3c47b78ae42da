"""Spark: DataFrames in, a DataFrame of scores out, by the same kernels as on one machine.

Rows of both sides are grouped by query, and a worker measures them block by block. Only counts
come back to the driver, one row from each partition. Nothing here needs more than the DataFrame
API, so that it works through Spark Connect as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, Self

import polars as pl

from calipers.engines.blocks import (
    EDGES,
    GIVEN_TAG,
    IDENTITIES,
    EnginePlan,
    Part,
    checked,
    measure_block,
    merged,
    remote_scores,
)
from calipers.engines.scoring import (
    check_confidence,
    deepest_cutoff,
    facts_of,
    settings_fingerprint,
    weights_by_name,
)
from calipers.engines.spark.scores import SparkScores
from calipers.engines.spark.session import need_spark
from calipers.engines.summary import enforce
from calipers.errors import CalipersError, InvalidInput
from calipers.io.format import is_of_spark
from calipers.io.records.results import QUERY_SCHEMA
from calipers.io.spark import NamedFrame, in_our_names, quoted, spoken
from calipers.io.spark_blocks import Buckets, joined, nothing_of, pack_there, unpacked
from calipers.io.tables.cells import TAG
from calipers.io.tables.columns import Columns
from calipers.match.choose import check_corpus_size, check_ties, choose
from calipers.match.notes import check_in_common
from calipers.measures import Metric
from calipers.model.fingerprint import fingerprint_blobs, joined_rows, row_texts
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.matched import EXAMPLES
from calipers.model.matching import Matching, check_level, parse_matching
from calipers.model.policy import CHOICES
from calipers.model.run import RUN_SCHEMA, Run, natural_order
from calipers.version import __version__

SAMPLE = 50
_ROWS_IN_ONE_PARTITION = 1_000_000
_KINDS = ("item", "quote", "start")


@dataclass(frozen=True, eq=False)
class Sides:
    """Both DataFrames with Calipers' column names, from which the plan is settled."""

    truth: Any
    run: Any
    truth_columns: tuple[str, ...]
    run_columns: tuple[str, ...]

    @classmethod
    def of(cls, truth: NamedFrame, run: NamedFrame) -> Self:
        """Both sides, with grade 1 for targets without a grade."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        judged = truth.frame
        if "grade" not in truth.called:
            named = F.coalesce(*(name for name in IDENTITIES if name in truth.called))
            judged = judged.withColumn("grade", F.when(named.isNotNull(), F.lit(1.0)))
        columns = tuple(name for name in TARGET_SCHEMA if name in judged.columns)
        return cls(
            judged, run.frame, columns, tuple(name for name in RUN_SCHEMA if name in run.called)
        )

    @cached_property
    def targets(self) -> Any:
        """The rows of the ground truth that name a target."""
        return self.truth.where(self._names_something)

    @property
    def _names_something(self) -> Any:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        # A grade without an item is an error, which a worker reports with its place.
        named = [F.col(name) for name in IDENTITIES if name in self.truth_columns]
        return reduce(or_, (one.isNotNull() for one in (*named, F.col("grade"))))

    def settle(self, plan: EnginePlan) -> tuple[EnginePlan, tuple[str, ...]]:
        """The plan with what the data decides, and notes for the reader of the result."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        match, at = plan.matching.match, check_level(plan.matching.level)
        if at == "page":
            raise InvalidInput(
                "The level of pages (--level page) is not computed on Spark; choose evidence, "
                "chunk or document, or measure without Spark."
            )
        names = self._names_something
        filled = {n: F.count(F.when(names, F.col(n))).alias(n) for n in self.truth_columns}
        counted = (
            self.truth.agg(
                F.count(F.when(names, 1)).alias("__rows"),
                F.count(F.when(~names, 1)).alias("__nameless"),
                F.collect_set(F.when(names, F.col("grade"))).alias("__grades"),
                *(one.alias(f"__some{i}") for i, one in enumerate(self._examples())),
                *filled.values(),
            )
            .collect()[0]
            .asDict()
        )
        grades = tuple(sorted(_grades(counted["__grades"])))
        plan = replace(
            plan,
            used_columns=tuple(name for name in filled if counted[name]),
            silent_queries=counted["__nameless"] > 0,
        )
        if at == "document" and counted.get("document", 0) < counted["__rows"]:
            raise InvalidInput(
                "The level of documents cannot be computed: not every target says its document; "
                "give the ground truth a column document."
            )
        examples = [counted[n] for n in counted if n.startswith("__some") and counted[n]]
        sample = self._ground_truth([row.asDict() for row in examples])
        by_quote = match is not None and parse_matching(match).kind == "quote"
        columns = list(self.run_columns)
        texts_from_ids = by_quote and "text" not in columns and "item" in columns
        if texts_from_ids:
            columns = ["text" if name == "item" else name for name in columns]
        if at == "document":
            matching = replace(plan.matching, match="id")
            return replace(plan, matching=matching, grades=grades), ()
        try:
            choice = choose(match, sample, columns, lambda: self.in_common("item"))
        except InvalidInput as error:
            raise InvalidInput(
                f"{error} (Counted over examples: the ground truth has {counted['__rows']:,} "
                "targets.)"
            ) from None
        kind = choice.rule.kind
        plan = replace(
            plan,
            matching=replace(plan.matching, match=str(choice.rule), level=at),
            grades=grades,
            quotes_from_ids=kind == "quote" and sample.kinds == {"item"},
            texts_from_ids=texts_from_ids,
        )
        check_corpus_size(plan.matching.corpus_size, kind)
        return plan, choice.notes

    def _examples(self) -> list[Any]:
        """A target with each column and one without, to find the columns that all targets have."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        names, row = self._names_something, F.struct(*self.truth_columns)
        kinds = [F.col(name) for name in _KINDS if name in self.truth_columns]
        which = [is_so for one in kinds for is_so in (one.isNotNull(), one.isNull())]
        return [F.first(F.when(names & one, row), ignorenulls=True) for one in which]

    def _ground_truth(self, rows: Sequence[Mapping[str, Any]]) -> GroundTruth:
        """Some targets, read and checked as all are."""
        table = pl.DataFrame(rows, schema=self.truth_columns, infer_schema_length=None)
        targets = checked(table, TARGET_SCHEMA, self.truth_columns, "the ground truth")
        return GroundTruth.from_targets(
            targets.unique(maintain_order=True), where=lambda _: "the ground truth"
        )

    def in_common(self, column: str) -> bool:
        """Whether any value of a column is on both sides, for any query."""
        if column not in self.truth_columns or column not in self.run_columns:
            return False
        wanted = self.targets.select(column).distinct()
        return bool(self.run.join(wanted, column, "left_semi").limit(1).count())

    def check_in_common(self, plan: EnginePlan, part: Part) -> None:
        """Refuse two sides with nothing in common, instead of scoring 0 everywhere."""
        counts = part.counts
        matching = plan.matching
        nothing = matching.policy.nothing_in_common
        if counts[EDGES] or nothing == "zero" or not counts["judgements"]:
            return
        kind = "span" if matching.at_documents else matching.rule.kind
        column = "item" if kind == "id" else "document"
        if not counts["retrieved"] and not counts["unknown"]:
            return
        if counts["retrieved"] and self.in_common(column):
            return
        rows = pl.DataFrame(self.run.select(*self.run_columns).limit(1000).toArrow())
        results = checked(rows, RUN_SCHEMA, self.run_columns, "the run")
        if plan.texts_from_ids:
            results = results.rename({"item": "text"})
        some = self.targets.select(*self.truth_columns).limit(SAMPLE).collect()
        sample = self._ground_truth([row.asDict() for row in some])
        check_in_common(
            kind,
            sample,
            Run.from_frame(results),
            matching.policy,
            retrieved=counts["retrieved"],
            queries=results["query"].unique(maintain_order=True).head(EXAMPLES).to_list(),
        )

    def truth_fingerprint(self, plan: EnginePlan, rows: int) -> str:
        """The same fingerprint as in memory: sorted rows stream through the driver in batches."""
        targets, columns = self._as_measured(plan)
        has = columns if plan.matching.at_documents else plan.used_columns
        used = [name for name in TARGET_SCHEMA if name in has]
        if plan.quotes_from_ids:
            used = ["quote" if name == "item" else name for name in used]
        once = targets.select(*columns).dropDuplicates()
        if plan.silent_queries:
            silent = self._silent()
            once = once.unionByName(silent, allowMissingColumns=True)
            rows += silent.count()
        texts = once.mapInArrow(_texts_of(plan, tuple(used), columns), "row string")
        few = rows <= _ROWS_IN_ONE_PARTITION
        ordered = texts.repartition(1).sortWithinPartitions("row") if few else texts.sort("row")
        blobs = ordered.mapInArrow(_blobs, "blob binary").toLocalIterator()
        return fingerprint_blobs((bytes(one["blob"]) for one in blobs), rows, used)

    def _as_measured(self, plan: EnginePlan) -> tuple[Any, tuple[str, ...]]:
        """The targets and their columns; at the level of documents, one for each document."""
        if not plan.matching.at_documents:
            return self.targets, self.truth_columns
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        group = ("group",) if "group" in plan.used_columns else ()
        rolled = self.targets.groupBy("query", "document", *group).agg(
            F.max(F.col("grade").cast("double")).alias("grade")
        )
        columns = ("query", "item", "grade", *group)
        return rolled.withColumnRenamed("document", "item"), columns

    def _silent(self) -> Any:
        """The queries without targets, as the fingerprint takes them."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        nameless = self.truth.where(~self._names_something).select("query").distinct()
        alone = nameless.join(self.targets.select("query"), "query", "left_anti")
        return alone.withColumn("grade", F.lit(0.0).cast(self.truth.schema["grade"].dataType))


def _grades(found: Any) -> list[float]:
    try:
        return [float(grade) for grade in found]
    except (TypeError, ValueError):
        # A text among them is not a number: the workers report which.
        return []


def _texts_of(plan: EnginePlan, used: tuple[str, ...], columns: tuple[str, ...]) -> Any:
    quotes = plan.quotes_from_ids

    def work(batches: Any) -> Any:
        import pyarrow as pa

        names = [name for name in IDENTITIES if name in columns]
        for batch in batches:
            rows = pl.DataFrame(batch)
            says = pl.any_horizontal(pl.col(names).is_not_null())
            named = checked(rows.filter(says), TARGET_SCHEMA, columns, "the ground truth")
            # Queries without targets have a row that names nothing.
            frame = pl.concat([named, rows.filter(~says).select(columns).cast(named.schema)])
            if quotes:
                frame = frame.rename({"item": "quote"})
            texts = row_texts(frame, used).to_arrow().cast(pa.string())
            yield pa.RecordBatch.from_arrays([texts], names=["row"])

    return work


def _blobs(batches: Any) -> Any:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            rows = pl.Series(batch.column(0))
            yield pa.RecordBatch.from_pydict({"blob": [joined_rows(rows)]})


UNDERSTOOD = ("match", "level", "rel", "corpus_size", "like", "fingerprints", "columns")
"""The keywords, beside the policies, that Spark supports."""
TRUTH, RUN = "The ground truth", "The run"
PART = "__part"
"""The column with the counts of a partition; empty in the rows of queries."""


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
    further: Mapping[str, Any] | None = None,
) -> SparkScores:
    """The scores of a run, both sides given as Spark DataFrames with one row per item.

    ``asked`` are the keywords for matching; unsupported ones are refused.
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
        tag_columns = {f"{GIVEN_TAG}{i}": one for i, one in enumerate(tagged.values())}
        judged = in_our_names(ground_truth, "ground_truth", TRUTH, said, tag_columns)
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
            **(further or {}),
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
    return remote_scores(
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
"""Columns that break ties of scores and ranks: the order of arrival is not reproducible."""


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
    """The output columns of workers, with their types."""
    return {
        **{
            name: "string" if kind == pl.String() else "long" for name, kind in QUERY_SCHEMA.items()
        },
        **dict.fromkeys((TAG + name for name in plan.tags), "string"),
        **dict.fromkeys((*plan.metrics, *(["score"] if plan.weights else [])), "double"),
        PART: "binary",
    }


def _worker(plan: EnginePlan, nothing: tuple[pl.DataFrame, pl.DataFrame]) -> Any:
    """The function that runs in each partition."""

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
