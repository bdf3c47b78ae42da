"""A drawn sample while it is judged: how wide its interval is, and what the machine's labels do."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.labels.judging import matched_run, scored_run
from calipers.labels.sample_result import JudgeAgreement, SampleLook, SampleState
from calipers.labels.sources import JudgedTruth
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import DRAWN, Draw, DrawnQuery, is_peoples
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import Interval, Method, Scores
from calipers.questions.evaluate.peoples_sample import only
from calipers.statistics.drawn_sample import DrawnSample
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.score_interval import mean_interval
from calipers.store.label_pools import PoolContent
from calipers.store.pool import LabelState
from calipers.words import did_you_mean


class SampleWatch:
    """What a pool that is a sample knows beside its labels."""

    def __init__(self, content: PoolContent, draw: Draw) -> None:
        self.content = content
        self.draw = draw
        assert content.ground_truth is not None  # noqa: S101 - a sample is drawn of one
        self.truth: GroundTruth = content.ground_truth
        self._known: tuple[int, str, SampleState] | None = None

    @cached_property
    def units(self) -> list[list[str]]:
        """The queries in the order of the draw, those of one cluster together."""
        found: dict[int, dict[str, None]] = {}
        for item in self.content.items:
            found.setdefault(item.share or 0, {})[item.label.query_id] = None
        return [list(found[number]) for number in sorted(found)]

    @cached_property
    def _all_units(self) -> list[list[str]]:
        """The same, and behind them the queries that were not drawn."""
        drawn = {query for unit in self.units for query in unit}
        rest: dict[str, list[str]] = {}
        clusters = tag_values(self.truth, self.draw.cluster)
        for query, cluster in zip(self.truth.queries["query"], clusters, strict=True):
            if query not in drawn:
                rest.setdefault(cluster or query, []).append(query)
        return [*self.units, *rest.values()]

    def _scored(self, truth: GroundTruth, run: Run) -> Scores | None:
        return scored_run(truth, run, self.content.settings, Policy(unknown="ignore"))

    @cached_property
    def _machine(self) -> dict[str, Scores | None]:
        return {name: self._scored(self.truth, run) for name, run in self.content.runs.items()}

    def judged(self, found: JudgedTruth) -> int:
        """How many of the draw people judged whole, from the first without a gap."""
        for number, unit in enumerate(self.units):
            if not all(is_peoples(found.sources.get(query)) for query in unit):
                return number
        return len(self.units)

    def waiting(self, found: JudgedTruth, pool: PoolContent, state: LabelState) -> str | None:
        """What keeps the next question of the draw from being counted, where judges left it."""
        judged = self.judged(found)
        for item in pool.items:
            if item.share != judged:
                continue
            given = [state.current(item.position, judge) for judge in pool.judges]
            labels = [one for one in given if one is not None and one.kind == "label"]
            name = f"the question {item.label.query_id!r:.60}"
            if not labels and any(given):
                return f"A result of {name} was skipped: judge it, or nothing behind it counts."
            if len({one.grade for one in labels}) > 1 and state.settled(item.position) is None:
                return f"Judges differ on a result of {name}: settle it, or nothing behind counts."
        return None

    def state(self, found: JudgedTruth, waiting: str | None) -> SampleState:
        """What there is to say now; computed when one more is judged."""
        judged = self.judged(found)
        mark = self._of_people(found, judged).fingerprint if judged else ""
        if self._known is None or self._known[:2] != (judged, mark):
            self._known = (judged, mark, self._state(found, judged))
        return replace(self._known[2], waiting=waiting)

    def _state(self, found: JudgedTruth, judged: int) -> SampleState:
        samples = self._samples(found, judged)
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
            *(self._agreement(found, last) if last is not None else (None, ())),
        )

    def _of_people(self, found: JudgedTruth, judged: int) -> GroundTruth:
        """What people said of the first of the draw."""
        truth = found.ground_truth or self.truth
        theirs = [query for unit in self.units[:judged] for query in unit]
        return only(truth, truth.queries["query"].is_in(theirs))

    def _samples(self, found: JudgedTruth, judged: int) -> dict[str, DrawnSample]:
        """The sample as each run's values, by the machine and by people."""
        order = [query for unit in self._all_units for query in unit]
        truth = self._of_people(found, judged) if judged else None
        samples = {}
        for name, scores in self._machine.items():
            if scores is None:
                continue
            people = np.full(len(order), np.nan)
            if truth is not None:
                scored = self._scored(truth, self.content.runs[name])
                people = people if scored is None else machine_values(scored, order)
            samples[name] = DrawnSample(
                machine_values(scores, order),
                people,
                judged,
                self.draw.looks,
                self.draw.confidence,
                value_bounds(scores.metrics[0]),
                numbered(self._all_units, self.draw.cluster),
            )
        return samples

    @cached_property
    def _called_relevant(self) -> Bools:
        """Whether the machine's ground truth calls each item relevant."""
        items = pl.DataFrame(
            [
                {
                    "query": item.label.query_id,
                    "rank": item.position + 1,
                    **{name: getattr(item.label, name) for name in _SHOWN},
                }
                for item in self.content.items
            ],
            schema={"query": pl.String(), "rank": pl.Int64(), **_SHOWN},
        ).with_columns(rank=pl.int_range(pl.len()).over("query") + 1)
        have = [name for name in items.columns if items[name].null_count() < items.height]
        run = Run.from_frame(items.select(have), order="rank")
        pair = matched_run(self.truth, run, self.content.settings)
        if pair is None:
            return np.zeros(items.height, dtype=np.bool_)
        matches = pair.matches
        good = _relevant(matches.target_grade[matches.edge_target], self.content.settings.rel)
        said = pl.DataFrame(
            {"code": matches.edge_query[good], "rank": matches.edge_rank[good]}
        ).unique()
        names = matches.queries.select("query").with_row_index("code")
        found = said.join(names.cast({"code": pl.Int64()}), on="code").select(
            "query", "rank", yes=True
        )
        return (
            items.join(found, on=["query", "rank"], how="left", maintain_order="left")["yes"]
            .is_not_null()
            .to_numpy()
        )

    def _agreement(
        self, found: JudgedTruth, judged: int
    ) -> tuple[JudgeAgreement | None, tuple[JudgeAgreement, ...]]:
        """How far the machine's labels are people's, whole and by slice."""
        at = {query: number for number, unit in enumerate(self.units[:judged]) for query in unit}
        rows = [
            (item.position, at[item.label.query_id], item.label.query_id)
            for item in self.content.items
            if item.label.query_id in at and item.position in found.grades
        ]
        positions = np.array([one[0] for one in rows])
        units = np.array([one[1] for one in rows])
        grades = np.array([found.grades[one[0]] for one in rows])
        people = _relevant(grades, self.content.settings.rel)
        machine = self._called_relevant[positions]
        whole = _agreement(self.draw, None, machine, people, units)
        if self.draw.by is None:
            return whole, ()
        values = dict(
            zip(self.truth.queries["query"], tag_values(self.truth, self.draw.by), strict=True)
        )
        named = np.array([values[one[2]] or f"{self.draw.by}=(none)" for one in rows])
        slices = [
            _agreement(self.draw, str(name), machine[here], people[here], units[here])
            for name in np.unique(named)
            for here in [named == name]
        ]
        return whole, tuple(slices)

    def tags(self, truth: GroundTruth, found: JudgedTruth) -> pl.Series:
        """The tag of every query that says how it was drawn; null where people did not judge."""
        places = {
            query: number + 1
            for number, unit in enumerate(self.units[: self.judged(found)])
            for query in unit
        }
        names = truth.queries["query"]
        mark = only(truth, names.is_in(list(places))).fingerprint if places else ""
        tags = [
            DrawnQuery(draw=self.draw, place=places[one], labels=mark).as_tag()
            if one in places
            else None
            for one in names
        ]
        return pl.Series(DRAWN, tags, dtype=pl.String)


_SHOWN: dict[str, pl.DataType] = {
    "item": pl.String(),
    "text": pl.String(),
    "document": pl.String(),
    "start": pl.Int64(),
    "end": pl.Int64(),
}


def _relevant(grades: Floats, rel: float | None) -> Bools:
    return np.asarray(grades > 0.0 if rel is None else grades >= rel)


def _agreement(
    draw: Draw, where: str | None, machine: Bools, people: Bools, units: Ints
) -> JudgeAgreement:
    same = (machine == people).astype(np.float64)
    way = machine.astype(np.float64) - people.astype(np.float64)
    # Whoever looks several times is told as often: the error is divided over the looks.
    p = paired_rows([way], units)[0].p if way.any() else None
    return JudgeAgreement(
        where,
        len(np.unique(units)),
        len(same),
        float(same.mean()),
        mean_interval(same, 1.0 - (1.0 - draw.confidence) / len(draw.looks), clusters=units),
        int((way > 0).sum()),
        int((way < 0).sum()),
        None if p is None else min(len(draw.looks) * p, 1.0),
    )


def _widest(widths: Sequence[float | None]) -> float | None:
    known = [one for one in widths if one is not None]
    return max(known) if known else None


def machine_values(scores: Scores, queries: Sequence[str]) -> Floats:
    """The watched metric of these queries; NaN where it is not known."""
    at = {query: row for row, query in enumerate(scores.queries["query"])}
    column = np.append(scores.of(scores.metrics[0].name), np.nan)
    return column[[at.get(query, -1) for query in queries]]


def numbered(units: Sequence[Sequence[str]], cluster: str | None) -> Ints | None:
    """The number of the cluster of each query; None where queries are drawn one by one."""
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
