"""Scores by machine labels, corrected by human labels on a sample of the queries.

Who labelled and how the queries were sampled is checked first. A queue that starts with
the items that move the metric most serves to build a pool and is no random sample: with
corrections from such a queue, none of 40 intervals contained the true value.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl

from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.load import load
from calipers.match.notes import made_queries
from calipers.model.document import Cell, Column, Document, Note, Table
from calipers.model.fact import Fact, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import (
    ALL,
    AT_RANDOM,
    CHECKED,
    DRAWN,
    FIT,
    JUDGED_BY,
    MACHINE,
    NOBODY,
    QUEUE,
    TO_CHECK,
    WHOLE_QUEUE,
    WRONG,
    from_tag,
    is_peoples,
)
from calipers.model.recorded import Recorded
from calipers.model.result import SCHEMA, HasRows, Plain
from calipers.model.scores import Interval, Method, Scores
from calipers.shell import join_words
from calipers.statistics.clusters import exact_mean
from calipers.statistics.prediction_powered import corrected_mean
from calipers.words import number, plural

_DRAW = "Let `calipers labels sample` draw them, let people judge these, and export that"


@dataclass(frozen=True, eq=False)
class SampleOfPeople:
    """The human labels, and the planned interim looks at them."""

    truth: GroundTruth
    looks: tuple[int, ...] = ()
    checked: int = 0
    """Made questions that people checked; ``truth`` holds those that are fit, and they
    alone count.
    """
    made: GroundTruth | None = None
    """The made questions, where people's own stand beside them: those need no correction."""


def sample_of_people(
    people: object,
    sampled: str | None,
    queries: Collection[str],
    fingerprint: str | None = None,
) -> SampleOfPeople:
    """The human labels; raises if some are not human or the sample was not drawn at random.

    ``queries`` are those with machine labels, ``fingerprint`` that of the machine's
    ground truth. A file of `calipers labels export` records who labelled and how the
    queue was ordered; for any other, ``sampled`` must state that all labels are human,
    and how the queries were chosen.
    """
    truth = load(people, "ground_truth").ground_truth
    if truth is None:
        raise InvalidInput(
            "What people judged holds no ground truth; give a file or a mapping with "
            "what should be found for each query of the sample."
        )
    checked = truth.tags.get(CHECKED)
    if checked is not None and {*checked.drop_nulls()} <= {TO_CHECK, FIT, NOBODY, WRONG}:
        return _as_checked(truth, checked, people)
    judged = truth.tags.get(JUDGED_BY)
    source = truth.tags.get("source")
    if judged is not None:
        truth = _only_peoples(truth, judged)
    elif source is not None and source.cast(pl.String).str.starts_with(MACHINE).any():
        raise InvalidInput(
            "Some of what people judged has a machine as its source, and a machine's "
            f"labels cannot correct a machine's. {_DRAW}."
        )
    if DRAWN in truth.tags:
        return _as_drawn(truth, fingerprint)
    missing = set(queries) - set(truth.queries["query"])
    if not missing and (judged is not None or sampled):
        return SampleOfPeople(truth)
    if sampled == ALL:
        raise InvalidInput(
            "--sampled all says that people judged every query, and "
            f"{plural(len(missing), 'query', 'queries')} of the machine's are not among "
            f"theirs, such as {min(missing)!r:.60}; leave it out, or say --sampled "
            "at-random."
        )
    queue = set(truth.tags.get(QUEUE, pl.Series([None])))
    if odd := sorted(
        str(source) for source in queue - {WHOLE_QUEUE, AT_RANDOM, "plain", None}
    ):
        raise InvalidInput(
            "The queries that people judged are no random sample: their queue was not "
            f"finished and began with what can move the metric most (the tag {QUEUE} "
            f"says {odd[0]}), so they tell nothing about the others. {_DRAW}; or let "
            "people finish the queue."
        )
    if sampled is None:
        raise InvalidInput(
            "It is not known who gave the labels that are to correct the machine's, or "
            "how the queries were chosen. If people gave every label, say so: --sampled "
            "at-random where the queries were drawn at random, --sampled all where they "
            "are all of them (sampled=… in Python)."
        )
    return SampleOfPeople(truth)


def _as_checked(truth: GroundTruth, checked: pl.Series, people: object) -> SampleOfPeople:
    """The questions of `calipers init FOLDER` that people found fit, once all drawn are checked."""
    drawn = len(checked.drop_nulls())
    left = int((checked == TO_CHECK).sum())
    fit = int((checked == FIT).sum())
    file = [str(people)] if isinstance(people, str | os.PathLike) else []
    words = ["calipers", "labels", "sample", *file]
    if left:
        raise InvalidInput(
            f"Go on with `{join_words(words)}`: {left} of {drawn} drawn questions are not "
            "checked yet."
        )
    if fit < FEWEST:
        more = join_words([*words, "-n", str(2 * drawn)])
        raise InvalidInput(
            f"Check more questions with `{more}`: {fit} of {drawn} are fit, and at least "
            f"{FEWEST} must be."
        )
    is_made = made_queries(truth)
    return SampleOfPeople(
        truth.only((checked == FIT).fill_null(value=False)),
        checked=drawn,
        made=None if is_made is None or is_made.all() else truth.only(is_made),
    )


def _only_peoples(truth: GroundTruth, judged: pl.Series) -> GroundTruth:
    theirs = pl.Series([is_peoples(judge) for judge in judged])
    if not theirs.any():
        raise InvalidInput(
            f"None of {plural(len(judged), 'query', 'queries')} was judged by people "
            f"alone: the tag {JUDGED_BY} says "
            f"{', '.join(sorted(set(judged.drop_nulls()))) or 'nothing'}. What came with "
            f"the ground truth must be judged, too. {_DRAW}."
        )
    return truth.only(theirs)


def _as_drawn(truth: GroundTruth, fingerprint: str | None) -> SampleOfPeople:
    """The sample up to the last look that was reached, checked against the recorded draw."""
    tags = truth.tags[DRAWN]
    truth = truth.only(tags.is_not_null())
    try:
        drawn = [from_tag(drop_null) for drop_null in tags.drop_nulls()]
    except ValueError:
        raise _edited() from None
    places = pl.Series([mark.place for mark in drawn], dtype=pl.Int64)
    judged = len(places.unique())
    if not drawn or sorted(places.unique()) != list(range(1, judged + 1)):
        raise _edited()
    draw = drawn[0].draw
    if any((mark.draw, mark.labels) != (draw, truth.fingerprint) for mark in drawn):
        raise _edited()
    if fingerprint is not None and draw.ground_truth != fingerprint:
        raise InvalidInput(
            f"The sample was drawn of another ground truth ({draw.ground_truth[:12]}) "
            f"than the one that it is to correct ({fingerprint[:12]}), so it tells "
            "nothing about it; give that one, or draw a sample of this."
        )
    last = max((look for look in draw.looks if look <= judged), default=None)
    if last is None:
        raise InvalidInput(
            f"People judged {plural(judged, 'query', 'queries')} of the sample, and "
            f"nothing can be said before {draw.looks[0]}; judge {draw.looks[0] - judged} "
            "more (`calipers labels sample` says how far it is), and export again."
        )
    return SampleOfPeople(truth.only(places <= last), draw.looks)


def _edited() -> InvalidInput:
    return InvalidInput(
        "The sample is not as `calipers labels export` wrote it: a query or a label was "
        "added, changed or taken out since, and then it is no random sample; export it "
        "again."
    )


@dataclass(frozen=True)
class CorrectedMetric:
    """One metric, as human labels of all queries would give it."""

    metric: str
    value: float
    interval: Interval
    machine: float
    """The mean by the machine's labels."""
    people: float
    """The mean of the sample by the human labels alone."""
    weight: float
    """The weight of the machine labels: 0 ignores them, 1 uses them fully."""
    sampled: int
    n: int


@dataclass(frozen=True, repr=False)
class CorrectedScores(Plain, HasRows):
    """Every metric, corrected by human labels."""

    shown_by: ClassVar[str] = "calipers.questions.evaluate.corrected"
    dict_keys: ClassVar[str] = "queries sampled metrics skipped unjudged settings"

    metrics: tuple[CorrectedMetric, ...]
    queries: int
    sampled: int
    """Queries with human labels."""
    skipped: tuple[str, ...]
    """Metrics that are defined for too few of these to be corrected."""
    settings: Mapping[str, Any]

    @property
    def recorded(self) -> Recorded:
        """The settings that this was made with, typed."""
        return Recorded(self.settings)

    unjudged: float = 0.0
    """The share of results in the sample without a human label, as they come from another
    run."""

    def __getitem__(self, name: str) -> CorrectedMetric:
        return next(metric for metric in self.metrics if metric.metric == name)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {"schema": SCHEMA, **super().to_dict()}


FEWEST = 2
"""The fewest queries with human labels that allow a correction."""


def correct_scores(
    machine: Scores,
    people: Scores,
    confidence: float = 0.95,
    looks: Sequence[int] = (),
    checked: int = 0,
) -> CorrectedScores:
    """Each metric over all machine-labelled queries, as human labels would give it.

    The mean is over all queries for which human labels define the metric or would do so.
    Where made questions were ``checked``, it is that of the fit ones alone: with those
    that nobody checked, intervals near 1 held 68 to 80 % of the time.
    """
    unknown = people.queries.join(machine.queries, on="query", how="anti")
    if unknown.height:
        raise InvalidInput(
            f"People judged {unknown.height} "
            f"{'query' if unknown.height == 1 else 'queries'} that the machine did not, "
            f"such as {unknown['query'][0]!r}; the machine must have judged everything."
        )
    rows = people.rows_of(machine.queries["query"])
    judged = rows >= 0
    corrected = []
    skipped = []
    for facts in machine.metrics:
        mine = machine.of(facts.name)
        theirs = np.where(judged, people.of(facts.name)[rows], np.nan)
        if facts.aggregate != "mean" or np.count_nonzero(~np.isnan(theirs)) < FEWEST:
            skipped.append(facts.name)
            continue
        alone = judged if checked else np.ones_like(judged)
        result = corrected_mean(
            *(mine[alone], theirs[alone], confidence, value_bounds(facts), looks),
            judged[alone],
        )
        kind: Method = "score" if value_bounds(facts) else "t"
        corrected.append(
            CorrectedMetric(
                facts.name,
                result.value,
                Interval(*result.interval, confidence, kind),
                exact_mean(mine[~np.isnan(mine)]) if checked else result.machine,
                result.people,
                result.weight,
                result.sampled,
                len(machine) if checked else result.n,
            )
        )
    if not corrected:
        raise InvalidInput(
            "No metric can be corrected: each needs at least two queries that people "
            "judged and for which it is defined; let people judge more queries."
        )
    return CorrectedScores(
        tuple(corrected),
        len(machine),
        len(people),
        tuple(skipped),
        {
            "confidence": confidence,
            **({"looks": list(looks)} if looks else {}),
            **({"checked": checked} if checked else {}),
        },
        (people.audit.unjudged_rate or 0.0) if looks else 0.0,
    )


def document(corrected: CorrectedScores) -> Document:
    """One row per metric: corrected, by machine labels, and by human labels alone."""
    columns = (
        Column("as people would judge", words=True),
        "mean",
        "interval",
        "machine",
        "people",
    )
    rows = [
        (
            Cell(metric.metric, strong=True),
            number(metric.value),
            metric.interval.shown,
            number(metric.machine),
            number(metric.people),
        )
        for metric in corrected.metrics
    ]
    first = corrected.metrics[0]
    machine = "all made questions" if "checked" in corrected.settings else "machine alone"
    return Document(
        sentence(
            "{it.metric}: {machine} {it.before}; corrected by people's labels of "
            "{it.queries:query|queries} {it.value} ({ends}).",
            machine=machine,
            it=Fact(
                about="mean",
                metric=first.metric,
                before=first.machine,
                value=first.value,
                low=first.interval.low,
                high=first.interval.high,
                queries=first.sampled,
            ),
            ends=first.interval.shown,
        ),
        blocks=[Table(columns, rows)],
        notes=_notes(corrected),
        rows=lambda: corrected.metrics,
    )


def _notes(corrected: CorrectedScores) -> list[Note]:
    """Notes on what the correction is based on."""
    checked = corrected.recorded.checked
    lines = [
        Note(
            "method",
            sentence(
                "People checked {it.count} of {it.of:made question|made questions}; "
                "{fit.count:is|are} fit, and the corrected mean is theirs. It does not say "
                "how people would have worded them.",
                it=Fact(about="count", count=checked, of=corrected.queries),
                fit=Fact(about="count", count=corrected.sampled, text="fit"),
            ),
        )
        if checked
        else Note(
            "method",
            sentence(
                "People judged {it.count} of {it.of:query|queries}; the mean is corrected "
                "by what they found there. The {level.value:.0%} interval counts the "
                "errors of the machine that they saw, and those that so small a sample may "
                "lack.",
                it=Fact(about="count", count=corrected.sampled, of=corrected.queries),
                level=Fact(about="setting", value=corrected.recorded.confidence),
            ),
        )
    ]
    if corrected.unjudged:
        lines.append(
            Note(
                "unjudged",
                sentence(
                    "{it.value:.0%} of the results that count here were not among those "
                    "that people judged, as another run was drawn for; they count as not "
                    "relevant. Draw a sample of this run, too.",
                    it=Fact(about="count", value=corrected.unjudged, text="unjudged"),
                ),
            )
        )
    if corrected.skipped:
        skipped = ", ".join(corrected.skipped)
        lines.append(Note("doubt", f"Not corrected, as too little is known: {skipped}."))
    return lines
