"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.operation import Setting, operation
from calipers.questions.reading import Primary, Store, Where
from calipers.questions.spellings import tag_pairs

if TYPE_CHECKING:
    from calipers.model.evaluation import Evaluation
    from calipers.model.scores import Scores
    from calipers.questions.history.result import Alarm, History, Shown, Trend
    from calipers.store.result import Checked, Copied, Logged, Pruned


WithTags = Annotated[
    Mapping[str, str] | None,
    Setting(
        "Only evaluations with this tag; may be given several times.",
        "--with-tag",
        "NAME=VALUE",
        several=True,
        read=tag_pairs,
    ),
]
Branch = Annotated[str | None, Setting("Only evaluations of this git branch.", metavar="BRANCH")]
Since = Annotated[
    str | datetime | None,
    Setting("Only evaluations from this time on: a date, or an age such as 30d.", metavar="TIME"),
]
Until = Annotated[
    str | datetime | None,
    Setting("Only evaluations before this time: a date, or an age.", metavar="TIME"),
]


class Which(TypedDict, total=False):
    """Which evaluations of a name are meant."""

    tags: WithTags
    branch: Branch
    since: Since
    until: Until
    now: datetime | None


@operation(page="history", command="eval")
def save(
    scores: "Scores",
    name: str,
    *,
    tags: Mapping[str, str] | None = None,
    store: Where = None,
    ground_truth: Any = None,
    run: Any = None,
    results: bool = True,
    corpus: Any = None,
    now: datetime | None = None,
) -> "Evaluation":
    """Keep scores under a name, in one transaction, with the git commit they were made on.

    With ``ground_truth`` it can later be told which judgements changed; with ``run`` too, what
    was retrieved is kept (unless ``results`` is false), and misses can be explained later. The
    fingerprint of the ``corpus`` is kept. ``tags`` say what was measured, such as the model.

    >>> import tempfile
    >>> from calipers import evaluate
    >>> place = tempfile.mkdtemp() + "/history.db"
    >>> scores = evaluate(ground_truth={"q": ["a"]}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> save(scores, "nightly", tags={"model": "e5"}, store=place).name
    'nightly'
    >>> history_show("@nightly", store=place).scores["mrr"].mean
    0.5
    """
    from calipers.store import save as rule

    return rule.save(
        scores,
        name,
        tags=tags,
        store=store,
        ground_truth=ground_truth,
        run=run,
        results=results,
        corpus=corpus,
        now=now,
    )


@operation(page="history", command="history show")
def history_show(
    reference: Annotated[str, Setting("", argument="REFERENCE")], *, store: Store = None
) -> "Shown":
    """The whole result of a saved evaluation, exactly as it was.

    ``reference`` is "@name" (the latest), "@name~2" (two before it), "@id", "@branch:main" or
    "@commit:abc123".
    """
    from calipers.questions.history.rule import shown
    from calipers.store.open import open_store

    return shown(open_store(store), reference)


@operation(page="history", command="history")
def history(
    name: Annotated[str | None, Setting("", argument="[NAME]")] = None,
    *,
    last: Annotated[int | None, Setting("How many to list; 0: all.", "-n")] = 20,
    metrics: Annotated[
        str | Iterable[str] | None,
        Setting("Metrics to show. [default: a few that matter most]", "-m", "LIST"),
    ] = None,
    store: Store = None,
    **which: Unpack[Which],
) -> "History":
    """What was measured when, on which commit, how good; newest first.

    ``since`` and ``until`` are dates or ages such as "30d". ``last`` is how many to list (None:
    all). ``metrics`` are those to show first (default: the headlines).
    """
    from calipers.questions.history.rule import Filter, listed
    from calipers.store.open import open_store

    wanted = Filter.of(name, last=last, metrics=metrics, **which)
    return listed(open_store(store), wanted)


@operation(page="history", command="history trend")
def history_trend(
    name: Annotated[str, Setting("", argument="NAME")],
    *,
    metrics: Annotated[
        str | Iterable[str] | None,
        Setting("Metrics to draw. [default: a few that matter most]", "-m", "LIST"),
    ] = None,
    by: Annotated[
        str | None,
        Setting("One line for each value of a tag, or by length or targets.", metavar="TAG"),
    ] = None,
    last: Annotated[int | None, Setting("How many evaluations; 0: all.", "-n")] = 50,
    store: Store = None,
    **which: Unpack[Which],
) -> "Trend":
    """The means of some metrics with their intervals, evaluation by evaluation.

    ``by`` is a tag of the queries (or length, targets): one line for each value. Marks say before
    which evaluations the ground truth or the corpus changed: numbers on both sides of a mark are
    not comparable. The other arguments are those of ``history``.
    """
    from calipers.questions.history.rule import Filter, moved
    from calipers.store.open import open_store

    wanted = Filter.of(name, last=last, metrics=metrics, **which)
    return moved(open_store(store), name, wanted, by)


@operation(page="history", command="history alarm")
def history_alarm(
    name: Annotated[str, Setting("", argument="NAME")],
    *,
    metrics: Annotated[
        str | Iterable[str] | None,
        Setting("Metrics to watch. [default: the primary]", "-m", "LIST"),
    ] = None,
    primary: Primary = None,
    by: Annotated[
        str | Iterable[str],
        Setting(
            "Check each value of a tag too; may be given several times.",
            metavar="TAG",
            several=True,
        ),
    ] = (),
    reference: Annotated[
        int,
        Setting(
            "The first N evaluations are the period that later ones are compared with; one that "
            "rang is not among them.",
            metavar="N",
        ),
    ] = 7,
    allow: Annotated[
        float,
        Setting("A loss of up to this in the mean of a metric does not ring.", metavar="LOSS"),
    ] = 0.02,
    since: Annotated[
        str | datetime | None,
        Setting(
            "Begin the reference at this time, such as after a deliberate change: a date, or an "
            "age such as 30d.",
            metavar="TIME",
        ),
    ] = None,
    tags: WithTags = None,
    branch: Branch = None,
    false_alarms: Annotated[
        float,
        Setting(
            "How many false alarms a year are acceptable, with one evaluation a day.", metavar="N"
        ),
    ] = 1.0,
    store: Store = None,
) -> "Alarm":
    """Have the evaluations of a name become worse than its reference period, and since when?

    The reference are the first ``reference`` evaluations of the name (from ``since`` on) that did
    not ring. The latest and the mean of the last seven are compared with it, query by query, where
    question and ground truth are the same, so that a drop is the retriever's. It rings where a
    loss of more than ``allow`` is shown; a retriever that does not change rings at most
    ``false_alarms`` times a year of one evaluation a day, over all metrics and slices together.
    ``metrics`` default to the ``primary`` one; ``by`` are tags whose values are checked one by
    one. ``tags`` and ``branch`` leave out other evaluations of the name.
    """
    from calipers.questions.history import alarm as rule
    from calipers.questions.history.rule import Filter, metric_names
    from calipers.store.open import open_store

    rule.check_watch(false_alarms, reference, allow)
    wanted = Filter.of(name, tags=tags, branch=branch, since=since, metrics=())
    return rule.alarm(
        name,
        rule.watched(open_store(store), wanted),
        metric_names(metrics),
        by,
        primary=primary,
        reference=reference,
        allow=allow,
        false_alarms=false_alarms,
    )


@operation(page="history", command="eval")
def log_to_mlflow(
    scores: "Scores",
    uri: str,
    *,
    name: str | None = None,
    tags: Mapping[str, str] | None = None,
    experiment: str | None = None,
    report: str | Path | None = None,
) -> "Logged":
    """Log parameters, metrics, the per-query table and the whole result as one run of MLflow.

    ``uri`` is a tracking store or server. The experiment is ``experiment``, or what
    MLFLOW_EXPERIMENT_NAME says, or "calipers". ``report`` is a file to log beside the result.
    """
    from calipers.store import mlflow_log as rule

    return rule.log_to_mlflow(
        scores, uri, name=name, tags=tags, experiment=experiment, report=report
    )


@operation(page="history", command="history check")
def history_check(store: Store = None) -> "Checked":
    """What the history holds, how large it is, and whether everything is as it was written."""
    from calipers.store.care import check
    from calipers.store.open import open_store

    return check(open_store(store, damaged=True))


@operation(page="history", command="history copy")
def history_copy(
    target: Annotated[Where, Setting("", argument="TARGET")], *, store: Store = None
) -> "Copied":
    """Copy every evaluation that the target lacks from ``store`` to it, of whichever kind."""
    from calipers.store.care import copy
    from calipers.store.open import open_store

    return copy(open_store(store), open_store(target, create=True))


@operation(page="history", command="history prune")
def history_prune(
    *,
    name: Annotated[str | None, Setting("", argument="[NAME]")] = None,
    keep: Annotated[int | None, Setting("Keep the latest N of each name.", metavar="N")] = None,
    older_than: Annotated[
        str | datetime | None, Setting("Remove only what is older, such as 90d.", metavar="AGE")
    ] = None,
    tagged: Annotated[bool, Setting("Remove also what is tagged.")] = False,
    dry_run: Annotated[bool, Setting("Only list what would go.")] = False,
    among: Collection[str] | None = None,
    store: Store = None,
    now: datetime | None = None,
) -> "Pruned":
    """Remove old evaluations: beyond the latest ``keep`` of each name, and ``older_than`` a time.

    The latest of each name stays, and so does what is tagged unless ``tagged`` is true. With
    ``dry_run`` nothing is removed. ``among`` are ids: nothing else goes, so that what was
    agreed to is what happens.
    """
    from calipers.model.age import moment_of
    from calipers.store.care import check_pruning, prune
    from calipers.store.open import open_store

    before = moment_of(older_than, "older-than", now or datetime.now(UTC))
    check_pruning(keep, before)
    return prune(
        open_store(store),
        keep=keep,
        before=before,
        name=name,
        tagged=tagged,
        among=among,
        dry_run=dry_run,
    )
