"""The inputs of an operation: a pair, files, values, saved evaluations or a live retriever."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeGuard

import numpy as np
import polars as pl

from calipers.errors import (
    CalipersError,
    InvalidInput,
    NoCommonIds,
    SealedQueries,
    check_number,
)
from calipers.frozen import dataclass
from calipers.input_types import MetricsInput
from calipers.io.build import MemoryBudget
from calipers.io.load import load, load_pair, load_run
from calipers.io.tables.columns import Columns
from calipers.match.pair import match_again, match_documents, match_pair
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched, Role
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.run import MOST_KEPT, Run, Scan
from calipers.model.scores import Scores
from calipers.operation import arguments_of, flat, is_given, to_record
from calipers.questions.reading import (
    DEPTH,
    Inputs,
    Intervals,
    MatchingSettings,
    Reading,
    Where,
)

_AS_USUAL = Reading()
"""Nothing is said about reading."""


def matched(
    data: object = None,
    reading: Reading = _AS_USUAL,
    *,
    keep: bool = False,
    again: bool = False,
    looks: int = DEPTH,
    metrics: MetricsInput | None = None,
    tags: Iterable[str] = (),
) -> Matched:
    """Return the given pair, or read and match one.

    ``keep`` holds the run in memory, so that its file is no longer needed. ``again``: the
    caller reads the results again, so a small run stays in memory. ``looks`` is the
    number of results to ask a live retriever for. ``metrics`` and ``tags`` are those
    that will be asked of the pair: some metrics need subtopics, and a tag may stand in
    a column of its own.
    """
    if isinstance(data, Matched):
        _refuse_beside_pair(data, reading)
        return data
    read = as_read(data, reading, looks=looks, metrics=metrics, tags=tags)
    if keep:
        read = read.kept(None)
    elif again:
        read = read.kept(few_bytes(reading.matching.files.memory))
    return read.matched(fingerprints=reading.matching.fingerprints)


@dataclass(frozen=True, eq=False)
class ReadInputs:
    """A ground truth and a run as they were read, and how they are to be matched."""

    truth: GroundTruth
    run: Run
    matching: Matching
    whole: tuple[GroundTruth, Run] | None = None
    """Both before ``where`` or ``min_score`` left something out."""
    explained: Callable[[NoCommonIds], NoCommonIds] | None = None
    """What looks for another id, where none is in common."""

    def kept(self, most: int | None) -> Self:
        """The same with the run in memory, if it has at most so many bytes (None: in any case)."""
        return replace(self, run=self.run.kept(most))

    def matched(self, *, fingerprints: bool = True) -> Matched:
        """The matched pair; both sides are matched once, unless nothing of a part is found.

        A part may find nothing although its ids are right. Then the whole is looked at,
        which is refused where nothing is in common at all.
        """
        try:
            return self._matched(fingerprints=fingerprints)
        except NoCommonIds as error:
            if self.explained is None:
                raise
            raise self.explained(error) from None

    def _matched(self, *, fingerprints: bool) -> Matched:
        if self.whole is None:
            return match_pair(
                self.truth, self.run, self.matching, fingerprints=fingerprints
            )
        lenient = replace(self.matching.policy, nothing_in_common="zero")
        matching = replace(self.matching, policy=lenient)
        pair = match_pair(self.truth, self.run, matching, fingerprints=fingerprints)
        if pair.matches.edge_query.size:
            return pair
        whole = match_pair(*self.whole, self.matching, fingerprints=False)
        if whole.matching.at_documents and not pair.matching.at_documents:
            from calipers.match.level import targets_as_documents

            named = targets_as_documents(self.truth, self.whole[1])
            if named is not None:
                return match_documents(
                    named, self.run, matching, fingerprints=fingerprints
                )
        return pair


def as_read(
    data: object,
    reading: Reading,
    *,
    looks: int = DEPTH,
    metrics: MetricsInput | None = None,
    tags: Iterable[str] = (),
) -> ReadInputs:
    """Read the ground truth and the run, and return them with the matching settings."""
    if isinstance(data, Matched):
        _refuse_beside_pair(data, reading)
        return ReadInputs(*data.as_read, data.asked_again)
    wanted = reading.matching
    matching = matching_of(wanted, further=to_record(reading))
    together = bring_together(wanted.files.memory)
    named = wanted.files.columns
    sliced = columns_of_tags((*tags, *(wanted.where or ())))
    columns = Columns.of(named).with_tags(sliced).mapping_ids(wanted.map_ids)
    if metrics is not None and wanted.judged is None:
        columns = columns.measuring(lambda: _beyond_returned(metrics))
    inputs = reading.inputs
    if inputs.retriever is not None:
        data, inputs = _with_answers(data, inputs, columns, looks)
    truth, run = read_pair(
        data,
        inputs.ground_truth,
        inputs.run,
        wanted.store,
        columns,
        MemoryBudget(wanted.files.memory),
    )
    if wanted.like == "trec_eval" and not _asks_for_subtopics(metrics):
        from calipers.io.formats.trec import without_subtopics

        truth = without_subtopics(truth)
    if wanted.judged is not None:
        truth = replace(truth, only_returned=wanted.judged == "returned")
    run = _within(run, together)
    whole = None
    if wanted.where or wanted.min_score is not None:
        whole = (truth, run)
    if wanted.where:
        truth, run = only_where(truth, run, wanted.where)
    if wanted.min_score is not None:
        run = only_above(run, wanted.min_score)
    if not isinstance(named, Columns):
        columns.check_used()
    source = data if inputs.run is None else inputs.run

    def explained(error: NoCommonIds) -> NoCommonIds:
        from calipers.io.records.other_ids import with_other_id

        return with_other_id(error, source, role, columns)

    role: Role = "run" if columns.beside else "both"
    return ReadInputs(truth, run, matching, whole, explained)


def tags_of(intervals: Intervals) -> tuple[str, ...]:
    """The tags by which queries count as one, or count more."""
    return tuple(tag for tag in (intervals.cluster, intervals.weight_by) if tag)


def columns_of_tags(tags: Iterable[str]) -> list[str]:
    """The tags that a file may have as columns; the others are read off the questions."""
    named = [*tags]
    if not named:
        return named
    from calipers.model.slicing import AUTO, COMPUTED  # few ask for a part of the queries

    return [tag for tag in named if tag not in (*COMPUTED, AUTO)]


def only_where(
    truth: GroundTruth, run: Run, where: Mapping[str, str]
) -> tuple[GroundTruth, Run]:
    """Restrict the ground truth and the run to queries with these tags."""
    from calipers.model.slicing import queries_where  # few ask for a part of the queries

    counts = np.bincount(
        truth.target_query, truth.targets["grade"] > 0, truth.queries.height
    )
    known = truth.queries.with_columns(pl.Series("targets", counts.astype(np.int64)))
    return only_queries(truth, run, queries_where(known, truth.tags, where))


def only_queries(
    truth: GroundTruth, run: Run, chosen: pl.Series
) -> tuple[GroundTruth, Run]:
    """Restrict the ground truth and the run to some queries of the ground truth, by a mask."""
    others = truth.queries["query"].filter(~chosen).implode()

    def kept(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(~pl.col("query").is_in(others))

    def within(run: Run) -> Run:
        return replace(
            run,
            scan=lambda: map(kept, run.scan()),
            queries=None if run.queries is None else kept(run.queries),
            stages={name: within(stage) for name, stage in run.stages.items()},
        )

    return truth.only(chosen), within(run)


def only_above(run: Run, least: float) -> Run:
    """The run without results of a lower score; a query that loses all of them stays in it."""
    check_number("The lowest score to keep", least, such_as=0.5)
    queries = []
    rises = 0
    falls = 0
    for frame in run.scan():
        if "score" not in frame.columns or frame["score"].null_count():
            raise InvalidInput(
                "--min-score leaves out results by their score, and not every result has "
                "one; give every result a 'score'."
            )
        queries.append(frame["query"].unique(maintain_order=True))
        if run.order != "score":
            ordered = frame if run.order == "listed" else frame.sort("query", "rank")
            steps = (
                ordered["score"]
                .diff()
                .filter(ordered["query"] == ordered["query"].shift())
            )
            rises = rises + int((steps > 0).sum())
            falls = falls + int((steps < 0).sum())
    check_direction(rises, falls)
    names = (
        pl.concat(queries).unique(maintain_order=True)
        if queries
        else pl.Series([], dtype=pl.String)
    )
    return replace(
        run,
        scan=lambda: (frame.filter(pl.col("score") >= least) for frame in run.scan()),
        queries=names.alias("query").to_frame() if run.queries is None else run.queries,
    )


def check_direction(rises: int, falls: int) -> None:
    """Raise if scores rise down the ranking: they are distances, where less is better."""
    if rises > falls:
        raise InvalidInput(
            "The scores rise down the ranking, so they look like distances, of which "
            "less is better; a floor needs scores of which more is better. Give them "
            "with a minus sign."
        )


def matching_of(settings: MatchingSettings, *, further: Mapping[str, object]) -> Matching:
    """How settings ask that a pair be matched; ``further`` ones are recorded with it."""
    policy = Policy.like(settings.like) if settings.like else Policy()
    policy = policy.with_changes(
        missing=settings.missing,
        unanswerable=settings.unanswerable,
        duplicates=settings.duplicates,
        unknown=settings.unknown,
        errors=settings.errors,
        ties=settings.ties,
        nothing_in_common=settings.nothing_in_common,
        calls=settings.calls,
    )
    return Matching(
        rel=settings.rel,
        corpus_size=settings.corpus_size,
        level=settings.level,
        map_ids=settings.map_ids,
        match=settings.match,
        like=settings.like,
        policy=policy,
        further=tuple(further.items()),
    )


def _beyond_returned(metrics: MetricsInput) -> list[str]:
    """The metrics that cannot be measured where only returned rows were judged."""
    from calipers.engines.scoring import beyond_returned, choose_metrics

    return beyond_returned(choose_metrics(metrics, None))


def _asks_for_subtopics(metrics: MetricsInput | None) -> bool:
    """Whether a metric needs subtopics, which trec_eval does not support."""
    return any(word in str(metrics) for word in ("alpha", "subtopic", "st_rec", "strec"))


def run_within(
    value: object, name: str | None, columns: Columns, memory: str | int | None
) -> Run:
    """Load a run without a ground truth."""
    together = bring_together(memory)
    return _within(load_run(value, name, columns, MemoryBudget(memory)), together)


def _within(run: Run, together: Callable[[Scan], Scan]) -> Run:
    return run if run.in_memory else replace(run, together=together)


def bring_together(memory: str | int | None) -> Callable[[Scan], Scan]:
    """Return a function that groups rows by query; the size is checked now."""
    if memory is not None:
        from calipers.engines.shards import Shards

        return Shards(memory)

    def when_needed(scan: Scan) -> Scan:
        # Most runs are grouped already and never load this.
        from calipers.engines.shards import Shards

        return Shards()(scan)

    return when_needed


def few_bytes(memory: str | int | None) -> int:
    """The largest run, in bytes, that stays in memory between two questions."""
    if memory is None:
        return MOST_KEPT
    from calipers.io.files.spill import SHARE_TO_HOLD, memory_in_bytes

    return min(MOST_KEPT, memory_in_bytes(memory) // SHARE_TO_HOLD)


def like_of(data: object, reading: Reading) -> str | None:
    """The tool whose numbers are to be reproduced."""
    return data.asked.like if isinstance(data, Matched) else reading.matching.like


def matched_like(pair: Matched, other: object, matching: MatchingSettings) -> Matched:
    """Match another run of the same queries like ``pair``; it may have its own ground truth."""
    if isinstance(other, Matched):
        return other
    columns = Columns.of(matching.files.columns)
    run = plain_run(kept_before(other, matching.store))
    loaded = load(run, "run", columns, MemoryBudget(matching.files.memory))
    if loaded.ground_truth is None:
        return match_again(pair, load_pair(loaded, pair.ground_truth, None)[1])
    return matched(loaded, Reading(matching=matching))


def judged_by(pair: Matched, truth: GroundTruth) -> Matched:
    """Match the same run with another ground truth for some of its queries."""
    matching = pair.asked_again
    policy = replace(matching.policy, unknown="ignore")
    return match_pair(truth, pair.as_read[1], replace(matching, policy=policy))


def _refuse_beside_pair(pair: Matched, reading: Reading) -> None:
    """Refuse settings of reading beside a pair, which was read and matched already."""
    values = flat(reading)
    for name, argument in arguments_of(Reading).items():
        value = values[name]
        if not is_given(argument, value) or (name, value) == ("rel", pair.rel):
            continue
        if argument.setting is not None and argument.setting.changes_nothing:
            continue
        raise InvalidInput(
            f"A matched pair is given together with {name}={value!r}; how it is read and "
            f"matched was decided when it was made, so give {name} to calipers.read."
        )


def plain_run(run: object) -> object:
    """The run in a mapping of scores by item, quickly; any other value unchanged."""
    from calipers.io.load import scores_by_item

    dataset = scores_by_item(run)
    return run if dataset is None else dataset


def read_pair(
    data: object,
    ground_truth: object,
    run: object,
    store: Where = None,
    columns: Columns | None = None,
    room: MemoryBudget | None = None,
) -> tuple[GroundTruth, Run]:
    """Read the ground truth and the run from files, values or the history."""
    data = kept_before(data, store)
    run = plain_run(kept_before(run, store))
    if run is None and (ground_truth is not None or isinstance(data, list | tuple)):
        data = plain_run(data)
    return load_pair(data, ground_truth, run, columns, room)


def kept_before(value: Any, store: Where) -> Any:
    """Resolve a reference to the inputs of its saved evaluation; return other values unchanged."""
    if not is_reference(value):
        return value
    from calipers.store.listing import resolve
    from calipers.store.load import load_retrieved
    from calipers.store.open import open_store

    opened = open_store(store)
    return load_retrieved(opened, resolve(opened, value))


def is_reference(value: object) -> TypeGuard[str]:
    """Whether a value is a reference to the history; write a file of that name as ./@file."""
    return isinstance(value, str) and value.startswith("@")


def below(k: object) -> int:
    """The number of results to ask for when ranks below k matter too.

    >>> below(None), below(50)
    (20, 100)
    """
    return max(DEPTH, 2 * k) if isinstance(k, int) else DEPTH


def _with_answers(
    data: object, inputs: Inputs, columns: Columns | None, looks: int
) -> tuple[None, Inputs]:
    """The inputs with a live retriever's answers as the run.

    ``looks`` is the number of results to ask for unless the settings say.
    """
    sources = [source for source in (data, inputs.ground_truth) if source is not None]
    if len(sources) != 1:
        raise InvalidInput(
            "With --retriever (retriever= in Python) one file is needed, the questions "
            f"with their ground truth; {len(sources) or 'none'} "
            f"{'are' if sources else 'is'} given."
        )
    # Imported here so that measuring files does not load the code for live retrievers.
    from calipers.live.driver import Limits
    from calipers.live.retrieve import retrieve_to_run

    # Read before anything is asked: what cannot be measured, or is sealed, is not asked.
    questions = load(sources[0], "ground_truth", columns)
    answers = retrieve_to_run(
        inputs.retriever,
        questions.ground_truth or sources[0],
        k=inputs.ask_for or looks,
        limits=Limits(inputs.workers),
        watch=inputs.watch,
    )
    return None, Inputs(ground_truth=questions, run=answers)


def refuse_sealed(questions: object, columns: object = None) -> None:
    """Raise on sealed queries before anything is asked; other errors are raised later."""
    if not isinstance(questions, str | PathLike):
        return
    if not Path(questions).is_file() and not Path(questions).is_dir():
        return
    try:
        load(questions, "ground_truth", Columns.of(columns))
    except SealedQueries:
        raise
    except CalipersError:
        return


def with_cautions(
    pair: Matched, scores: Scores, of: Sequence[str] | None = None
) -> Scores:
    """The scores of a pair, with what makes their means say less than they seem to.

    ``of`` are the metrics that ties may decide; default: those that lead.
    """
    if not _may_be_tied(pair, scores) and not _may_be_whole(pair, scores):
        return scores
    # Few results need it, so most commands never load it.
    from calipers.questions.cautions import cautions

    return scores.with_notes(cautions(pair, scores, of))


def _may_be_tied(pair: Matched, scores: Scores) -> bool:
    """Whether neighbours have the same score, where the run is in memory."""
    if scores.audit.ties_on_targets or not pair.run.in_memory:
        return scores.audit.ties_on_targets > 0
    if pair.run.order == "score":
        # Counted while matching; the table of a mapping would be built for this alone.
        return scores.audit.ties > 0
    for frame in pair.run.scan():
        if "score" in frame.columns:
            score = frame["score"].to_numpy()
            if (score[1:] == score[:-1]).any():
                return True
    return False


def _may_be_whole(pair: Matched, scores: Scores) -> bool:
    """Whether all lists are equally long and hold all targets, as those of a whole corpus do."""
    every = pair.matches.retrieved
    alike = every.size > 1 and every.min() == every.max()
    return bool(alike) and any(
        scores[metric.name].mean == 1.0
        for metric in scores.metrics
        if metric.kind == "recall"
    )
