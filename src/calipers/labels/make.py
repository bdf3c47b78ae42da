"""Making a pool from runs: which results to judge, and with which settings."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from calipers.engines.scoring import choose_metrics
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.load import load_ground_truth, load_run
from calipers.labels.draft import draft, with_targets
from calipers.labels.judging import worth_judging
from calipers.live.questions import read_questions
from calipers.match.pair import match_pair
from calipers.model.fingerprint import fingerprint_rows, fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import IfThere, JudgeOnly, Label, TargetsAs, is_machine
from calipers.model.matching import Matching
from calipers.model.run import Run
from calipers.store.label_pools import check_judge, list_pools, make_pool
from calipers.store.open import Store
from calipers.store.pool import PoolInfo, PoolSettings

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
    queries: Collection[str] | None = None,
    only: JudgeOnly | None = None,
    again: bool = False,
    made_of: Mapping[str, str] | None = None,
    if_there: IfThere = "refuse",
    settings: PoolSettings,
) -> int:
    """Pool the first results of several runs and keep the pool; returns its number.

    The history is ``opened``, and created if necessary, once there is something to keep.
    ``queries`` and ``only`` select the questions. With ``again`` the targets of the ground truth
    are judged too, returned or not. If a pool of that name exists, ``if_there`` says what to do:
    "refuse", continue if it is the "same", or choose "another" name if it is not.
    """
    check_settings(settings)
    loaded = {one: load_run(value, one) for one, value in runs.items()}
    truth = None if ground_truth is None else load_ground_truth(ground_truth)
    if only is not None:
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
    made_of = made_of or _made_of(runs, truth, labels)
    name, there = _free_name(store, name, made_of, settings, if_there)
    if there is not None:
        return there
    return make_pool(
        store, name, labels, runs=runs, ground_truth=truth, settings=settings, made_of=made_of
    )


def _made_of(
    runs: Mapping[str, Run], truth: GroundTruth | None, labels: Sequence[Label]
) -> dict[str, str]:
    """Fingerprints of a pool's inputs: the same name may mean other data tomorrow."""
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
    """The name for a new pool, with the number of the existing pool if it is the same."""
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
    """How an existing pool differs from the one to be made, in words."""
    found = [
        f"the {what} is another"
        if what in there.made_of and what in made_of
        else f"it has {'no' if what in made_of else 'a'} {what}"
        for what in {**there.made_of, **made_of}
        # Pools of older versions have no fingerprints of their inputs.
        if there.made_of and there.made_of.get(what) != made_of.get(what)
    ]
    for one in fields(PoolSettings):
        old, new = getattr(there.settings, one.name), getattr(settings, one.name)
        if old != new and one.name not in ("targets_as", "judges"):
            short = len(f"{old}{new}") < 60 and isinstance(old, str | float | int)
            short = short and one.name != "guidelines"
            was = f" ({old}, now {new})" if short else ""
            found.append(f"other {one.name.replace('_', ' ')}{was}")
    return found


def _listed(changed: Sequence[str]) -> str:
    rest = len(changed) - 4
    return ", ".join(changed[:4]) + (f" and {rest} more" if rest > 0 else "")


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


def _asked(truth: GroundTruth, runs: Mapping[str, Run]) -> dict[str, str]:
    texts = dict(truth.queries.select("query", "text").iter_rows())
    for run in runs.values():
        if run.queries is not None and "text" in run.queries.columns:
            for query, text in run.queries.select("query", "text").iter_rows():
                if texts.get(query) is None and text is not None and query in texts:
                    texts[query] = text
    return {query: text or query for query, text in texts.items()}


def check_common(runs: Mapping[str, Run]) -> None:
    """Refuse runs without a common document: they did not search the same corpus."""
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
    """The settings with the matching that the ground truth needs, checked on the runs."""
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
            # One run may match nothing; if none does, the files do not belong together.
            strange = error
            continue
        word = str(pair.settings["match"]).partition("(")[0]
        kinds.append("quote" if word == "quote" else "span" if word == "span" else "id")
    if not kinds and strange is not None:
        raise strange
    return replace(settings, targets_as=kinds[0] if kinds else "id")
