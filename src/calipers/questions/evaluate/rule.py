"""An evaluation: scores from any source, and the other results asked for on the same data.

`calipers eval` asks for all at once, and reads and matches once for it: that is ``answer``. The
operations of Python that give one of these results are at the end, and share its steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from calipers.engines.scoring import choose_metrics, deepest, of_returned, score
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.input_types import DataInput, GroundTruthInput
from calipers.measures import Metric
from calipers.model.document import Block, Document, Lines, Note, Rows
from calipers.model.matched import Matched
from calipers.model.result import ShowsItself, sentences_of
from calipers.model.scores import Scores
from calipers.operation import to_record
from calipers.present.scores import document as scores_document
from calipers.present.scores import summary_rows
from calipers.questions.inputs import (
    as_read,
    few_bytes,
    judged_by,
    like_of,
    matched,
    tags_of,
    with_cautions,
)
from calipers.questions.reading import Evaluating, Intervals, MetricsAsked

if TYPE_CHECKING:
    from calipers.questions.evaluate.corrected import CorrectedScores
    from calipers.questions.evaluate.levels import Levels
    from calipers.questions.evaluate.settings import (
        CorrectedSettings,
        EvaluateSettings,
        LevelsSettings,
    )
    from calipers.questions.report.result import Report
    from calipers.questions.slices.result import Slices


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationAnswer(ShowsItself):
    """The scores, and the other results asked for on the same data."""

    shown_by: ClassVar[str] = "calipers.questions.evaluate.rule"

    scores: Scores
    slices: "Slices | None" = None
    corrected: "CorrectedScores | None" = None
    pair: Matched | None = None
    """The matched pair that was scored, for further questions; None without one."""

    @property
    def further(self) -> "Mapping[str, Slices | CorrectedScores]":
        """The results beside the scores, by name."""
        parts: dict[str, Slices | CorrectedScores] = {}
        if self.slices is not None:
            parts["slices"] = self.slices
        if self.corrected is not None:
            parts["corrected"] = self.corrected
        return parts

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole answer as plain values: what ``--json`` prints."""
        whole = self.scores.to_dict(per_query=per_query)
        if not per_query:
            # The keys keep the same order whatever else was asked for.
            whole["per_query"] = []
        further = {name: part.to_dict() for name, part in self.further.items()}
        return whole | further | sentences_of(self)


def answer(data: DataInput | None, settings: "EvaluateSettings") -> EvaluationAnswer:
    """The scores and all else that `calipers eval` asks of the same data, read once."""
    evaluating = settings.evaluating
    measures = evaluating.measures
    reading = evaluating.reading
    # An unknown metric is refused before a large file is read.
    metrics = _metrics_of(measures, reading.matching.like)
    read = as_read(
        data,
        reading,
        looks=deepest(metrics),
        metrics=measures.metrics,
        tags=(*tags_of(measures.intervals), *settings.by),
    )
    if settings.corrected_by is not None or settings.html or settings.save:
        # These look into the results again.
        read = read.kept(few_bytes(reading.matching.files.memory))
    pair = read.matched(fingerprints=reading.matching.fingerprints)
    scores = _score_with_notes(pair, metrics, evaluating)
    corrected = None
    if settings.corrected_by is not None:
        corrected = _corrected(
            pair, metrics, measures.intervals, settings.corrected_by, settings.sampled
        )
    return EvaluationAnswer(
        scores=scores,
        pair=pair,
        slices=_slices(scores, settings) if settings.by else None,
        corrected=corrected,
    )


def _metrics_of(measures: MetricsAsked, like: str | None) -> tuple[Metric, ...]:
    """The metrics to compute."""
    return choose_metrics(measures.metrics, measures.k, like=like)


def _score_with_notes(
    pair: Matched, metrics: Sequence[Metric], settings: Evaluating
) -> Scores:
    """The scores of a pair, with the settings that they record and what a reader must know."""
    intervals = settings.measures.intervals
    if settings.measures.metrics is None:
        metrics = of_returned(pair.ground_truth, metrics)
    scores = score(
        pair,
        metrics,
        confidence=intervals.confidence,
        cluster=intervals.cluster,
        weight_by=intervals.weight_by,
        further=to_record(settings),
    )
    return with_cautions(pair, scores)


def _slices(scores: Scores, settings: "EvaluateSettings") -> "Slices":
    """The metrics by slices of the queries."""
    from calipers.questions.slices.rule import slice_scores

    named = settings.evaluating.measures.metrics is not None
    metrics = [*scores.summaries] if named else None
    return slice_scores(
        scores, list(settings.by), metrics=metrics, primary=settings.primary
    )


def _corrected(
    pair: Matched,
    metrics: Sequence[Metric],
    intervals: Intervals,
    people: GroundTruthInput | None,
    sampled: str | None,
) -> "CorrectedScores":
    """The metrics as people, who judged a sample, would have found them over all queries."""
    from calipers.questions.evaluate.corrected import correct_scores, sample_of_people

    beside = {"--weight-by": intervals.weight_by, "--cluster": intervals.cluster}
    for option, value in beside.items():
        if value:
            raise InvalidInput(
                "A correction by people's labels counts every query as one; leave out "
                f"{option}."
            )
    queries = pair.ground_truth.queries["query"].to_list()
    sample = sample_of_people(people, sampled, queries, pair.as_read[0].fingerprint)
    by_people = score(judged_by(pair, sample.truth), metrics)
    every = pair if sample.made is None else judged_by(pair, sample.made)
    machine = score(every, metrics)
    return correct_scores(
        machine, by_people, intervals.confidence, sample.looks, sample.checked
    )


def report_of(answer: EvaluationAnswer, settings: "EvaluateSettings") -> "Report":
    """The report page of this evaluation."""
    from calipers.model.slicing import refuse_weighted
    from calipers.questions.report.browse import Browse
    from calipers.questions.report.result import Report
    from calipers.questions.report.rule import describe
    from calipers.questions.systems import name_of

    refuse_weighted(answer.scores, "The parts of a report")
    intervals = settings.evaluating.measures.intervals
    browse = Browse(
        name_of(answer.pair), answer.scores, answer.pair, corpus=settings.corpus
    )
    by = settings.by or None
    return Report((describe(browse, intervals, by=by, price=settings.price),))


def document(answer: EvaluationAnswer) -> Document:
    """The scores, and a table for each other result asked for."""
    whole = scores_document(answer.scores)
    blocks: list[Block] = [*whole.blocks]
    notes: list[Note | str] = [*whole.notes]
    for title, part in (("By slice", answer.slices), ("Corrected", answer.corrected)):
        if part is not None:
            inner = part.document()
            blocks += [Lines((), inner.sentence or title), *inner.blocks]
            notes += inner.notes
    return replace(whole, blocks=blocks, notes=notes, rows=lambda: _rows(answer))


def _rows(answer: EvaluationAnswer) -> Rows:
    """The rows of the most specific result: a CSV holds one table."""
    for part in (answer.slices, answer.corrected):
        if part is not None and (make := part.document().rows) is not None:
            return make()
    return summary_rows(answer.scores)


AT_ONCE = 20_000
"""Queries whose rows are in memory together."""


def score_rows(scores: Scores) -> Iterator[bytes]:
    """The per-query rows of ``Scores.to_dict`` as JSON chunks, one line each."""
    names = [metric.name for metric in scores.metrics]
    tags = [pl.col(f"tag.{name}").alias(name) for name in scores.tags]
    columns = [
        *scores.queries.columns,
        (pl.struct(tags) if tags else pl.lit(None)).alias("tags"),
        pl.struct(names).alias("scores"),
    ]
    row = pl.concat_str(pl.lit("    "), pl.struct(columns).struct.json_encode())
    for block in scores.query_blocks(AT_ONCE):
        if block.height:
            lines = block.select(row.str.join(",\n")).item().encode()
            # There is no struct without a field.
            yield lines if tags else lines.replace(b'"tags":null', b'"tags":{}')


# The same for Python, where each of these results has an operation of its own.


def measure(data: object, settings: Evaluating) -> tuple[Matched, Scores]:
    """The pair, given or read and matched now, and its scores."""
    measures = settings.measures
    chosen = _metrics_of(measures, like_of(data, settings.reading))
    pair = matched(
        data,
        settings.reading,
        looks=deepest(chosen),
        metrics=measures.metrics,
        tags=tags_of(measures.intervals),
    )
    return pair, _score_with_notes(pair, chosen, settings)


def measure_levels(data: DataInput | None, settings: "LevelsSettings") -> "Levels":
    """Score each level; the input is read once."""
    from calipers.questions.evaluate.levels import level_names, score_at_levels

    reading = settings.reading
    names = level_names(settings.at)
    chosen = _metrics_of(settings.measures, like_of(data, reading))
    intervals = settings.measures.intervals
    read = as_read(
        data,
        reading,
        looks=deepest(chosen),
        metrics=settings.measures.metrics,
        tags=tags_of(intervals),
    )
    return score_at_levels(read, names, chosen, intervals)


def measure_corrected(
    data: DataInput | None, settings: "CorrectedSettings"
) -> "CorrectedScores":
    """Correct each metric by human labels of a sample of the queries."""
    measures = settings.measures
    chosen = _metrics_of(measures, like_of(data, settings.reading))
    pair = matched(data, settings.reading, again=True, metrics=measures.metrics)
    return _corrected(pair, chosen, measures.intervals, settings.people, settings.sampled)
