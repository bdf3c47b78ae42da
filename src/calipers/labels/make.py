"""Making pools: which results to judge, with which settings, and which are drawn at random."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.scoring import choose_metrics
from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.load import load_ground_truth, load_run
from calipers.labels.draft import draft, read_asked, with_targets
from calipers.labels.judging import place, scored_run
from calipers.labels.sample import metric_values, numbered, tag_values
from calipers.match.pair import match_pair
from calipers.model.fingerprint import fingerprint_rows, fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import (
    JUDGED_BY,
    Draw,
    IfThere,
    Label,
    TargetsAs,
    is_machine,
    is_peoples,
)
from calipers.model.matching import Matching
from calipers.model.run import Run
from calipers.model.scores import Scores
from calipers.statistics.prediction_powered import planned_looks
from calipers.statistics.sample_looks import FIRST
from calipers.store.label_pools import check_judge, list_pools, make_pool
from calipers.store.open import Store
from calipers.store.pool import PoolInfo, PoolSettings
from calipers.words import plural

LONGEST_GUIDELINES = 20_000


def make(
    opened: Callable[[], Store],
    name: str,
    runs: Mapping[str, Any],
    *,
    ground_truth: Any = None,
    questions: Any = None,
    corpus: Any = None,
    queries: Collection[str] | None = None,
    again: bool = False,
    made_of: Mapping[str, str] | None = None,
    if_there: IfThere = "refuse",
    settings: PoolSettings,
) -> int:
    """Pool the first results of several runs, keep the pool; returns its number.

    The history is ``opened``, and created if necessary, once there is something to keep.
    ``queries`` selects the questions. With ``again`` the targets of the ground truth
    are judged too, returned or not. If a pool of that name exists, ``if_there`` says what to do:
    "refuse", continue if it is the "same", or choose "another" name if it is not.
    """
    check_settings(settings)
    loaded = {one: load_run(value, one) for one, value in runs.items()}
    truth = None if ground_truth is None else load_ground_truth(ground_truth)
    labels = to_judge(
        loaded,
        truth,
        questions=questions,
        corpus=corpus,
        queries=queries,
        again=again,
        settings=settings,
    )
    check_common(loaded)
    settings = matched_alike(settings, truth, loaded, labels)
    return keep(opened(), name, labels, loaded, truth, settings, if_there, made_of)


def keep(
    store: Store,
    name: str,
    labels: Sequence[Label],
    runs: Mapping[str, Run],
    truth: GroundTruth | None,
    settings: PoolSettings,
    if_there: IfThere = "refuse",
    made_of: Mapping[str, str] | None = None,
) -> int:
    """Save a pool, or find the existing one with the same content; returns its number."""
    if made_of is None:
        # The same name may mean other data tomorrow.
        made_of = {
            **{
                f"run {one}": fingerprint_rows(run.frame, sorted(run.frame.columns))
                for one, run in runs.items()
            },
            "ground truth": "" if truth is None else truth.fingerprint,
            "results to judge": fingerprint_settings(sorted(str(one.pair) for one in labels)),
        }
    name, there = _free_name(store, name, made_of, settings, if_there)
    if there is not None:
        return there
    return make_pool(
        store, name, labels, runs=runs, ground_truth=truth, settings=settings, made_of=made_of
    )


def _free_name(
    store: Store,
    name: str,
    made_of: Mapping[str, str],
    settings: PoolSettings,
    if_there: IfThere,
) -> tuple[str, int | None]:
    """The name for a new pool, with the number of the existing pool if it is the same."""
    known = {one.name: one for one in list_pools(store).pools}
    called, turn = name, 1
    while called in known and if_there != "refuse":
        changed = _differences(known[called], made_of, settings)
        if not changed:
            return called, known[called].number
        if if_there == "same":
            raise InvalidInput(
                f"There is a pool called {name!r} already, with another {', '.join(changed[:4])}. "
                f"Go on with that one as it is (calipers serve --pool {name}), or give the new "
                "one another name."
            )
        turn += 1
        called = f"{name}-{turn}"
    return called, None


def _differences(there: PoolInfo, made_of: Mapping[str, str], settings: PoolSettings) -> list[str]:
    """What differs between an existing pool and the one to be made."""
    old = {**there.made_of, **asdict(there.settings), "targets_as": None, "judges": None}
    new = {**made_of, **asdict(settings), "targets_as": None, "judges": None}
    return [one.replace("_", " ") for one in {**old, **new} if old.get(one) != new.get(one)]


def to_judge(
    runs: Mapping[str, Run],
    truth: GroundTruth | None,
    *,
    questions: Any = None,
    corpus: Any = None,
    queries: Collection[str] | None = None,
    again: bool = False,
    settings: PoolSettings,
) -> list[Label]:
    """The results to judge, each once, shuffled."""
    asked = read_asked(questions)
    if asked is None and truth is not None:
        asked = _texts(truth, runs)
    found = draft(
        list(runs.values()),
        asked,
        k=settings.depth,
        seed=settings.seed,
        ground_truth=None if again else truth,
        corpus=corpus,
    )
    rows = [one for one in found.rows if queries is None or one.query_id in queries]
    if again and truth is not None:
        rows = with_targets(
            rows, truth, runs.values(), asked or {}, queries=queries, seed=settings.seed
        )
    if not rows:
        raise InvalidInput(
            f"There is nothing to judge: the ground truth has all {found.judged} of the first "
            f"{settings.depth} results already; look deeper (--depth), or judge them again."
            if found.judged
            else "There is nothing to judge: none of the questions has a result."
        )
    return rows


def _texts(truth: GroundTruth, runs: Mapping[str, Run]) -> dict[str, str]:
    """The text of each question of the ground truth, which the runs may know."""
    texts = dict(truth.queries.select("query", "text").iter_rows())
    for run in runs.values():
        if run.queries is not None and "text" in run.queries.columns:
            for query, text in run.queries.select("query", "text").iter_rows():
                if query in texts:
                    texts[query] = texts[query] or text
    return {query: text or query for query, text in texts.items()}


def check_settings(settings: PoolSettings) -> None:
    """Refuse invalid settings before any file is read."""
    if len(choose_metrics(settings.metric, None)) != 1:
        raise InvalidInput(
            f"The metric to watch is {settings.metric!r}; name one, such as ndcg@10."
        )
    if not settings.judges:
        raise InvalidInput("Nobody is named to judge; name at least one judge.")
    for one in settings.judges:
        check_person(one)
    if len(settings.guidelines) > LONGEST_GUIDELINES:
        raise InvalidInput(
            f"The guidelines have {len(settings.guidelines):,} characters; judges read at most "
            f"{LONGEST_GUIDELINES:,}."
        )


def check_person(name: str) -> str:
    """Return the name of a human judge; that of a language model is refused."""
    if is_machine(check_judge(name)):
        raise InvalidInput(
            f"{name!r:.60} is how the labels of a language model are named; name a person, or "
            "bring the labels of a model in with `calipers labels import`."
        )
    return check_judge(name)


def read_guidelines(path: str | os.PathLike[str] | None) -> str:
    """Read the guidelines for judges from a text file."""
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not valid UTF-8"
        raise InvalidInput(
            f"The guidelines {path} cannot be read: {reason}; give a text file."
        ) from None


def check_common(runs: Mapping[str, Run]) -> None:
    """Refuse runs without a common document: they did not search the same corpus."""
    frames = {name: run.frame for name, run in runs.items()}
    column = "item" if all("item" in one.columns for one in frames.values()) else "text"
    if any(column not in one.columns for one in frames.values()):
        return
    seen: set[str] = set()
    for name, frame in frames.items():
        here = set(frame[column].drop_nulls().unique())
        if seen and not seen & here:
            raise InvalidInput(
                f"The runs have no document in common: {name} returned "
                f"{min(here, default='')!r:.60} and others, and none of them stands in the runs "
                "before it; give runs over the same corpus."
            )
        seen |= here


def matched_alike(
    settings: PoolSettings,
    truth: GroundTruth | None,
    runs: Mapping[str, Run],
    labels: Sequence[Label],
) -> PoolSettings:
    """The settings with the matching that the ground truth needs, checked on the runs."""
    if truth is None or not truth.targets.height:
        by_id = any(one.item is not None for one in labels)
        return replace(settings, targets_as="id" if by_id else "quote")
    how = Matching(match=settings.match, level=settings.level, rel=settings.rel)
    kinds: list[TargetsAs] = []
    strange: NoCommonIds | None = None
    for run in runs.values():
        try:
            word = str(match_pair(truth, run, how).settings["match"]).partition("(")[0]
            kinds.append("quote" if word == "quote" else "span" if word == "span" else "id")
        except NoCommonIds as error:
            # One run may match nothing; if none does, the files do not belong together.
            strange = error
    if not kinds and strange is not None:
        raise strange
    return replace(settings, targets_as=kinds[0] if kinds else "id")


# A sample drawn at random


def draw(
    opened: Callable[[], Store],
    name: str,
    runs: Mapping[str, Any],
    ground_truth: Any,
    *,
    until: float,
    most: int,
    cluster: str | None,
    confidence: float,
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
    judged = truth.tags.get(JUDGED_BY)
    if judged is not None and all(is_peoples(one) for one in judged):
        raise InvalidInput(
            "People gave every label of the ground truth, so there is no machine to correct."
        )
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
    units = drawn_order(truth, set(rows), settings.seed, cluster)
    total, by_cluster = len(units), "" if cluster is None else f" (clusters of {cluster})"
    if total < FIRST:
        raise InvalidInput(
            f"There are {plural(total, 'query', 'queries')} to draw from{by_cluster}, and "
            f"fewer than {FIRST} that people judge say nothing of the others; let people judge "
            "all of them."
        )
    if most < FIRST:
        raise InvalidInput(
            f"At most {most} are to be judged, and fewer than {FIRST} say nothing of the others; "
            f"allow {FIRST} or more."
        )
    most = min(most, total)
    scored = {one: scored_run(truth, run, settings) for one, run in loaded.items()}
    plans, prints = [], []
    for run, scores in scored.items():
        if scores is None:
            raise InvalidInput(
                f"The run {run} has nothing in common with the ground truth, so there is nothing "
                "to correct."
            )
        plans.append(_planned(scores, units, cluster, until, most, confidence))
        prints.append(scores.fingerprints.get("run") or "")
    looks, widest = max(plans, key=lambda one: (one[1] > until, one[0][0]))
    if widest > until:
        raise InvalidInput(
            f"±{until:g} cannot be reached: as the machine judged, even {most:,} of {total:,} "
            f"queries{by_cluster} without any error leave about ±{widest:.3f}; ask for "
            f"--until {widest + 0.005:.2f} or more"
            + (", draw more (--most)" if most < total else "")
            + ", or bring more queries."
        )
    drawn = Draw(
        seed=settings.seed,
        total=total,
        looks=looks,
        until=until,
        confidence=confidence,
        cluster=cluster,
        ground_truth=truth.fingerprint,
        runs=tuple(prints),
    )
    items = [one for unit in units[:most] for query in unit for one in rows[query]]
    settings = replace(settings, order="plain", sample=drawn)
    return keep(opened(), name, items, loaded, truth, settings, "same")


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
    truth: GroundTruth, queries: set[str], seed: int, cluster: str | None
) -> list[list[str]]:
    """The queries in the order of the draw, by a hash of the seed; those of a cluster together.

    >>> rows = pl.DataFrame({"query": list("abcd"), "item": list("wxyz")})
    >>> truth = GroundTruth.from_targets(rows)
    >>> [one for [one] in drawn_order(truth, set("abcd"), 1, None)]
    ['a', 'b', 'd', 'c']
    """
    units: dict[str, list[str]] = {}
    for query, value in zip(truth.queries["query"], tag_values(truth, cluster), strict=True):
        if query in queries:
            units.setdefault(value or query, []).append(query)
    return [units[one] for one in sorted(units, key=lambda one: place(seed, one))]


def _planned(
    scores: Scores,
    units: Sequence[Sequence[str]],
    cluster: str | None,
    until: float,
    most: int,
    confidence: float,
) -> tuple[tuple[int, ...], float]:
    machine = metric_values(scores, [query for unit in units for query in unit])
    facts = scores.metrics[0]
    if facts.aggregate != "mean" or np.isnan(machine).all():
        raise InvalidInput(
            f"{facts.name} has no mean over these queries that people's labels could correct; "
            "choose another metric with -m."
        )
    bounds, clusters = value_bounds(facts), numbered(units, cluster)
    return planned_looks(machine, until, most, confidence, bounds, clusters)


def _check_readable(truth: GroundTruth, labels: Sequence[Label]) -> None:
    """Refuse targets without a text: nobody could judge them, nor complete their query."""
    there = {(one.query_id, one.document, one.start, one.end) for one in labels}
    spans = truth.targets.filter(pl.col("start").is_not_null(), pl.col("item").is_null())
    rows = spans.select("query", "document", "start", "end").iter_rows()
    if lost := [row for row in rows if row not in there]:
        query, document, start, end = lost[0]
        raise InvalidInput(
            f"The text of {plural(len(lost), 'target')} is not known, such as {start}–{end} of "
            f"{document!r:.60} for the query {query!r:.60}, and nobody can judge what cannot be "
            "read; give runs whose chunks hold it."
        )
