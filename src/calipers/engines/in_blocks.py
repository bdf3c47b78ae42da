"""Evaluation on one machine with one block of queries in memory at a time.

Scores go to a Parquet file as they come. In memory for all queries are only the ground truth and
the counts of each metric's values, which merge in any order to the same bits.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from calipers.engines.scoring import (
    check_confidence,
    compute,
    deepest_cutoff,
    facts_of,
    looks_below_the_end,
    query_table,
    settings_fingerprint,
    weights_by_name,
)
from calipers.engines.summary import audit_counts, enforce, facts_by_name, score_facts, summarise
from calipers.io.files.parquet import ParquetBlocks, parquet_in_blocks
from calipers.io.files.write import PARQUET, ending_or, is_stream
from calipers.io.records.results import QUERY_SCHEMA, about
from calipers.io.tables.cells import TAG
from calipers.io.tables.scan import in_batches
from calipers.match.notes import (
    check_in_common,
    may_be_swapped,
    missed_targets,
    nearly_asked,
    nearly_found,
)
from calipers.match.pair import Settled, match_settled
from calipers.match.tally import QueryPlaces
from calipers.measures import Metric, parse
from calipers.measures.spec import find_name
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.fingerprint import DigestSum, Fingerprints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES, Matches, Tally
from calipers.model.matching import Matching
from calipers.model.ranking import NotGroupedError, SeenQueries, in_pieces, whole_queries
from calipers.model.run import SAMPLE, Run, brought_together
from calipers.model.scores import ROWS_AT_ONCE as ROWS_TO_READ
from calipers.model.scores import InputCounts, MetricFacts, Scores, Summary, combine
from calipers.model.slicing import FROM_TEXT, with_computed
from calipers.prefetch import ahead
from calipers.version import __version__


@dataclass(frozen=True, kw_only=True)
class EnginePlan:
    """What is measured, settled before the first block, so that every block does the same."""

    metrics: tuple[str, ...]
    """Their names, in full."""
    matching: Matching
    """As the data settled it: with a way of matching, a level and a rule for ties."""
    grades: tuple[float, ...] = ()
    """Every grade of the ground truth: some metrics need the highest."""
    weights: Mapping[str, float] = field(default_factory=dict)


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


_NOTHING: Mapping[str, int] = {
    name: 0 for name in InputCounts.__dataclass_fields__ if name not in (*EXAMPLE_FIELDS, "depth")
}


def _counted(found: list[Counted]) -> Counted:
    """The values in ascending order, each once with its count; NaN last."""
    if not found:
        return np.empty(0), np.empty(0, dtype=np.int64)
    distinct, place = np.unique(np.concatenate([one for one, _ in found]), return_inverse=True)
    counts = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(counts, place, np.concatenate([count for _, count in found]))
    return distinct, counts


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
    matches, tally = match_settled(truth, run, lenient, fingerprint=True)
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


@dataclass(frozen=True, eq=False, repr=False)
class WrittenScores(Scores):
    """Scores whose values per query are read from their file."""

    path: str = ""
    """The file, with one row per query in the order in which the run has them."""

    def __len__(self) -> int:
        return self.audit.queries

    def __repr__(self) -> str:
        means = (
            f"{one.metric} {'undefined' if one.mean is None else format(one.mean, '.3f')}"
            for one in list(self.summaries.values())[:12]
        )
        return f"<Scores of {len(self):,} queries in a file: {', '.join(means)}>"

    @property
    def _file(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False)

    @property
    def per_query(self) -> pl.DataFrame:
        """The whole file as a table."""
        return self._file.collect()

    def query_blocks(self, rows: int = ROWS_TO_READ) -> Iterator[pl.DataFrame]:
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
        known = facts_by_name(self)
        return Scores(
            metrics=tuple(known[name] for name in metrics),
            values=np.column_stack([self.of(name) for name in metrics]),
            queries=asked.select(*texts, "targets"),
            tags={name: asked[TAG + name].alias(name) for name in tags}
            | {name: tag for name, tag in self.tags.items() if name not in tags},
            audit=self.audit,
            policy=self.policy,
            fingerprints=self.fingerprints,
            settings=self.settings,
            summaries=self.summaries,
            find_name=self.find_name,
        )


MANY_QUERIES = 1_000_000
"""Below this the scores of all queries fit into memory, in the order of the ground truth."""
ROWS_AT_ONCE = 200_000


def is_for_blocks(truth: GroundTruth, run: Run, path: str | Path) -> bool:
    """Whether there are enough queries to measure them in blocks, and nothing prevents it.

    A run's facts about its queries, and forbidden items, need all queries at once.
    """
    return (
        truth.n_queries >= MANY_QUERIES
        and truth.forbidden is None
        and truth.excluded is None
        and not run.in_memory
        and run.queries is None
        and ending_or(path, "") == PARQUET
        and not is_stream(path)
    )


def evaluate_in_blocks(
    settled: Settled,
    metrics: Sequence[Metric],
    path: str | PathLike[str],
    *,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    rows: int = ROWS_AT_ONCE,
) -> WrittenScores:
    """The scores of a run, written to a Parquet file in the order in which the run has them.

    Queries that the run does not have come last. ``rows`` are measured at a time.
    """
    check_confidence(confidence)
    rel, truth = settled.matching.rel, settled.ground_truth
    metrics = tuple(dict.fromkeys(metric.with_rel(rel) for metric in metrics))
    plan = EnginePlan(
        metrics=tuple(map(str, metrics)),
        matching=settled.matching,
        weights=weights_by_name(weights, rel),
        grades=tuple(np.unique(truth.targets["grade"].to_numpy()).tolist()),
    )
    run = brought_together(settled.run)
    with suppress(NotGroupedError):
        return _Evaluation(settled, run, metrics, plan, confidence).write(fspath(path), rows)
    run = settled.run.grouped()
    return _Evaluation(settled, run, metrics, plan, confidence).write(fspath(path), rows)


@dataclass(eq=False)
class _Evaluation:
    """The state of an evaluation in blocks."""

    settled: Settled
    run: Run
    metrics: tuple[Metric, ...]
    plan: EnginePlan
    confidence: float
    part: Part = field(default_factory=Part)
    longest: int = 0
    """The length of the longest list of results."""
    unknown: dict[str, None] = field(default_factory=dict)
    first_queries: list[str] = field(default_factory=list)
    missed: list[pl.DataFrame] = field(default_factory=list)
    """Missed targets of the queries of the first results."""

    def __post_init__(self) -> None:
        self.blocks = _TruthBlocks(self.settled.ground_truth)
        self.some = self.settled.some()
        self.named = self.settled.named(self.some)

    def write(self, path: str, rows: int) -> WrittenScores:
        """Measure all queries and write them to a file, which appears once all are measured."""
        with parquet_in_blocks(path) as file:
            for measured in ahead(self._measured, self._answered(rows)):
                self._take(measured, file)
            missing = np.flatnonzero(~self.blocks.seen)
            for measured in ahead(self._measured, self._unanswered(missing, rows)):
                self._take(measured, file)
            scores = self._scores(path, missing)
            file.about = about(scores)
        return scores

    def _answered(self, rows: int) -> Iterator[tuple[Ints, pl.DataFrame]]:
        """The results of whole queries, and the rows of these queries in the ground truth."""
        for frame, starts in whole_queries(in_pieces(self.run.scan(), rows)):
            yield self.blocks.take(frame["query"][starts]), frame

    def _unanswered(self, missing: Ints, rows: int) -> Iterator[tuple[Ints, pl.DataFrame]]:
        nothing = pl.DataFrame(schema={"query": pl.String, "item": pl.String})
        for start in range(0, missing.size, rows):
            yield missing[start : start + rows], nothing

    def _measured(self, block: tuple[Ints, pl.DataFrame]) -> MeasuredBlock:
        codes, frame = block
        run = replace(
            self.run, scan=lambda: iter((frame,)), in_memory=True, is_grouped=True, notes=()
        )
        return measure(self.blocks.of(codes), run, self.plan)

    def _take(self, measured: MeasuredBlock, file: ParquetBlocks) -> None:
        if measured.table.height:
            file.put(measured.table)
        self.part.merge(measured.part)
        self.longest = max(self.longest, int(measured.matches.retrieved.max(initial=0)))
        if len(self.unknown) < EXAMPLES:
            self.unknown.update(dict.fromkeys(measured.tally.unknown_examples))
        if len(self.first_queries) < EXAMPLES:
            self.first_queries += measured.tally.sample_queries
        if self.named is not None:
            missed = missed_targets(measured.ground_truth, measured.matches, self.named)
            if missed.height:
                self.missed.append(missed)

    def _scores(self, path: str, missing: Ints) -> WrittenScores:
        """The result, once all queries are measured."""
        settled, plan = self.settled, self.plan
        truth, policy = settled.ground_truth, settled.matching.policy
        lacking = truth.queries["query"][missing[: max(EXAMPLES, SAMPLE)]]
        if not self.part.counts[EDGES]:
            check_in_common(
                settled.matching.rule.kind,
                truth,
                self.run,
                policy,
                retrieved=self.part.counts["retrieved"],
                queries=self.first_queries[:EXAMPLES],
            )
        notes = [*settled.notes, *self._remarks(lacking)]
        audit = self._audit(truth, lacking)
        enforce(policy, audit)
        settings: dict[str, Any] = {
            "calipers": __version__,
            **settled.matching.to_settings(),
            "notes": [*notes, *looks_below_the_end(self.metrics, self.longest, self.run.asked_for)],
            "confidence": self.confidence,
        }
        facts = tuple(facts_of(metric) for metric in self.metrics)
        # Computed on access, when the summaries no longer take memory.
        prints = Fingerprints(
            {
                "ground_truth": lambda: replace(truth).fingerprint,
                "run": self.part.digest.hexdigest,
                "settings": lambda: settings_fingerprint(facts, policy, plan.weights, settings),
            }
        )
        return WrittenScores(
            metrics=facts,
            values=np.empty((0, len(facts))),
            queries=pl.DataFrame(schema=QUERY_SCHEMA),
            tags={name: pl.Series(name, [], dtype=pl.String) for name in truth.tags},
            audit=audit,
            policy=policy,
            fingerprints=prints,
            settings=settings,
            summaries=self._summaries(facts, settings),
            weights=plan.weights,
            path=path,
            find_name=find_name,
        )

    def _summaries(
        self, metrics: Sequence[MetricFacts], settings: Mapping[str, Any]
    ) -> dict[str, Summary]:
        weights = self.plan.weights
        found: dict[str, Summary] = {}
        for one in [*metrics, *([score_facts(metrics, weights)] if weights else [])]:
            # One by one: in sorted columns, the values in a row are not of the same query.
            found |= summarise([one], self.part.column(one.name)[:, np.newaxis], {}, settings)
        return found

    def _audit(self, truth: GroundTruth, lacking: pl.Series) -> InputCounts:
        return replace(
            self.part.audit(deepest_cutoff(self.metrics)),
            repeated_judgements=truth.repeated,
            missing_examples=tuple(lacking.head(EXAMPLES)),
            unknown_examples=tuple(self.unknown)[:EXAMPLES],
        )

    def _remarks(self, lacking: pl.Series) -> Iterator[str]:
        """Notes about likely mistakes in the files, not in the retriever."""
        truth = self.settled.ground_truth
        if self.named is not None and self.missed:
            missed = pl.concat(self.missed)
            # In the order of the ground truth, whatever the order of the run.
            asked = truth.queries.filter(pl.col("query").is_in(missed["query"].implode()))
            in_order = asked.select("query").join(missed, on="query", maintain_order="left_right")
            yield from nearly_found(in_order, self.named)
        yield from nearly_asked(tuple(self.unknown)[:EXAMPLES], lambda: lacking)
        yield from may_be_swapped(truth, self.some)


class _TruthBlocks:
    """Cuts a ground truth by query, and remembers which queries were taken."""

    def __init__(self, truth: GroundTruth) -> None:
        # In one chunk, or each block would rechunk all of it.
        self._truth = replace(
            truth,
            targets=truth.targets.rechunk(),
            queries=truth.queries.rechunk(),
            tags={name: tag.rechunk() for name, tag in truth.tags.items()},
        )
        self._places = QueryPlaces(truth.queries["query"])
        self._unknown = SeenQueries()
        self.seen: Bools = np.zeros(truth.queries.height, dtype=np.bool_)
        """Which queries of the ground truth were in the run."""
        # On a copy, so that its cached properties are freed with it.
        code = replace(truth).target_query
        in_order = bool((code[1:] >= code[:-1]).all())
        self._order = None if in_order else _small(np.argsort(code, kind="stable"))
        ends = np.cumsum(np.bincount(code, minlength=truth.queries.height))
        self._ends = _small(np.append(0, ends))

    def take(self, queries: pl.Series) -> Ints:
        """The rows of those queries that the ground truth has; none of them may come twice."""
        codes = self._places.following(queries)
        known = codes[codes >= 0]
        if known.size < codes.size:
            unknown = queries.filter(pl.Series(codes < 0))
            if self._unknown.again(unknown.hash().to_numpy()):
                raise NotGroupedError
        ordered = np.sort(known)
        if self.seen[known].any() or (ordered[1:] == ordered[:-1]).any():
            raise NotGroupedError
        self.seen[known] = True
        return known

    def of(self, codes: Ints) -> GroundTruth:
        """The ground truth of some queries alone, in their order."""
        truth = self._truth
        first, behind = (self._ends[codes + end].astype(np.int64) for end in (0, 1))
        many = behind - first
        taken: slice | Ints = codes
        if self._order is None and codes.size and (codes[1:] == codes[:-1] + 1).all():
            # Adjacent queries need no copy.
            taken = slice(int(codes[0]), int(codes[-1]) + 1)
            targets = truth.targets[int(first[0]) : int(behind[-1])]
        else:
            rows = np.arange(many.sum()) + np.repeat(first - (np.cumsum(many) - many), many)
            targets = truth.targets[rows if self._order is None else self._order[rows]]
        tags = {name: tag[taken] for name, tag in truth.tags.items()}
        part = GroundTruth(targets, truth.queries[taken], tags)
        return part.knowing(target_query=np.repeat(np.arange(codes.size), many))


def _small(numbers: Ints) -> Ints:
    """Row numbers in half the memory, where they are small enough."""
    return numbers.astype(np.uint32) if numbers.size < 1 << 32 else numbers
