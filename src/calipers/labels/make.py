"""Making pools: which results to judge, and with which settings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from math import inf
from typing import Any

from calipers.engines.scoring import choose_metrics
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.load import load_ground_truth, load_run
from calipers.io.tables.columns import Columns
from calipers.labels.draft import draft, read_asked, texts_of_runs, with_targets
from calipers.labels.judging import matching_of
from calipers.match.pair import match_pair
from calipers.model.fingerprint import fingerprint_rows, fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import IfThere, Label, TargetsAs, is_machine
from calipers.model.run import Run
from calipers.questions.systems import name_systems
from calipers.store.label_pools import check_judge, list_pools, make_pool
from calipers.store.open import Store
from calipers.store.pool import SCALES, GradeStep, PoolSettings

LONGEST_GUIDELINES = 20_000


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
    """Save a pool, or find the existing one with the same content; returns its number.

    If a pool of that name exists, ``if_there`` says what to do: "refuse", continue if it is the
    "same", or choose "another" name if it is not.
    """
    if made_of is None:
        # The same name may mean other data tomorrow.
        frames = {f"run {one}": run.frame for one, run in runs.items()}
        made_of = {
            **{one: fingerprint_rows(of, sorted(of.columns)) for one, of in frames.items()},
            "ground truth": "" if truth is None else truth.fingerprint,
            "results to judge": fingerprint_settings(sorted(str(one.pair) for one in labels)),
        }
    known = {one.name: one for one in list_pools(store).pools}
    called, turn, new = name, 1, _compared(made_of, settings)
    while called in known and if_there != "refuse":
        old = _compared(known[called].made_of, known[called].settings)
        changed = [one.replace("_", " ") for one in {**old, **new} if old.get(one) != new.get(one)]
        if not changed:
            return known[called].number
        if if_there == "same":
            raise InvalidInput(
                f"There is a pool called {name!r} already, with another {', '.join(changed[:4])}; "
                f"take another name, or go on with that one (calipers serve --pool {name})."
            )
        turn += 1
        called = f"{name}-{turn}"
    return make_pool(
        store, called, labels, runs=runs, ground_truth=truth, settings=settings, made_of=made_of
    )


def _compared(made_of: Mapping[str, str], settings: PoolSettings) -> dict[str, Any]:
    """What must be the same in two pools that are one."""
    return {**made_of, **asdict(settings), "targets_as": None, "judges": None}


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
    """The results to judge, each once, shuffled.

    ``queries`` selects the questions. With ``again`` the targets of the ground truth are judged
    too, returned or not.
    """
    asked = read_asked(questions)
    if asked is None and truth is not None:
        known, rows_of = texts_of_runs(runs.values()), truth.queries.select("query", "text")
        asked = {query: text or known.get(query, query) for query, text in rows_of.iter_rows()}
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
        texts = {
            one: (asked or {})[one] for one in asked or () if queries is None or one in queries
        }
        rows = with_targets(rows, truth, runs.values(), texts, settings.seed)
    if not rows:
        why = "none of the questions has a result"
        if found.judged:
            why = f"the ground truth has all {found.judged} first results; look deeper (--depth)"
        raise InvalidInput(f"There is nothing to judge: {why}.")
    return rows


def matched_alike(
    settings: PoolSettings,
    truth: GroundTruth | None,
    runs: Mapping[str, Run],
    labels: Sequence[Label],
) -> PoolSettings:
    """The settings with the matching that the ground truth needs, checked on the runs."""
    _check_common(runs)
    if truth is None or not truth.targets.height:
        by_id = any(one.item is not None for one in labels)
        return replace(settings, targets_as="id" if by_id else "quote")
    kinds: list[TargetsAs] = []
    strange: NoCommonIds | None = None
    for run in runs.values():
        try:
            pair = match_pair(truth, run, matching_of(settings))
            word = str(pair.settings["match"]).partition("(")[0]
            kinds.append("quote" if word == "quote" else "span" if word == "span" else "id")
        except NoCommonIds as error:
            # One run may match nothing; if none does, the files do not belong together.
            strange = error
    if not kinds and strange is not None:
        raise strange
    return replace(settings, targets_as=kinds[0] if kinds else "id")


def _check_common(runs: Mapping[str, Run]) -> None:
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
                f"The runs have no document in common: {name} returned what no run before it did, "
                f"such as {min(here, default='')!r:.60}; give runs over the same corpus."
            )
        seen |= here


def read_inputs(
    runs: Any, ground_truth: Any, columns: Any
) -> tuple[dict[str, Run], GroundTruth | None]:
    """The runs by name, and the ground truth."""
    said = Columns.of(columns)
    loaded = {one: load_run(value, one, said) for one, value in name_systems(runs).items()}
    truth = None if ground_truth is None else load_ground_truth(ground_truth, said)
    said.check_used()
    return loaded, truth


def pool_settings(given: Mapping[str, Any], **more: Any) -> PoolSettings:
    """The settings of a pool from the keywords; invalid ones are refused before files are read."""
    named = {one.name: given[one.name] for one in fields(PoolSettings) if one.name in given}
    named |= read_scale(given.get("scale", "0-3"))
    judges = tuple(map(check_person, given.get("judges", ("me",))))
    settings = PoolSettings(**{**named, "judges": judges, **more})
    if len(choose_metrics(settings.metric, None)) != 1:
        raise InvalidInput(f"Name one metric to watch, such as ndcg@10; not {settings.metric!r}.")
    if not judges:
        raise InvalidInput("Nobody is named to judge; name at least one judge.")
    if len(settings.guidelines) > LONGEST_GUIDELINES:
        raise InvalidInput(f"Shorten the guidelines to {LONGEST_GUIDELINES:,} characters.")
    return settings


def check_person(name: str) -> str:
    """Return the name of a human judge; that of a language model is refused."""
    if is_machine(check_judge(name)):
        raise InvalidInput(
            f"{name!r:.60} is how the labels of a language model are named; name a person, or "
            "bring the labels of a model in with `calipers labels import`."
        )
    return check_judge(name)


def read_scale(scale: Any) -> dict[str, Any]:
    """Read a scale: a known name, or names with grades, as a text or as a mapping.

    >>> read_scale("yes/no")
    {'scale': 'yes/no', 'steps': ()}
    >>> [one.name for one in read_scale("answers=2,useless=0")["steps"]]
    ['useless', 'answers']
    """
    if isinstance(scale, str) and scale in SCALES:
        return {"scale": scale, "steps": ()}
    try:
        pairs = [one.split("=") for one in scale.split(",")] if isinstance(scale, str) else scale
        steps = sorted((float(grade), str(name).strip()) for name, grade in dict(pairs).items())
    except (TypeError, ValueError):
        steps = []
    fine = (
        0 <= grade < inf and 0 < len(name) <= 40 and name.isprintable() for grade, name in steps
    )
    if not 2 <= len(dict(steps)) == len(steps) <= 9 or not all(fine):
        raise InvalidInput(
            f"The scale is {scale!r:.80}; it can be {', '.join(SCALES)}, or 2 to 9 names with "
            "different grades from 0, such as useless=0,helps=1,answers=3."
        )
    return {"scale": "own", "steps": tuple(GradeStep(*one) for one in steps)}
