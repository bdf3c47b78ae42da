"""Blocks of whole queries, measured one at a time by the kernels that all engines share.

A plan says what is measured, settled before the first block, so that every block does the same. A
part is what was counted over some queries; parts merge in any order to the same bits.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

import msgspec
import numpy as np
import polars as pl

from calipers.engines.scoring import compute, deepest_cutoff, facts_of, query_table
from calipers.engines.summary import audit_counts, facts_by_name, score_facts, summarise
from calipers.io.records.results import QUERY_SCHEMA
from calipers.io.tables.cells import TAG, cast_columns, check_ranks
from calipers.io.tables.scan import in_batches
from calipers.match.choose import as_quotes, check_evidence
from calipers.match.pair import match_settled
from calipers.measures import parse
from calipers.measures.spec import find_name
from calipers.model.arrays import Floats, Ints
from calipers.model.fingerprint import DigestSum
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth, check_direction
from calipers.model.matched import EXAMPLES, Matches, Tally
from calipers.model.matching import Matching
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, Run
from calipers.model.scores import ROWS_AT_ONCE, InputCounts, MetricFacts, Scores, Summary, combine
from calipers.model.slicing import FROM_TEXT, with_computed

IDENTITIES = ("item", "quote", "document")


@dataclass(frozen=True, kw_only=True)
class EnginePlan:
    """Plain values only: a plan travels to other processes and machines."""

    metrics: tuple[str, ...]
    """Their names, in full."""
    matching: Matching
    """As the data settled it: with a way of matching, a level and a rule for ties."""
    truth_columns: tuple[str, ...] = ()
    """The columns that the ground truth has, in our names; none where it has been read."""
    run_columns: tuple[str, ...] = ()
    used_columns: tuple[str, ...] = ()
    """The columns of the ground truth that hold anything."""
    order: Order
    """What makes the order in the run."""
    grades: tuple[float, ...] = ()
    """Every grade of the ground truth: some metrics need the highest."""
    weights: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    quotes_from_ids: bool = False
    """Whether the plain strings of the ground truth are quotes."""
    texts_from_ids: bool = False
    """Whether the plain strings of the run are texts."""
    silent_queries: bool = False
    """Whether the ground truth may name queries for which there is nothing to find."""
    fingerprints: bool = True

    @property
    def identities(self) -> list[str]:
        """The columns that can identify a target in a row of the ground truth."""
        return [name for name in IDENTITIES if name in self.truth_columns]


EXAMPLE_FIELDS = ("error_examples", "missing_examples", "unknown_examples")
EDGES = "edges"
"""The key of the number of edges, beside the counts of the audit."""


Counted = tuple[Floats, Ints]


@dataclass(eq=False)
class Part:
    """The counts, the fingerprint and the values of some queries."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, set[str]] = field(default_factory=dict)
    digest: DigestSum = field(default_factory=DigestSum)
    values: dict[str, list[Counted]] = field(default_factory=dict)
    """By metric: its distinct values with their counts; NaN is undefined."""
    error: str | None = None
    """Why these queries could not be measured."""

    @classmethod
    def of(cls, audit: InputCounts, edges: int, digest: DigestSum) -> Self:
        """The counts of one block."""
        given = asdict(audit)
        examples = {name: set(given.pop(name)) for name in EXAMPLE_FIELDS}
        given.pop("depth")
        return cls(Counter({**given, EDGES: edges}), examples, digest)

    def count_values(self, name: str, column: Floats) -> None:
        """Count the values of one metric."""
        self.values.setdefault(name, []).append(np.unique(column, return_counts=True))

    def merge(self, other: "Part") -> None:
        """Add the counts of another part."""
        self.counts.update(other.counts)
        for name, names in other.examples.items():
            # The smallest names: the same ones, whichever part comes first.
            merged = sorted(self.examples.get(name, set()) | names)
            self.examples[name] = set(merged[:EXAMPLES])
        self.digest.merge(other.digest)
        for name, values in other.values.items():
            self.values.setdefault(name, []).extend(values)
        if other.error is not None:
            self.error = min(filter(None, (self.error, other.error)))

    def audit(self, depth: int | None) -> InputCounts:
        """The counts of all queries, once every part is merged."""
        named: dict[str, Any] = {name: n for name, n in self.counts.items() if name != EDGES}
        lists = {
            name: tuple(sorted(self.examples.get(name, ()))[:EXAMPLES]) for name in EXAMPLE_FIELDS
        }
        return InputCounts(**{**_NOTHING, **named, **lists, "depth": depth})

    def column(self, name: str) -> Floats:
        """The values of one metric over all queries, sorted; NaN where it is undefined."""
        distinct, counts = _counted(self.values.get(name, []))
        return np.repeat(distinct, counts)

    def encode(self) -> bytes:
        """The part as bytes, to be sent to another process."""
        arrays = {
            name: [column.tobytes() for column in _counted(found)]
            for name, found in self.values.items()
        }
        examples = {name: sorted(names) for name, names in self.examples.items()}
        numbers = self.digest.to_numbers()
        return msgspec.msgpack.encode([dict(self.counts), examples, numbers, arrays, self.error])

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """A part from the bytes that another process sent."""
        counts, examples, numbers, arrays, error = msgspec.msgpack.decode(content)
        part = cls(Counter(counts), {name: set(names) for name, names in examples.items()})
        part.digest.add_numbers(numbers)
        part.error = error
        for name, (keys, values) in arrays.items():
            counted = np.frombuffer(keys), np.frombuffer(values, dtype=np.int64)
            part.values[name] = [counted]
        return part


_NOTHING: Mapping[str, int] = {
    name: 0 for name in InputCounts.__dataclass_fields__ if name not in (*EXAMPLE_FIELDS, "depth")
}


def merged(parts: Iterable[Part]) -> Part:
    """All parts as one."""
    whole = Part()
    for part in parts:
        whole.merge(part)
    return whole


def _counted(found: list[Counted]) -> Counted:
    """The values in ascending order, each once with its count; NaN last."""
    if not found:
        return np.empty(0), np.empty(0, dtype=np.int64)
    distinct, place = np.unique(np.concatenate([one for one, _ in found]), return_inverse=True)
    counts = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(counts, place, np.concatenate([count for _, count in found]))
    return distinct, counts


GIVEN_TAG = "__tag_"
"""Prefix of tag columns passed to Spark, which reads a dot in a name as a field."""


def measure_block(
    results: pl.DataFrame, judged: pl.DataFrame, plan: EnginePlan
) -> tuple[pl.DataFrame, Part]:
    """The scores and counts of some whole queries, from the rows of both sides."""
    truth, run = _truth(judged, plan), _run(results, plan)
    if plan.matching.at_documents:
        from calipers.match.level import to_documents

        truth, run = to_documents(truth, run, plan.matching.policy)
    if truth.targets.height:
        check_evidence(truth, plan.matching.rule)
    measured = measure(truth, run, plan)
    return measured.table, measured.part


@dataclass(frozen=True, eq=False)
class MeasuredBlock:
    """The scores and counts of some whole queries."""

    table: pl.DataFrame
    """One row for each, with its scores."""
    part: Part
    ground_truth: GroundTruth
    matches: Matches
    tally: Tally


def measure(truth: GroundTruth, run: Run, plan: EnginePlan) -> MeasuredBlock:
    """Match, measure and count a run of whole queries with all of their targets."""
    matching, rel = plan.matching, plan.matching.rel
    # Whether nothing is in common is only known after every block.
    lenient = replace(matching, policy=replace(matching.policy, nothing_in_common="zero"))
    matches, tally = match_settled(truth, run, lenient, fingerprint=plan.fingerprints)
    matches = replace(matches, grades_in_all=np.array(plan.grades, dtype=np.float64))
    metrics = parse(list(plan.metrics))
    audit = audit_counts(truth, matches, tally, depth=deepest_cutoff(metrics), rel=rel)
    digest = tally.fingerprint.sum() if tally.fingerprint is not None else DigestSum()
    part = Part.of(audit, matches.edge_query.size, digest)
    values = compute(matches, metrics, matching.policy)
    columns = dict(zip(plan.metrics, values.T, strict=True))
    if plan.weights:
        columns["score"] = combine([facts_of(one) for one in metrics], values, plan.weights)
    for name, column in columns.items():
        part.count_values(name, column)
    table = query_table(matches, rel).with_columns(
        *(tag.alias(TAG + name) for name, tag in truth.tags.items()),
        *(pl.Series(name, column).fill_nan(None) for name, column in columns.items()),
    )
    return MeasuredBlock(table, part, truth, matches, tally)


def checked(
    rows: pl.DataFrame, schema: dict[str, pl.DataType], columns: Iterable[str], name: str
) -> pl.DataFrame:
    """Columns of rows without places in a file, each checked and cast, or an error."""
    made = cast_columns(rows.select(columns), schema, lambda _: name, 0)
    check_direction(made, lambda _: name)
    return made


def _truth(rows: pl.DataFrame, plan: EnginePlan) -> GroundTruth:
    says = pl.any_horizontal(pl.col(*plan.identities, "grade").is_not_null())
    # A query alone, without a grade, is one for which there is nothing to find.
    named = rows.filter(says)
    targets = checked(named, TARGET_SCHEMA, plan.truth_columns, "the ground truth")
    columns = {"query": rows["query"].cast(pl.String)}
    if "query_text" in rows.columns:
        columns["text"] = rows["query_text"]
    given = [f"{GIVEN_TAG}{i}" for i in range(len(plan.tags))]
    tagged = pl.DataFrame(columns).with_columns(rows[one] for one in given)
    first = tagged.group_by("query", maintain_order=True).agg(pl.all().drop_nulls().first())
    texts = [name for name in ("query", "text") if name in first.columns]
    tags = {name: first[one].alias(name) for name, one in zip(plan.tags, given, strict=True)}
    truth = GroundTruth.from_targets(
        targets, queries=first.select(texts), tags=tags, where=lambda _: "the ground truth"
    )
    return as_quotes(truth) if plan.quotes_from_ids else truth


def _run(rows: pl.DataFrame, plan: EnginePlan) -> Run:
    results = checked(rows, RUN_SCHEMA, plan.run_columns, "the run")
    if plan.texts_from_ids:
        results = results.rename({"item": "text"})
    check_ranks(results, lambda _: "the run")
    return Run.from_frame(results, order=plan.order, ties=plan.matching.policy.ties)


class RemoteScores(Scores):
    """Scores whose queries are in a file or in Spark."""

    place: ClassVar[str]
    """Where the queries are, in words."""

    def __len__(self) -> int:
        return self.audit.queries

    def __repr__(self) -> str:
        means = (
            f"{one.metric} {'undefined' if one.mean is None else format(one.mean, '.3f')}"
            for one in list(self.summaries.values())[:12]
        )
        return f"<Scores of {len(self):,} queries in {self.place}: {', '.join(means)}>"

    def brought_here(
        self,
        metrics: Sequence[str],
        values: Floats,
        queries: pl.DataFrame,
        tags: Mapping[str, pl.Series],
    ) -> Scores:
        """Scores in memory, of some metrics, with as much of the queries as was collected."""
        known = facts_by_name(self)
        return Scores(
            metrics=tuple(known[name] for name in metrics),
            values=values,
            queries=queries,
            tags=tags,
            audit=self.audit,
            policy=self.policy,
            fingerprints=self.fingerprints,
            settings=self.settings,
            summaries=self.summaries,
            find_name=self.find_name,
        )


T = TypeVar("T", bound=RemoteScores)


def remote_scores(
    kind: type[T],
    plan: EnginePlan,
    metrics: tuple[MetricFacts, ...],
    part: Part,
    audit: InputCounts,
    *,
    tags: Iterable[str],
    fingerprints: Mapping[str, str],
    settings: Mapping[str, Any],
    **place: Any,
) -> T:
    """The result of all parts; ``place`` has the further fields of that class of scores."""
    return kind(
        metrics=metrics,
        values=np.empty((0, len(metrics))),
        queries=pl.DataFrame(schema=QUERY_SCHEMA),
        tags={name: pl.Series(name, [], dtype=pl.String) for name in tags},
        audit=audit,
        policy=plan.matching.policy,
        fingerprints=fingerprints,
        settings=settings,
        summaries=_summaries(metrics, part, plan, settings),
        weights=plan.weights,
        **place,
        find_name=find_name,
    )


def _summaries(
    metrics: Sequence[MetricFacts], part: Part, plan: EnginePlan, settings: Mapping[str, Any]
) -> dict[str, Summary]:
    columns = [*metrics, *([score_facts(metrics, plan.weights)] if plan.weights else [])]
    found: dict[str, Summary] = {}
    for one in columns:
        # One by one: in sorted columns, the values in a row are not of the same query.
        found |= summarise([one], part.column(one.name)[:, np.newaxis], {}, settings)
    return found


@dataclass(frozen=True, eq=False, repr=False)
class WrittenScores(RemoteScores):
    """Scores whose values per query are read from their file."""

    place: ClassVar[str] = "a file"
    path: str = ""
    """The file, with one row per query in the order in which the run has them."""

    @property
    def _file(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False)

    @property
    def per_query(self) -> pl.DataFrame:
        """The whole file as a table."""
        return self._file.collect()

    def query_blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[pl.DataFrame]:
        """The same in pieces."""
        return in_batches(self._file, rows)

    def of(self, name: str) -> Floats:
        """The values of one metric, in the order of the file."""
        column = self._file.select(self[name].metric).collect().to_series()
        return column.fill_null(np.nan).to_numpy()

    def to_slice(self, by: Sequence[str], metrics: Sequence[str]) -> Scores:
        """Scores in memory with what the slices need: these metrics, tags and queries."""
        by = with_computed(by)
        tags = [name for name in by if name in self.tags]
        read = any(name in FROM_TEXT and name not in tags for name in by)
        texts = ["query", "text"] if read else []
        asked = self._file.select(*texts, "targets", *(TAG + name for name in tags)).collect()
        return self.brought_here(
            metrics,
            np.column_stack([self.of(name) for name in metrics]),
            asked.select(*texts, "targets"),
            {name: asked[TAG + name].alias(name) for name in tags}
            | {name: tag for name, tag in self.tags.items() if name not in tags},
        )
