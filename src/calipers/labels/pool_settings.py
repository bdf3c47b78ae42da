"""What may be asked of pools, declared once: making, opening and closing one."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.labels.choices import IfThere, JudgeOnly
from calipers.labels.settings import (
    Corpus,
    Guidelines,
    PoolLevel,
    PoolMatch,
    Questions,
    judges_setting,
    read_inputs,
)
from calipers.live.keywords import ColumnNames
from calipers.model.labels import QueueOrder
from calipers.operation import PYTHON, Setting, operation
from calipers.questions.reading import Store, Truth

JUDGING = "Judging"
"""The part of the help with what few need."""

if TYPE_CHECKING:
    from calipers.labels.desk import Desk
    from calipers.labels.result import PoolChanged
    from calipers.store.pool import PoolChange


class LabelsPoolSettings(TypedDict, total=False):
    """What `labels_pool` takes."""

    ground_truth: Truth
    judges: Annotated[Sequence[str], judges_setting("each gets a link of their own.")]
    questions: Questions
    corpus: Corpus
    queries: Annotated[Collection[str] | None, Setting("Only these questions.", only=PYTHON)]
    depth: Annotated[int, Setting("Results per run to judge.", default=10)]
    metric: Annotated[str, Setting("The metric that judges watch.", "-m", default="ndcg@10")]
    scale: Annotated[
        Any,
        Setting(
            "The grades: 0-3, yes/no, or a file of them. [default: 0-3]",
            default="0-3",
            metavar="SCALE",
        ),
    ]
    assign: Annotated[
        Mapping[str, Sequence[str]] | Sequence[str],
        Setting(
            "Give a slice to some judges alone: topic=law:anna,ben (repeatable).",
            default=(),
            metavar="SLICE",
            several=True,
            group=JUDGING,
        ),
    ]
    order: Annotated[
        QueueOrder,
        Setting(
            "Begin with what can move the metric most, or take questions as they come.",
            default="moves",
            group=JUDGING,
        ),
    ]
    only: Annotated[
        JudgeOnly | None,
        Setting("Judge only questions with a miss, or only those whose results differ."),
    ]
    again: Annotated[
        bool, Setting("Judge also what the ground truth has.", default=False, only=PYTHON)
    ]
    if_there: Annotated[
        IfThere,
        Setting(
            "A pool of that name is refused; same: go on with it; another: take another name.",
            default="refuse",
            only=PYTHON,
        ),
    ]
    overlap: Annotated[float, Setting("The share of questions that every judge gets.", default=0.2)]
    seed: Annotated[int, Setting("The seed that shuffles.", default=0, least=0, group=JUDGING)]
    guidelines: Guidelines
    match: PoolMatch
    level: PoolLevel
    rel: Annotated[
        float | None, Setting("The grade from which on a result is relevant.", only=PYTHON)
    ]
    columns: ColumnNames
    store: Store


@operation(page="make-ground-truth")
def labels_pool(
    name: str, runs: Mapping[str, Any] | Sequence[Any], **settings: Unpack[LabelsPoolSettings]
) -> "Desk":
    """Make a pool of the first ``depth`` results of several runs, and open it for judging.

    ``runs`` are paths, or names with runs. What the ``ground_truth`` has is not judged, unless
    ``again``. ``only`` "misses" keeps the questions of which some run misses something, "different"
    those to which the runs return other results. Every judge gets ``overlap`` of the questions; the
    others go to one judge each. ``scale`` is "0-3", "yes/no", or names with grades (a mapping, or a
    .toml or .json file); ``assign`` gives a slice to some judges alone ({"topic=law": ["anna"]}).

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/labels.db"
    >>> desk = labels_pool(
    ...     "first", {"bm25": {"Who?": ["a", "b"]}}, ground_truth={"Who?": ["a"]}, store=place
    ... )
    >>> [item.label.item for item in desk.next("me")]
    ['b']
    >>> desk.give("me", item=0, grade=3).kind
    'label'
    >>> desk.truth().ground_truth.targets["item"].to_list()
    ['a', 'b']
    """
    from calipers.labels.make import make
    from calipers.labels.queues import read_assigned
    from calipers.labels.scale import read_scale
    from calipers.store.open import open_store
    from calipers.store.pool import PoolSettings

    kept = PoolSettings(
        metric=settings["metric"],
        **read_scale(settings["scale"]),
        assigned=read_assigned(settings["assign"]),
        order=settings["order"],
        overlap=settings["overlap"],
        depth=settings["depth"],
        seed=settings["seed"],
        guidelines=settings["guidelines"],
        match=settings["match"],
        level=settings["level"],
        rel=settings["rel"],
    )
    loaded, truth = read_inputs(runs, settings["ground_truth"], settings["columns"])
    return make(
        lambda: open_store(settings["store"], create=True, keep=True),
        name,
        loaded,
        ground_truth=truth,
        questions=settings["questions"],
        corpus=settings["corpus"],
        judges=settings["judges"],
        queries=settings["queries"],
        only=settings["only"],
        again=settings["again"],
        if_there=settings["if_there"],
        settings=kept,
    )


class LabelsDeskSettings(TypedDict, total=False):
    """What `labels_desk` takes."""

    store: Store


@operation(page="make-ground-truth")
def labels_desk(pool: str, **settings: Unpack[LabelsDeskSettings]) -> "Desk":
    """Open a pool for judging: queues, labels, undo, notes, agreement, conflicts, what moved."""
    from calipers.labels.desk import open_desk
    from calipers.store.open import open_store

    return open_desk(open_store(settings["store"], keep=True), pool)


class LabelsCloseSettings(TypedDict, total=False):
    """What `labels_close` takes."""

    reopen: Annotated[bool, Setting("Open it again.", default=False, excludes=("delete",))]
    delete: Annotated[
        bool, Setting("Delete what it holds; the log of labels stays.", default=False)
    ]
    by: Annotated[str, Setting("Who does it, for the log.", default="me", metavar="NAME")]
    why: Annotated[str | None, Setting("Why, for the log.", metavar="TEXT")]
    store: Store


@operation(page="make-ground-truth", command="labels close")
def labels_close(
    pool: Annotated[str, Setting("", argument="POOL")], **settings: Unpack[LabelsCloseSettings]
) -> "PoolChanged":
    """Close a pool, so that nothing is judged in it until it is opened again.

    ``reopen`` opens it; ``delete`` takes away what it holds, and its name is free again. The log
    says who did it (``by``) and ``why``.
    """
    from calipers.labels.desk import open_desk
    from calipers.labels.result import PoolChanged
    from calipers.store.open import open_store

    desk = open_desk(open_store(settings["store"]), pool)
    change: PoolChange = (
        "reopen" if settings["reopen"] else "delete" if settings["delete"] else "close"
    )
    desk.change(change, settings["by"], settings["why"])
    return PoolChanged(desk.name, change, len(desk.items))
