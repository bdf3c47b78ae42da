"""A sample for human judges: questions drawn at random to check and correct a machine's labels.

The order of the draw is fixed before anybody judges.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.io.load import load_ground_truth, load_run
from calipers.labels.agreement import compare_with_people
from calipers.labels.judging import JudgedTruth, matched_run, place, scored_run
from calipers.labels.make import check_common, check_settings, keep, matched_alike, to_judge
from calipers.labels.result import MachineCheck, SampleLook, SampleState
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import DRAWN, JUDGED_BY, Draw, DrawnQuery, Label, is_peoples
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import Interval, Method, Scores
from calipers.questions.evaluate.corrected import only
from calipers.statistics.drawn_sample import DrawnSample, planned_looks
from calipers.statistics.sample_looks import FIRST
from calipers.store.label_pools import PoolContent, list_pools
from calipers.store.open import Store
from calipers.store.pool import LabelState, PoolSettings
from calipers.words import did_you_mean, plural

MOST = 300
"""Questions that are drawn by default."""


def draw(
    opened: Callable[[], Store],
    name: str,
    runs: Mapping[str, Any],
    ground_truth: Any,
    *,
    until: float,
    most: int = MOST,
    cluster: str | None = None,
    by: str | None = None,
    confidence: float = 0.95,
    questions: Any = None,
    corpus: Any = None,
    settings: PoolSettings,
) -> int:
    """Draw a sample and save it as a pool, unless the same one exists; returns its number."""
    check_settings(settings)
    if not 0.0 < until < 1.0:
        raise InvalidInput(
            f"The width to reach is {until}; it is how far the interval may reach to either side, "
            "between 0 and 1, such as 0.05."
        )
    truth = load_ground_truth(ground_truth)
    _check_machines(truth)
    loaded = {one: load_run(value, one).kept() for one, value in runs.items()}
    labels = to_judge(
        loaded, truth, questions=questions, corpus=corpus, again=True, settings=settings
    )
    check_common(loaded)
    settings = matched_alike(settings, truth, loaded, labels)
    _check_readable(truth, labels)
    rows: dict[str, list[Label]] = {}
    for one in labels:
        rows.setdefault(one.query_id, []).append(one)
    units = drawn_order(truth, set(rows), settings.seed, cluster, by)
    total = len(units)
    if total < FIRST:
        raise InvalidInput(
            f"There are {plural(total, 'query', 'queries')} to draw from{_clusters(cluster)}, and "
            f"fewer than {FIRST} that people judge say nothing of the others; let people judge "
            "all of them."
        )
    most = min(most, total)
    if most < FIRST:
        raise InvalidInput(
            f"At most {most} are to be judged, and fewer than {FIRST} say nothing of the others; "
            f"allow {FIRST} or more."
        )
    scored = [_by_machine(truth, run, settings) for run in loaded.values()]
    plans = [_planned(one, units, cluster, until, most, confidence) for one in scored]
    looks, widest = max(plans, key=lambda one: (one[1] > until, one[0][0]))
    if widest > until:
        raise InvalidInput(
            f"±{until:g} cannot be reached: as the machine judged, even {most:,} of {total:,} "
            f"queries{_clusters(cluster)} without any error leave about ±{widest:.3f}; ask for "
            f"--until {widest + 0.005:.2f} or more"
            + (", draw more (--most)" if most < total else "")
            + ", or bring more queries."
        )
    settings = replace(
        settings,
        order="plain",
        sample=Draw(
            seed=settings.seed,
            total=total,
            looks=looks,
            until=until,
            confidence=confidence,
            cluster=cluster,
            by=by,
            ground_truth=truth.fingerprint,
            runs=tuple(one.fingerprints.get("run") or "" for one in scored),
        ),
    )
    store = opened()
    items = [one for unit in units[:most] for query in unit for one in rows[query]]
    return keep(store, name, items, loaded, truth, settings, "same")


def only_sample(store: Store) -> str:
    """The name of the only sample in the store."""
    found = [one.name for one in list_pools(store).pools if one.settings.sample is not None]
    if len(found) != 1:
        there = f"there are {', '.join(found[:8])}" if found else "none was drawn yet"
        raise InvalidInput(
            f"It is not said which sample is meant, and {there}; name one with --pool, or draw one "
            "with calipers labels sample RUN -g machine.jsonl."
        )
    return found[0]


def drawn_order(
    truth: GroundTruth, queries: set[str], seed: int, cluster: str | None, by: str | None
) -> list[list[str]]:
    """The queries in the order of the draw, those of one cluster together.

    The order comes from a hash of the seed and the name. With ``by`` each value of that tag has its
    share of the first n, for any n.

    >>> rows = pl.DataFrame({"query": list("abcd"), "item": list("wxyz")})
    >>> truth = GroundTruth.from_targets(rows)
    >>> [one for [one] in drawn_order(truth, set("abcd"), 1, None, None)]
    ['a', 'b', 'd', 'c']
    """
    names = truth.queries["query"].to_list()
    # Queries without the tag are clusters of their own, but together form one slice.
    named = [one or query for one, query in zip(tag_values(truth, cluster), names, strict=True)]
    sliced = [one or "" for one in tag_values(truth, by)]
    units: dict[str, list[str]] = {}
    slices: dict[str, str] = {}
    for query, unit, value in zip(names, named, sliced, strict=True):
        if query in queries:
            units.setdefault(unit, []).append(query)
            slices.setdefault(unit, value)
    mixed = sorted(units, key=lambda one: place(seed, one))
    sizes = {value: list(slices.values()).count(value) for value in set(slices.values())}
    seen = dict.fromkeys(sizes, 0)
    when: dict[str, float] = {}
    for unit in mixed:
        value = slices[unit]
        begun = int.from_bytes(place(seed, value, "slice")[:4]) / 2**32
        when[unit] = (seen[value] + begun) / sizes[value]
        seen[value] += 1
    # A single slice keeps its order.
    return [units[one] for one in sorted(mixed, key=lambda one: when[one])]


def _planned(
    scores: Scores,
    units: Sequence[Sequence[str]],
    cluster: str | None,
    until: float,
    most: int,
    confidence: float,
) -> tuple[tuple[int, ...], float]:
    machine = machine_values(scores, [query for unit in units for query in unit])
    facts = scores.metrics[0]
    if facts.aggregate != "mean" or np.isnan(machine).all():
        raise InvalidInput(
            f"{facts.name} has no mean over these queries that people's labels could correct; "
            "choose another metric with -m."
        )
    bounds, clusters = value_bounds(facts), numbered(units, cluster)
    return planned_looks(machine, until, most, confidence, bounds, clusters)


def _by_machine(truth: GroundTruth, run: Run, settings: PoolSettings) -> Scores:
    scores = scored_run(truth, run, settings)
    if scores is None:
        raise InvalidInput(
            f"The run {run.name} has nothing in common with the ground truth, so there is nothing "
            "to correct."
        )
    return scores


def _check_machines(truth: GroundTruth) -> None:
    judged = truth.tags.get(JUDGED_BY)
    if judged is not None and all(is_peoples(one) for one in judged):
        raise InvalidInput(
            "People gave every label of the ground truth, so there is no machine to correct."
        )


def _check_readable(truth: GroundTruth, labels: Sequence[Label]) -> None:
    """Refuse targets without a text: nobody could judge them, nor complete their query."""
    there = {(one.query_id, one.document, one.start, one.end) for one in labels}
    spans = truth.targets.filter(pl.col("start").is_not_null(), pl.col("item").is_null())
    lost = [
        row
        for row in spans.select("query", "document", "start", "end").iter_rows()
        if row not in there
    ]
    if lost:
        raise InvalidInput(
            f"The text of {plural(len(lost), 'target')} is not known, such as {lost[0][2]}–"
            f"{lost[0][3]} of {lost[0][1]!r:.60} for the query {lost[0][0]!r:.60}, and nobody can "
            "judge what cannot be read; give runs whose chunks hold it."
        )


def _clusters(cluster: str | None) -> str:
    return "" if cluster is None else f" (clusters of {cluster})"


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
                people = people if scored is None else machine_values(scored, order)
            samples[name] = DrawnSample(
                machine_values(scores, order),
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


_SHOWN: dict[str, pl.DataType] = {
    "item": pl.String(),
    "text": pl.String(),
    "document": pl.String(),
    "start": pl.Int64(),
    "end": pl.Int64(),
}


def _relevant(grades: Floats, rel: float | None) -> Bools:
    return np.asarray(grades > 0.0 if rel is None else grades >= rel)


def _widest(widths: Sequence[float | None]) -> float | None:
    known = [one for one in widths if one is not None]
    return max(known) if known else None


def machine_values(scores: Scores, queries: Sequence[str]) -> Floats:
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
