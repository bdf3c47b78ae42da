"""Making a pool out of runs: what is worth judging, who gets it, how it is measured."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from calipers.engines.scoring import choose_metrics
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.load import load_ground_truth, load_run
from calipers.labels.agreement import check_choice
from calipers.labels.choices import ONLY, IfThere, JudgeOnly
from calipers.labels.desk import Desk
from calipers.labels.draft import draft, with_targets
from calipers.labels.judging import shares, worth_judging
from calipers.labels.queues import check_assigned
from calipers.live.questions import read_questions
from calipers.match.pair import match_pair
from calipers.model.fingerprint import fingerprint_rows, fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label, TargetsAs
from calipers.model.matching import Matching
from calipers.model.run import Run
from calipers.store.label_pools import add_items, add_judges, list_pools, make_pool
from calipers.store.open import Store
from calipers.store.pool import ORDERS, SCALES, PoolInfo, PoolSettings

LONGEST_GUIDELINES = 20_000
NOTHING = {
    "misses": "no run misses anything among its first results",
    "different": "the runs return the same results in the same order",
}


def make(
    opened: Callable[[], Store],
    name: str,
    runs: Mapping[str, Any],
    *,
    ground_truth: Any = None,
    questions: Any = None,
    corpus: Any = None,
    judges: Sequence[str] = ("me",),
    queries: Collection[str] | None = None,
    only: JudgeOnly | None = None,
    again: bool = False,
    made_of: Mapping[str, str] | None = None,
    if_there: IfThere = "refuse",
    settings: PoolSettings,
) -> Desk:
    """Pool the first results of several runs, keep the pool, and open it.

    The history is ``opened``, and made if need be, when there is something to keep.
    ``queries`` and ``only`` leave out every other question. With ``again`` also what the ground
    truth has is judged, returned or not. ``if_there`` is for a pool of the same name: it is
    refused, or gone on with if it is "same" in all that it was made of, or "another" name is taken
    if it is not.
    """
    check_settings(settings, judges)
    loaded = {one: load_run(value, one) for one, value in runs.items()}
    truth = None if ground_truth is None else load_ground_truth(ground_truth)
    if only is not None:
        check_choice("only", only, ONLY)
        some = worth_judging(only, truth, loaded, settings)
        queries = some if queries is None else some & set(queries)
        if not queries:
            raise InvalidInput(f"There is nothing to judge: {NOTHING[only]}.")
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
    check_assigned(truth, settings.assigned)
    given = shares((one.query_id for one in labels), settings.overlap, settings.seed)
    store = opened()
    made_of = made_of or _made_of(loaded, truth, labels)
    name, there = _free_name(store, name, made_of, settings, if_there)
    if there is not None:
        return join(Desk(store, there), judges)
    number = make_pool(
        store,
        name,
        [(given[one.query_id], one) for one in labels],
        runs=loaded,
        ground_truth=truth,
        judges=judges,
        settings=settings,
        made_of=made_of,
    )
    return Desk(store, number)


def _made_of(
    runs: Mapping[str, Run], truth: GroundTruth | None, labels: Sequence[Label]
) -> dict[str, str]:
    """Fingerprints of what a pool is made of: the same name may stand for other data tomorrow."""
    found = {
        f"run {name}": fingerprint_rows(run.frame, sorted(run.frame.columns))
        for name, run in runs.items()
    }
    found["ground truth"] = "" if truth is None else truth.fingerprint
    found["results to judge"] = fingerprint_settings(sorted(str(one.pair) for one in labels))
    return found


def _free_name(
    store: Store,
    name: str,
    made_of: Mapping[str, str],
    settings: PoolSettings,
    if_there: IfThere,
) -> tuple[str, int | None]:
    """The name for a new pool, or the number of the one that it would be."""
    known = {one.name: one for one in list_pools(store).pools}
    for turn in range(1, len(known) + 2):
        called = name if turn == 1 else f"{name}-{turn}"
        if called not in known or if_there == "refuse":
            return called, None
        changed = differences(known[called], made_of, settings)
        if not changed:
            return called, known[called].number
        if if_there == "same":
            raise InvalidInput(
                f"There is a pool called {name!r} already, and it is another: {_listed(changed)}. "
                f"Go on with that one as it is (calipers serve --pool {name}), or give the new "
                f"one another name."
            )
    raise InvalidInput(f"There are too many pools called {name!r}; give this one another name.")


def differences(there: PoolInfo, made_of: Mapping[str, str], settings: PoolSettings) -> list[str]:
    """In what a pool is another than the one that would be made, in words."""
    found = [
        f"the {what} is another"
        if what in there.made_of and what in made_of
        else f"it has {'no' if what in made_of else 'a'} {what}"
        for what in {**there.made_of, **made_of}
        # A pool from before this was kept does not say what it was made of.
        if there.made_of and there.made_of.get(what) != made_of.get(what)
    ]
    for one in fields(PoolSettings):
        old, new = getattr(there.settings, one.name), getattr(settings, one.name)
        if old != new and one.name != "targets_as":
            short = len(f"{old}{new}") < 60 and isinstance(old, str | float | int)
            short = short and one.name != "guidelines"
            was = f" ({old}, now {new})" if short else ""
            found.append(f"other {one.name.replace('_', ' ')}{was}")
    return found


def _listed(changed: Sequence[str]) -> str:
    rest = len(changed) - 4
    return ", ".join(changed[:4]) + (f" and {rest} more" if rest > 0 else "")


def enlarge(desk: Desk, labels: Sequence[Label]) -> Desk:
    """The pool with more to judge; what it has already is left as it is."""
    if desk.content.settings.sample is not None:
        raise InvalidInput(
            f"The pool {desk.name} is a sample that was drawn at random; nothing can be put into "
            "it by hand."
        )
    known = {one.label.pair for one in desk.items}
    shared = {one.label.query_id: one.share for one in desk.items}
    new = [one for one in labels if one.pair not in known]
    if new:
        # Somebody asked for these by name, so nobody is left out of them.
        rows = [(shared.get(one.query_id), one) for one in new]
        add_items(desk.store, desk.content.number, rows)
        desk.state()
    return desk


def join(desk: Desk, judges: Sequence[str]) -> Desk:
    """The pool with more judges."""
    if not set(judges) <= set(desk.judges):
        add_judges(desk.store, desk.content.number, judges)
        desk.state()
    return desk


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
    """The results to judge, each once, in an order that tells nothing."""
    asked = None
    if questions is not None:
        asked = {one.id: one.text for one in read_questions(questions)}
    elif truth is not None:
        asked = _asked(truth, runs)
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


def check_settings(settings: PoolSettings, judges: Sequence[str]) -> None:
    """Refuse what cannot be meant before any file is read."""
    if not settings.steps:
        check_choice("scale", settings.scale, list(SCALES))
    strangers = {one for part in settings.assigned for one in part.judges} - set(judges)
    if strangers:
        raise InvalidInput(
            f"A slice is assigned to {min(strangers)!r:.60}, who is not among the judges: "
            f"{', '.join(judges)}."
        )
    check_choice("order", settings.order, ORDERS)
    if not 0 <= settings.overlap <= 1:
        raise InvalidInput(
            f"The overlap is {settings.overlap!r}; it is the share of questions that every judge "
            "gets, from 0 to 1."
        )
    if len(choose_metrics(settings.metric, None)) != 1:
        raise InvalidInput(
            f"The metric to watch is {settings.metric!r}; name one, such as ndcg@10."
        )
    if not judges:
        raise InvalidInput("Nobody is named to judge; name at least one judge.")
    if len(settings.guidelines) > LONGEST_GUIDELINES:
        raise InvalidInput(
            f"The guidelines have {len(settings.guidelines):,} characters; judges read at most "
            f"{LONGEST_GUIDELINES:,}."
        )


def read_guidelines(path: str | os.PathLike[str] | None) -> str:
    """The guidelines for judges, from a text file."""
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not valid UTF-8"
        raise InvalidInput(
            f"The guidelines {path} cannot be read: {reason}; give a text file."
        ) from None


def _asked(truth: GroundTruth, runs: Mapping[str, Run]) -> dict[str, str]:
    texts = dict(truth.queries.select("query", "text").iter_rows())
    for run in runs.values():
        if run.queries is not None and "text" in run.queries.columns:
            for query, text in run.queries.select("query", "text").iter_rows():
                if texts.get(query) is None and text is not None and query in texts:
                    texts[query] = text
    return {query: text or query for query, text in texts.items()}


def check_common(runs: Mapping[str, Run]) -> None:
    """Two runs without a document in common do not search the same corpus."""
    if len(runs) < 2:
        return
    column = "item" if all("item" in run.frame.columns for run in runs.values()) else "text"
    if any(column not in run.frame.columns for run in runs.values()):
        return
    seen: set[str] = set()
    for name, run in runs.items():
        here = set(run.frame[column].drop_nulls().unique())
        if seen and not seen & here:
            first = next(iter(sorted(here)), "")
            raise InvalidInput(
                f"The runs have no document in common: {name} returned {first!r:.60} and others, "
                "and none of them stands in the runs before it; give runs over the same corpus."
            )
        seen |= here


def matched_alike(
    settings: PoolSettings,
    truth: GroundTruth | None,
    runs: Mapping[str, Run],
    labels: Sequence[Label],
) -> PoolSettings:
    """The settings with the way of matching that the ground truth asks for, checked on it."""
    if truth is None or not truth.targets.height:
        by_id = any(one.item is not None for one in labels)
        return replace(settings, targets_as="id" if by_id else "quote")
    kinds: list[TargetsAs] = []
    strange: NoCommonIds | None = None
    for run in runs.values():
        try:
            pair = match_pair(
                truth,
                run,
                Matching(match=settings.match, level=settings.level, rel=settings.rel),
            )
        except NoCommonIds as error:
            # One run may find nothing; that none of them does is a mix-up.
            strange = error
            continue
        word = str(pair.settings["match"]).partition("(")[0]
        kinds.append("quote" if word == "quote" else "span" if word == "span" else "id")
    if not kinds and strange is not None:
        raise strange
    return replace(settings, targets_as=kinds[0] if kinds else "id")
