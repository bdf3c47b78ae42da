"""The same evaluation at the level of evidence, of chunks and of documents, side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.match.level import NoDocuments
from calipers.measures import Metric
from calipers.measures.coverage import Coverage
from calipers.model.document import Cell, Cells, Column, Document, Table
from calipers.model.matching import LEVELS, Level, check_level
from calipers.model.result import HasRows, Plain, sentences_of
from calipers.model.scores import Scores
from calipers.present.scores import summary_rows, verdict
from calipers.questions.inputs import ReadInputs
from calipers.questions.reading import Intervals
from calipers.words import number, plural


@dataclass(frozen=True, eq=False, repr=False)
class Levels(Plain, HasRows):
    """One result per level, and a sentence for each that could not be computed."""

    shown_by: ClassVar[str] = "calipers.questions.evaluate.levels"

    scores: Mapping[str, Scores]
    not_computed: tuple[str, ...] = ()

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole result as plain values."""
        levels = {
            name: scores.to_dict(per_query=per_query)
            for name, scores in self.scores.items()
        }
        return {
            "levels": levels,
            "not_computed": list(self.not_computed),
            **sentences_of(self),
        }


def score_at_levels(
    read: ReadInputs,
    levels: Sequence[Level],
    metrics: Sequence[Metric],
    intervals: Intervals,
) -> Levels:
    """The scores at each level; one that cannot be computed is explained, or raises if it is alone.

    ``intervals`` say how sure the means are.
    """
    scores: dict[str, Scores] = {}
    excuses: list[str] = []
    for level in levels:
        by_characters = level not in ("page", "document")
        possible = [
            metric
            for metric in metrics
            if by_characters or metric.definition.view is not Coverage
        ]
        if len(possible) < len(metrics):
            left_out = ", ".join(
                str(metric) for metric in metrics if metric not in possible
            )
            excuses.append(
                f"Not at the level of {level}s, which have no spans: {left_out}."
            )
        if not possible:
            continue
        try:
            pair = replace(read, matching=replace(read.matching, level=level)).matched()
        except NoDocuments as error:
            if len(levels) == 1:
                raise
            excuses.append(str(error))
            continue
        scores[level] = score(
            pair,
            possible,
            confidence=intervals.confidence,
            cluster=intervals.cluster,
            weight_by=intervals.weight_by,
        )
    if not scores:
        raise InvalidInput(" ".join(excuses))
    return Levels(scores, tuple(excuses))


def level_names(at: str | Iterable[str]) -> tuple[Level, ...]:
    """The level names in "all", or in a list such as "evidence,document"."""
    if at == "all":
        # Not pages: few results have them, so "all" would mostly explain why they are
        # missing.
        return tuple(level for level in LEVELS if level != "page")
    names = at.split(",") if isinstance(at, str) else [*at]
    if not names:
        raise InvalidInput(
            f"No level is named; name all, or some of {', '.join(LEVELS)}."
        )
    return tuple(dict.fromkeys(check_level(name.strip()) for name in names))


def document(levels: Levels) -> Document:
    """The verdict over all levels, their means, and what could not be computed."""
    names = dict.fromkeys(name for scores in levels.scores.values() for name in scores)
    rows: list[Cells] = [
        (
            Cell(name, strong=True),
            *(_cell(scores, name) for scores in levels.scores.values()),
        )
        for name in names
    ]
    return Document(
        _right_document(levels) or verdict(next(iter(levels.scores.values()))),
        blocks=[Table((Column("metric", words=True), *levels.scores), rows)],
        notes=[*_notes(levels)],
        rows=lambda: (
            {"at": level, **row}
            for level, scores in levels.scores.items()
            for row in summary_rows(scores)
        ),
    )


def _cell(scores: Scores, name: str) -> str:
    summary = scores.summaries.get(name)
    if summary is None:
        return ""
    if summary.mean is None:
        return "undefined"
    ends = f"  {summary.interval.shown}" if summary.interval else ""
    return f"{number(summary.mean)}{ends}"


def _notes(levels: Levels) -> Iterator[str]:
    """How the input was read, and which levels are missing or the same."""
    notes = (note for scores in levels.scores.values() for note in scores.recorded.notes)
    yield from dict.fromkeys([*notes, *levels.not_computed])
    by = {
        scores.recorded.match
        for level, scores in levels.scores.items()
        if level != "document"
    }
    if by == {"id"} and {"evidence", "chunk"} <= set(levels.scores):
        yield "The targets are ids of chunks, so evidence and chunk are the same here."


def _right_document(levels: Levels) -> str | None:
    """How often the right document was found but the wrong chunk."""
    scores = levels.scores
    if not {"evidence", "document"} <= set(scores):
        return None
    at = [
        m.k
        for m in scores["document"].metrics
        if m.stem == "hit_rate" and m.k is not None
    ]
    if not at:
        return None
    name = f"hit_rate@{max(at)}"
    values = scores["document"].of(name)
    evidence = scores["evidence"].of(name)
    n = int((values == values).sum())
    wrong = int(((values == 1) & (evidence == 0)).sum())
    return f"Right document, wrong chunk: {wrong:,} of {plural(n, 'query', 'queries')}."
