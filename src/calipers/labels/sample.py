"""A sample that people judge: how far it is, and what it says of a machine's labels."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.labels.agreement import compare_with_people
from calipers.labels.judging import JudgedTruth, scored_run
from calipers.labels.result import MachineCheck, SampleLook, SampleState
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import DRAWN, Draw, DrawnQuery, is_peoples
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import Interval, Method, Scores
from calipers.questions.evaluate.corrected import only
from calipers.questions.pooling import known_grade
from calipers.statistics.prediction_powered import DrawnSample
from calipers.store.label_pools import PoolContent
from calipers.store.pool import LabelState
from calipers.words import did_you_mean


class SampleWatch:
    """The sampling state of a pool."""

    def __init__(self, content: PoolContent, draw: Draw) -> None:
        self.content = content
        self.draw = draw
        assert content.ground_truth is not None  # noqa: S101 - a sample is drawn of one
        self.truth: GroundTruth = content.ground_truth
        self._known: tuple[str, SampleState] | None = None

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The items of each query, in the order of the draw."""
        found: dict[str, list[int]] = {}
        for item in self.content.items:
            found.setdefault(item.label.query_id, []).append(item.position)
        return found

    @cached_property
    def _units(self) -> tuple[list[list[str]], list[list[str]]]:
        """The drawn queries and the others, grouped by cluster."""
        clusters = tag_values(self.truth, self.draw.cluster)
        named = dict(zip(self.truth.queries["query"], clusters, strict=True))
        drawn: dict[str, list[str]] = {}
        rest: dict[str, list[str]] = {}
        for query in self._places:
            drawn.setdefault(named.get(query) or query, []).append(query)
        for query, cluster in named.items():
            if query not in self._places:
                rest.setdefault(cluster or query, []).append(query)
        return list(drawn.values()), list(rest.values())

    def counted(self, found: JudgedTruth, state: LabelState) -> tuple[list[list[str]], str | None]:
        """The units that humans judged completely, in drawn order, and what blocks the rest.

        A question that is not judged yet is passed over: that is unrelated to its results. One
        that was skipped, or on which judges differ, may be a harder one, so nothing after it
        counts until it is judged.
        """
        judged = []
        for unit in self._units[0]:
            if all(is_peoples(found.sources.get(query)) for query in unit):
                judged.append(unit)
                continue
            name = f"the question {unit[0]!r:.60}"
            for item in (item for query in unit for item in self._places[query]):
                given = state.given(item)
                if item in found.grades or not given:
                    continue
                if state.labels(item):
                    return judged, f"Judges differ on a result of {name}: settle it to go on."
                if all(one.kind == "skip" for one in given.values()):
                    return judged, f"A result of {name} was skipped: judge it to go on."
        return judged, None

    def _scored(self, truth: GroundTruth, run: Run) -> Scores | None:
        return scored_run(truth, run, self.content.settings, Policy(unknown="ignore"))

    @cached_property
    def _machine(self) -> dict[str, Scores | None]:
        return {name: self._scored(self.truth, run) for name, run in self.content.runs.items()}

    def state(self, found: JudgedTruth, state: LabelState) -> SampleState:
        """The current state; computed again only when the labels changed."""
        judged, waiting = self.counted(found, state)
        mark = self._human_truth(found, judged).fingerprint if judged else ""
        if self._known is None or self._known[0] != mark:
            self._known = mark, self._state(found, judged)
        return replace(self._known[1], waiting=waiting)

    def _state(self, found: JudgedTruth, units: list[list[str]]) -> SampleState:
        samples, judged = self._samples(found, units), len(units)
        first = next(iter(samples.values()))
        widths = [one.width(judged) for one in samples.values()] if judged else [None]
        ahead = first.next_look
        last = first.last_look
        enough = [one.enough(self.draw.until) for one in samples.values()]
        looks = []
        if last is not None:
            for name, one in samples.items():
                result = one.at(last)
                if result is not None:
                    kind: Method = "t" if one.bounds is None else "score"
                    ends = Interval(*result.interval, self.draw.confidence, kind)
                    looks.append(
                        SampleLook(name, result.machine, result.value, ends, result.people)
                    )
        until = None if None in enough else max(one for one in enough if one is not None)
        return SampleState(
            self.content.name,
            self.content.settings.metric,
            self.draw,
            judged,
            _widest(widths),
            ahead,
            None if ahead is None else _widest([one.width(ahead) for one in samples.values()]),
            until,
            until is not None and last is not None and until <= last,
            None,
            tuple(looks),
            last,
            None if last is None else self._machine_check(found, units[:last]),
        )

    def _human_truth(self, found: JudgedTruth, units: list[list[str]]) -> GroundTruth:
        """The ground truth of some units, with human labels."""
        truth = found.ground_truth or self.truth
        theirs = [query for unit in units for query in unit]
        return only(truth, truth.queries["query"].is_in(theirs))

    def _samples(self, found: JudgedTruth, judged: list[list[str]]) -> dict[str, DrawnSample]:
        """The values of each run by machine and by human labels."""
        first, (drawn, rest) = {unit[0] for unit in judged}, self._units
        units = [*judged, *(unit for unit in drawn if unit[0] not in first), *rest]
        order = [query for unit in units for query in unit]
        truth = self._human_truth(found, judged) if judged else None
        samples = {}
        for name, scores in self._machine.items():
            if scores is None:
                continue
            people = np.full(len(order), np.nan)
            if truth is not None:
                scored = self._scored(truth, self.content.runs[name])
                people = people if scored is None else metric_values(scored, order)
            samples[name] = DrawnSample(
                metric_values(scores, order),
                people,
                len(judged),
                self.draw.looks,
                self.draw.confidence,
                value_bounds(scores.metrics[0]),
                numbered(units, self.draw.cluster),
            )
        return samples

    @cached_property
    def _called_relevant(self) -> Bools:
        """Whether the machine's ground truth calls each item relevant."""
        targets = self.truth.targets.rows_by_key("query", named=True)
        labels = [one.label for one in self.content.items]
        grades = (known_grade(one, targets.get(one.query_id, ())) for one in labels)
        return _relevant(np.array([grade or 0.0 for grade in grades]), self.content.settings.rel)

    def _machine_check(self, found: JudgedTruth, units: list[list[str]]) -> MachineCheck:
        """Compare the machine's ground truth with the human labels of these units."""
        queries = (query for unit in units for query in unit)
        there = [item for one in queries for item in self._places[one] if item in found.grades]
        grades = np.array([found.grades[item] for item in there])
        people = _relevant(grades, self.content.settings.rel)
        machine = self._called_relevant[np.array(there, dtype=np.int64)]
        return compare_with_people("the machine", machine, people, self.draw.confidence)

    def tags(self, truth: GroundTruth, found: JudgedTruth, state: LabelState) -> pl.Series:
        """The tag that records how each query was drawn; null if humans did not judge it."""
        judged, _ = self.counted(found, state)
        places = {query: at for at, unit in enumerate(judged, 1) for query in unit}
        names = truth.queries["query"]
        mark = only(truth, names.is_in(list(places))).fingerprint if places else ""
        tags = [
            DrawnQuery(draw=self.draw, place=places[one], labels=mark).as_tag()
            if one in places
            else None
            for one in names
        ]
        return pl.Series(DRAWN, tags, dtype=pl.String)


def _relevant(grades: Floats, rel: float | None) -> Bools:
    return np.asarray(grades > 0.0 if rel is None else grades >= rel)


def _widest(widths: Sequence[float | None]) -> float | None:
    known = [one for one in widths if one is not None]
    return max(known) if known else None


def metric_values(scores: Scores, queries: Sequence[str]) -> Floats:
    """The watched metric of these queries; NaN if unknown."""
    at = {query: row for row, query in enumerate(scores.queries["query"])}
    column = np.append(scores.of(scores.metrics[0].name), np.nan)
    return column[[at.get(query, -1) for query in queries]]


def numbered(units: Sequence[Sequence[str]], cluster: str | None) -> Ints | None:
    """The cluster number of each query; None if queries are drawn one by one."""
    if cluster is None:
        return None
    return np.repeat(np.arange(len(units)), [len(unit) for unit in units])


def tag_values(truth: GroundTruth, name: str | None) -> list[str | None]:
    """The value of a tag for every query, as tag=value."""
    if name is None:
        return [None] * truth.queries.height
    if name not in truth.tags:
        known = ", ".join(truth.tags) or "none"
        raise InvalidInput(
            f"The queries have no tag {name!r:.60}; their tags are: {known}."
            f"{did_you_mean(name, list(truth.tags))}"
        )
    tag = truth.tags[name].cast(pl.String)
    return [None if one is None else f"{name}={one}" for one in tag]
