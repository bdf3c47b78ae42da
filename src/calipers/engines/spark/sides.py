"""Both DataFrames in our names and types, and what must be known of them before measuring."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, Self

import polars as pl

from calipers.engines.blocks import EDGES, IDENTITIES, EnginePlan, Part, checked
from calipers.errors import InvalidInput
from calipers.io.spark import NamedFrame
from calipers.match.choose import check_corpus_size, choose
from calipers.match.no_common_ids import check_in_common
from calipers.model.fingerprint import fingerprint_blobs, joined_rows, row_texts
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.matched import EXAMPLES
from calipers.model.matching import check_level, parse_matching
from calipers.model.run import RUN_SCHEMA, Run

SAMPLE = 50
_ROWS_IN_ONE_PARTITION = 1_000_000
_KINDS = ("item", "quote", "start")


@dataclass(frozen=True, eq=False)
class Sides:
    """Both DataFrames in our names, as the plan needs to look into them."""

    truth: Any
    run: Any
    truth_columns: tuple[str, ...]
    run_columns: tuple[str, ...]

    @classmethod
    def of(cls, truth: NamedFrame, run: NamedFrame) -> Self:
        """Every target has a grade, 1 where none is given."""
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
        """The rows of the ground truth that say what should be found."""
        return self.truth.where(self._names_something)

    @property
    def _names_something(self) -> Any:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        # A grade without an item is a mistake, of which a worker says where it is.
        named = [F.col(name) for name in IDENTITIES if name in self.truth_columns]
        return reduce(or_, (one.isNotNull() for one in (*named, F.col("grade"))))

    def settle(self, plan: EnginePlan) -> tuple[EnginePlan, tuple[str, ...]]:
        """The plan with what the data decide, and notes for the reader of the result."""
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
        """A target of each kind, and one that lacks it, so that what all have is seen."""
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
        """Whether any value of a column is on both sides, of whatever query."""
        if column not in self.truth_columns or column not in self.run_columns:
            return False
        wanted = self.targets.select(column).distinct()
        return bool(self.run.join(wanted, column, "left_semi").limit(1).count())

    def check_in_common(self, plan: EnginePlan, part: Part) -> None:
        """Refuse to score 0 everywhere where both sides speak of different things."""
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
        """That of the ground truth in memory: its rows pass the driver sorted, some at a time."""
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
        """The queries for which there is nothing to find, as their fingerprint has them."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        nameless = self.truth.where(~self._names_something).select("query").distinct()
        alone = nameless.join(self.targets.select("query"), "query", "left_anti")
        return alone.withColumn("grade", F.lit(0.0).cast(self.truth.schema["grade"].dataType))


def _grades(found: Any) -> list[float]:
    try:
        return [float(grade) for grade in found]
    except (TypeError, ValueError):
        # A text among them that is no number: the workers say which.
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
            # Queries for which there is nothing to find have a row that names nothing.
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
