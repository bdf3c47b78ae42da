"""Drawing a sample: questions in a random order that is fixed before anybody judges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.io.load import load_ground_truth, load_run
from calipers.labels.desk import Desk
from calipers.labels.judging import place, scored_run
from calipers.labels.make import check_common, check_settings, matched_alike, to_judge
from calipers.labels.sampled import machine_values, numbered, tag_values
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import JUDGED_BY, Draw, Label, is_peoples
from calipers.model.run import Run
from calipers.model.scores import Scores
from calipers.statistics.drawn_sample import planned_looks
from calipers.statistics.sample_looks import FIRST
from calipers.store.label_pools import list_pools, make_pool
from calipers.store.open import Store
from calipers.store.pool import PoolSettings
from calipers.words import plural

MOST = 300
"""Questions that are drawn unless more are asked for."""


def draw(
    opened: Callable[[], Store],
    name: str,
    runs: Mapping[str, Any],
    ground_truth: Any,
    *,
    until: float,
    judges: Sequence[str],
    most: int = MOST,
    cluster: str | None = None,
    by: str | None = None,
    confidence: float = 0.95,
    questions: Any = None,
    corpus: Any = None,
    settings: PoolSettings,
) -> Desk:
    """Draw a sample and keep it as a pool; one of that name that was drawn so before is opened."""
    check_settings(settings, judges)
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
        overlap=0.0,
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
    there = next((one for one in list_pools(store).pools if one.name == name), None)
    if there is not None:
        _check_same(name, there.settings, settings)
        return Desk(store, there.number)
    items = [
        (number, one)
        for number, unit in enumerate(units[:most])
        for query in unit
        for one in rows[query]
    ]
    number = make_pool(
        store,
        name,
        items,
        runs=loaded,
        ground_truth=truth,
        judges=judges,
        settings=settings,
    )
    return Desk(store, number)


def only_sample(store: Store) -> str:
    """The name of the one sample that there is."""
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
    # A query without the tag is a cluster of its own; as a slice all of them are one.
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
    # One slice alone stays in the order it has.
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
    """What nobody can read nobody can judge, and then its query never is judged by people alone."""
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


def _check_same(name: str, there: PoolSettings, asked: PoolSettings) -> None:
    """Refuse another draw under the name of one that there is."""
    if there.sample is None:
        raise InvalidInput(
            f"There is a pool called {name!r} already, and it is no drawn sample; give the sample "
            "another name (--pool)."
        )
    for what, old, new in (
        ("metric", there.metric, asked.metric),
        ("depth", there.depth, asked.depth),
        *((one, getattr(there.sample, one), getattr(asked.sample, one)) for one in _SAME),
    ):
        if old != new:
            raise InvalidInput(
                f"There is a sample called {name!r} already, with another {_SAME.get(what, what)} "
                f"({str(old)[:40]}, now {str(new)[:40]}); a sample is drawn once. Go on with it as "
                f"it is (calipers labels sample --pool {name}), or give the new one another name."
            )


_SAME = {
    "ground_truth": "ground truth",
    "runs": "run",
    "seed": "seed",
    "until": "width to reach",
    "confidence": "confidence",
    "cluster": "cluster",
    "by": "slice",
    "looks": "number to draw at most",
}


def _clusters(cluster: str | None) -> str:
    return "" if cluster is None else f" (clusters of {cluster})"
