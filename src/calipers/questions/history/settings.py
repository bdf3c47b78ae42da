"""Operations and their settings: names, types and defaults."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import CorpusInput, GroundTruthInput, RunInput, Scores
from calipers.operation import PYTHON, Setting, Settings, operation
from calipers.questions.reading import Now, Primary, Store

if TYPE_CHECKING:
    from calipers.model.evaluation import Evaluation
    from calipers.questions.history.result import Alarm, History, Shown


@dataclass(frozen=True, kw_only=True)
class Which(Settings):
    """Settings that select evaluations of a name."""

    since: Annotated[
        str | datetime | None,
        Setting(
            "Only evaluations from this time on: a date, or an age such as 30d.",
            "",
            "TIME",
        ),
    ] = None
    until: Annotated[
        str | datetime | None,
        Setting("Only evaluations before this time: a date, or an age.", metavar="TIME"),
    ] = None
    now: Now = None


@dataclass(frozen=True, kw_only=True)
class SaveSettings(Settings):
    """What `save` takes."""

    tags: Annotated[
        Mapping[str, str] | None,
        Setting("What was measured, such as the model.", only=PYTHON),
    ] = None
    store: Store = None
    ground_truth: Annotated[
        GroundTruthInput | None,
        Setting(
            "What should be found: tells later which judgements changed.",
            only=PYTHON,
            unchecked=True,
        ),
    ] = None
    run: Annotated[
        RunInput | None,
        Setting(
            "What was retrieved: kept, so that misses can be explained later.",
            only=PYTHON,
            unchecked=True,
        ),
    ] = None
    results: Annotated[
        bool,
        Setting("False keeps the scores without what was retrieved.", only=PYTHON),
    ] = True
    corpus: Annotated[
        CorpusInput | None,
        Setting(
            "What is searched; its fingerprint is kept.", only=PYTHON, unchecked=True
        ),
    ] = None
    now: Now = None


@operation(page="history", command="eval")
def save(scores: Scores, name: str, *, settings: SaveSettings) -> "Evaluation":
    """Keep scores under a name, in one transaction, with the git commit they were made on.

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
        tags=settings.tags,
        store=settings.store,
        ground_truth=settings.ground_truth,
        run=settings.run,
        results=settings.results,
        corpus=settings.corpus,
        now=settings.now,
    )


@operation(page="history", command="history show")
def history_show(
    reference: Annotated[str, Setting("", argument="REFERENCE")], *, store: Store = None
) -> "Shown":
    """The whole result of a saved evaluation, exactly as it was.

    ``reference`` is "@name" (the latest), "@name~2" (two before it) or "@id".
    """
    from calipers.questions.history.rule import shown
    from calipers.store.open import open_store

    return shown(open_store(store), reference)


@dataclass(frozen=True, kw_only=True)
class HistorySettings(Settings):
    """What `history` takes."""

    which: Which = Which()

    last: Annotated[int | None, Setting("How many to list.", "-n")] = 20
    metrics: Annotated[
        str | Collection[str] | None,
        Setting("Metrics to show. [default: a few that matter most]", "-m", "LIST"),
    ] = None
    store: Store = None


@operation(page="history", command="history")
def history(
    name: Annotated[str | None, Setting("", argument="[NAME]")] = None,
    *,
    settings: HistorySettings,
) -> "History":
    """What was measured when, on which commit, how good; newest first."""
    from calipers.questions.history.rule import listed
    from calipers.store.open import open_store

    return listed(open_store(settings.store), name, settings)


@dataclass(frozen=True, kw_only=True)
class HistoryAlarmSettings(Settings):
    """What `history_alarm` and `history_trend` take."""

    which: Which = Which()

    metrics: Annotated[
        str | Collection[str] | None,
        Setting(
            "Metrics to watch. [default: one for finding, one for order]", "-m", "LIST"
        ),
    ] = None
    primary: Primary = None
    allow: Annotated[
        float,
        Setting(
            "A loss of up to this in the mean of a metric does not ring.",
            metavar="LOSS",
        ),
    ] = 0.02
    every: Annotated[
        str | None,
        Setting(
            "When the next evaluation is overdue, such as 36h. [default: three times the usual "
            "gap, at least a day]",
            metavar="TIME",
        ),
    ] = None
    last: Annotated[
        int | None, Setting("Look at the latest N only. [default: all]", "-n", "N")
    ] = None
    store: Store = None


@operation(page="history", command="history alarm")
def history_alarm(
    name: Annotated[str, Setting("", argument="NAME")], *, settings: HistoryAlarmSettings
) -> "Alarm":
    """Have the evaluations of a name got worse? Their lines over time, the reference, the verdict.

    The reference is seven evaluations without an alarm; it moves up by itself when seven are
    better, and never down (``since`` starts a new one). Each query is compared with itself if
    question and ground truth are the same, so that a loss is due to the retriever. If queries
    never changed back and forth, a loss of more than ``allow`` and three queries net raises
    the alarm at once; else it has to be significant, or larger than the usual noise. ``raised``
    is the alarm, ``missing`` says whether an evaluation is overdue (``every``).
    """
    from calipers.questions.history.alarm import over_time
    from calipers.store.open import open_store

    return over_time(open_store(settings.store), name, settings)


@operation(page="history", command="history trend")
def history_trend(
    name: Annotated[str, Setting("", argument="NAME")], *, settings: HistoryAlarmSettings
) -> "Alarm":
    """The same answer as ``history_alarm``: the lines of some metrics over time, and the verdict.

    Marks say before which evaluations the ground truth or the corpus changed: numbers on both
    sides of a mark are not comparable.
    """
    return history_alarm(name, settings=settings)
