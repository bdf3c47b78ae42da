"""Evaluation on one machine with one block of queries in memory at a time.

Scores go to a Parquet file as they come. In memory for all queries are only the ground truth and
the counts of each metric's values.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.blocks import (
    EDGES,
    EnginePlan,
    MeasuredBlock,
    Part,
    WrittenScores,
    measure,
    remote_scores,
)
from calipers.engines.scoring import (
    check_confidence,
    deepest_cutoff,
    facts_of,
    looks_below_the_end,
    settings_fingerprint,
    weights_by_name,
)
from calipers.engines.summary import enforce
from calipers.io.files.parquet import ParquetBlocks, parquet_in_blocks
from calipers.io.files.write import PARQUET, ending_or, is_stream
from calipers.io.records.results import about
from calipers.match.notes import (
    check_in_common,
    may_be_swapped,
    missed_targets,
    nearly_asked,
    nearly_found,
)
from calipers.match.pair import Settled
from calipers.match.tally import QueryPlaces
from calipers.measures import Metric
from calipers.model.arrays import Bools, Ints
from calipers.model.fingerprint import Fingerprints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES
from calipers.model.ranking import NotGroupedError, SeenQueries, in_pieces, whole_queries
from calipers.model.run import SAMPLE, Run, brought_together
from calipers.model.scores import InputCounts
from calipers.prefetch import ahead
from calipers.version import __version__

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
        order=settled.run.order,
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
        return remote_scores(
            WrittenScores,
            plan,
            facts,
            self.part,
            audit,
            tags=truth.tags,
            fingerprints=prints,
            settings=settings,
            path=path,
        )

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
