"""An evaluation: scores from any source, and the other results asked for on the same data."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import polars as pl

from calipers.engines.scoring import choose_metrics, deepest, score
from calipers.errors import InvalidInput
from calipers.match.pair import match_pair
from calipers.measures import Metric
from calipers.model.document import Block, Document, Lines, Note, Rows
from calipers.model.matched import Matched
from calipers.model.result import ShowsItself
from calipers.model.scores import Scores
from calipers.model.slicing import refuse_weighted
from calipers.operation import to_record
from calipers.present.scores import document as scores_document
from calipers.present.scores import summary_rows
from calipers.questions.inputs import as_read, few_bytes, judged_by, like_of, matched
from calipers.questions.reading import Evaluating, Reading

if TYPE_CHECKING:
    from calipers.questions.evaluate.corrected import CorrectedScores
    from calipers.questions.evaluate.levels import Levels
    from calipers.questions.report.result import Report
    from calipers.questions.slices.result import Slices


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationAnswer(ShowsItself):
    """The scores, and the other results asked for on the same data."""

    shown_by: ClassVar[str] = "calipers.questions.evaluate.rule"

    scores: "Scores | Levels"
    slices: "Slices | None" = None
    corrected: "CorrectedScores | None" = None
    pair: Matched | None = None
    """The matched pair that was scored, for further questions; None without one."""

    @property
    def result(self) -> Scores:
        """The scores, if they are not those of several levels."""
        return cast(Scores, self.scores)

    @property
    def further(self) -> Mapping[str, Any]:
        """The results beside the scores, by name."""
        asked = {"slices": self.slices, "corrected": self.corrected}
        return {name: part for name, part in asked.items() if part is not None}

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole answer as plain values: what ``--json`` prints."""
        whole = self.scores.to_dict(per_query=per_query)
        if not per_query:
            # The keys keep the same order whatever else was asked for.
            whole["per_query"] = []
        return whole | {name: part.to_dict() for name, part in self.further.items()}


def measure(data: Any, settings: Evaluating) -> tuple[Matched, Scores]:
    """Return the pair (given, or read and matched now) and its scores."""
    chosen = _chosen(settings, like_of(data, settings))
    pair = matched(data, settings, looks=deepest(chosen))
    return pair, _scored(pair, chosen, settings)


def _chosen(settings: Mapping[str, Any], like: str | None) -> tuple[Metric, ...]:
    return choose_metrics(settings.get("metrics"), settings.get("k"), like=like)


def _scored(pair: Matched, metrics: Sequence[Metric], settings: Mapping[str, Any]) -> Scores:
    return score(
        pair,
        metrics,
        **_intervals(settings),
        further=to_record(settings, Evaluating),
    )


def _intervals(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for confidence intervals."""
    return {
        name: settings[name] for name in ("confidence", "cluster", "weight_by") if name in settings
    }


_READ_IN_MEMORY = frozenset(Reading.__annotations__) | {"weight_by"}
"""The settings of reading, and the tag that may stand in a column of its own."""


def measure_levels(data: Any, settings: Mapping[str, Any], at: str | Collection[str]) -> "Levels":
    """Score each level; the input is read once."""
    from calipers.questions.evaluate.levels import level_names, score_at_levels

    reading = cast(Reading, settings)
    names, chosen = level_names(at), _chosen(settings, like_of(data, reading))
    truth, run, matching = as_read(data, reading, deepest(chosen))
    return score_at_levels(truth, run, names, chosen, matching, _intervals(settings))


def measure_corrected(
    data: Any, settings: Mapping[str, Any], people: Any, sampled: str | None
) -> "CorrectedScores":
    """Correct each metric by human labels of a sample of the queries."""
    from calipers.questions.evaluate.corrected import correct_scores, sample_of_people

    for name in ("weight_by", "cluster"):
        if settings.get(name):
            raise InvalidInput(
                "A correction by people's labels counts every query as one; leave out "
                f"--{name.replace('_', '-')}."
            )
    reading = cast(Reading, settings)
    chosen = _chosen(settings, like_of(data, reading))
    pair = matched(data, reading, again=True)
    asked = pair.ground_truth.queries["query"].to_list()
    sample = sample_of_people(people, sampled, asked, pair.as_read[0].fingerprint)
    by_people = score(judged_by(pair, sample.truth), chosen)
    machine = score(pair, chosen)
    level = settings.get("confidence", 0.95)
    return correct_scores(machine, by_people, level, sample.looks, sample.checked)


_OF_ONE = frozenset({"per_query", "by", "corrected_by", "html", "save"})
"""The settings that need one result, not that of several levels."""
_OF_A_PAIR = ("corrected_by", "html", "save")
"""The settings that look into the results again."""


def answer(data: Any, asked: Mapping[str, Any]) -> EvaluationAnswer:
    """Answer everything asked for; ``asked`` has every setting with a value."""
    level = asked.get("level")
    # An unknown metric is refused before a large file is read.
    metrics = _chosen(asked, asked.get("like"))
    if level is not None and (level == "all" or "," in level):
        if single := [name.replace("_", "-") for name in asked if name in _OF_ONE]:
            raise InvalidInput(
                f"--{single[0]} needs one result and --level {level} makes several; give one "
                "level, or leave the option out."
            )
        how = {name: one for name, one in asked.items() if name != "level"}
        return EvaluationAnswer(scores=measure_levels(data, how, level))
    reading: Any = {name: value for name, value in asked.items() if name in _READ_IN_MEMORY}
    fingerprints = reading.pop("fingerprints", True)
    truth, run, matching = as_read(data, reading, deepest(metrics))
    if any(asked.get(name) for name in _OF_A_PAIR):
        run = run.kept(few_bytes(reading.get("memory")))
    pair = match_pair(truth, run, matching, fingerprints=fingerprints)
    scores = _scored(pair, metrics, asked)
    return EvaluationAnswer(scores=scores, pair=pair, **_further(scores, pair, asked))


def _further(scores: Scores, pair: Matched | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Answer the other questions on the same data; each module is loaded only when needed."""
    found: dict[str, Any] = {}
    names = [*scores.summaries]
    if by := asked.get("by"):
        from calipers.questions.slices.settings import slices

        named = names if asked.get("metrics") else None
        found["slices"] = slices(scores, by, metrics=named, primary=asked.get("primary"))
    if people := asked.get("corrected_by"):
        how = {**_intervals(asked), "metrics": names}
        found["corrected"] = measure_corrected(pair, how, people, asked.get("sampled"))
    return found


def report_of(found: EvaluationAnswer, asked: Mapping[str, Any]) -> "Report":
    """The report page of this evaluation."""
    from calipers.questions.report.browse import Browse
    from calipers.questions.report.result import Report
    from calipers.questions.report.rule import describe
    from calipers.questions.systems import name_of

    refuse_weighted(found.result, "The parts of a report")
    pair, by = found.pair, asked.get("by") or None
    browse = Browse(name_of(pair), found.result, pair, corpus=asked.get("corpus"))
    intervals = {"confidence": asked.get("confidence", 0.95), "cluster": asked.get("cluster")}
    return Report((describe(browse, by=by, **intervals),))


def document(found: EvaluationAnswer) -> Document:
    """The scores, and a table for each other result asked for."""
    scores = found.scores
    if not isinstance(scores, Scores):
        return scores.document()
    whole = scores_document(scores)
    blocks: list[Block] = [*whole.blocks]
    notes: list[Note | str] = [*whole.notes]
    for title, part in (("By slice", found.slices), ("Corrected", found.corrected)):
        if part is not None:
            inner = part.document()
            blocks += [Lines((), inner.sentence or title), *inner.blocks]
            notes += inner.notes
    return replace(whole, blocks=blocks, notes=notes, rows=lambda: _rows(found))


def _rows(found: EvaluationAnswer) -> Rows:
    """The rows of the most specific result: a CSV holds one table."""
    for part in (found.slices, found.corrected):
        if part is not None and (make := part.document().rows) is not None:
            return make()
    return summary_rows(found.result)


def evaluation_rows(found: EvaluationAnswer) -> Iterator[bytes] | None:
    """The members of ``per_query`` as JSON chunks; None if there are several such lists."""
    return score_rows(found.scores) if isinstance(found.scores, Scores) else None


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
