"""Is the latest evaluation significantly worse than before?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from calipers.analyse.alarm import Watched, check_all, yardstick
from calipers.analyse.comparable import different_ways
from calipers.analyse.compare import facts_by_name
from calipers.analyse.headlines import headlines
from calipers.analyse.trend import changes
from calipers.api.history import check_known, metric_names
from calipers.errors import InvalidInput
from calipers.model.alarm import Alarm
from calipers.store.place import Where
from calipers.suggest import did_you_mean
from calipers.version import __version__


def alarm(
    name: str,
    *,
    metrics: str | Iterable[str] | None = None,
    by: str | Iterable[str] = (),
    window: int = 7,
    tags: Mapping[str, str] | None = None,
    branch: str | None = None,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
    store: Where = None,
) -> Alarm:
    """The latest evaluation of a name against the previous one and against the ``window`` before.

    Queries are paired where question and ground truth are the same on both sides, so that a drop
    is the retriever's and not that of a changed ground truth. p-values are corrected over all
    metrics, slices and both yardsticks; ``alpha`` is the rate of false alarms. ``metrics``
    default to the headlines; ``by`` are tags whose values are checked one by one. ``tags`` and
    ``branch`` leave out other evaluations of the name.
    """
    from calipers.store.listing import evaluations
    from calipers.store.open import open_store

    if not 0 < alpha < 1:
        raise InvalidInput(
            f"The rate of false alarms (alpha) is {alpha!r}; it must lie between 0 and 1, such as "
            "0.05."
        )
    if window < 1:
        raise InvalidInput(f"The window is {window}; it holds at least 1 evaluation.")
    opened = open_store(store)
    check_known(opened, name)
    found = evaluations(opened, name=name, tags=tags, branch=branch, last=window + 1, metrics=())
    if len(found) < 2:
        some = "one evaluation" if found else "no evaluation"
        raise InvalidInput(
            f"There is nothing to compare with: {some} called {name} was found, and at least two "
            "are needed. Save another with `calipers eval … --save`."
        )
    watched = [_watched(opened, one) for one in found]
    latest, earlier = watched[0], watched[1:]
    alike = [one for one in earlier if not _differing(latest, one)]
    if not alike:
        raise InvalidInput(
            f"The latest evaluation called {name} cannot be compared with those before: "
            f"{_differing(latest, earlier[0])[0]} Measure as before, or start a new name."
        )
    chosen = _chosen(metric_names(metrics), latest, alike)
    yardsticks = [yardstick(latest, alike[:1], "previous")]
    if len(alike) > 1:
        yardsticks.append(yardstick(latest, alike, "window"))
    if not any(one.reference.shared for one in yardsticks):
        raise InvalidInput(
            f"The latest evaluation called {name} shares no query with those before that asks the "
            "same and has the same ground truth; nothing can be said of the retriever."
        )
    cuts = [by] if isinstance(by, str) else list(by)
    checks = check_all(
        latest, yardsticks, chosen, cuts, alpha=alpha, resamples=resamples, seed=seed
    )
    newest = latest.evaluation
    return Alarm(
        name=name,
        id=newest.id,
        saved=newest.saved,
        commit=newest.commit,
        branch=newest.branch,
        references=tuple(one.reference for one in yardsticks),
        checks=checks,
        warnings=tuple(_warnings(latest, alike[0])),
        notes=tuple(_notes(latest, earlier, alike, cuts)),
        alpha=alpha,
        calipers=__version__,
    )


def _watched(opened: Any, evaluation: Any) -> Watched:
    from calipers.store.load import load_judgements, load_scores

    return Watched(evaluation, load_scores(opened, evaluation), load_judgements(opened, evaluation))


def _differing(latest: Watched, earlier: Watched) -> list[str]:
    name = f"@{earlier.evaluation.short}"
    return list(different_ways("the latest", latest.scores, name, earlier.scores))


def _chosen(wanted: list[str] | None, latest: Watched, alike: Sequence[Watched]) -> list[str]:
    """Metrics that all sides have and of which more or less is better."""
    facts = facts_by_name(latest.scores)
    shared = [
        name
        for name in facts
        if facts[name].better != "neither"
        and all(name in facts_by_name(one.scores) for one in alike)
    ]
    for name in wanted or ():
        if name not in shared:
            raise InvalidInput(
                f"{name} cannot be watched: not all of these evaluations have it, or more of it "
                f"is neither better nor worse; choose among {', '.join(shared)}."
                f"{did_you_mean(name, shared)}"
            )
    chosen = wanted or headlines(shared)
    if not chosen:
        raise InvalidInput("The evaluations share no metric of which more or less is better.")
    return chosen


def _warnings(latest: Watched, previous: Watched) -> Iterator[str]:
    """What changed beside the retriever since the previous evaluation."""
    for _, what in changes([previous.evaluation, latest.evaluation]):
        for one in what:
            if one == "corpus":
                yield "The corpus changed since the previous evaluation: a drop may be its doing."
            else:
                yield (
                    "The ground truth changed since the previous evaluation: only queries with "
                    "the same question and ground truth are compared."
                )
    versions = [one.scores.settings["calipers"] for one in (latest, previous)]
    if versions[0] != versions[1]:
        yield (
            f"The latest was measured with Calipers {versions[0]} and the previous with "
            f"{versions[1]}; a definition may have changed."
        )


def _notes(
    latest: Watched, earlier: Sequence[Watched], alike: Sequence[Watched], by: Sequence[str]
) -> Iterator[str]:
    skipped = len(earlier) - len(alike)
    if skipped:
        other = next(one for one in earlier if one not in alike)
        yield (
            f"{skipped} of the {len(earlier)} evaluations before "
            f"{'was' if skipped == 1 else 'were'} left out: {_differing(latest, other)[0]}"
        )
    rest = [tag for tag in latest.scores.tags if tag not in by]
    if rest:
        yield (
            f"The means may hide a slice that got worse: --by {rest[0]} checks its values one by "
            "one."
        )
