"""What may be asked of pools, declared once: making, opening and closing one."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from calipers.labels.choices import IfThere, JudgeOnly
from calipers.labels.settings import Corpus, Questions, judges_setting, read_inputs
from calipers.live.keywords import ColumnNames
from calipers.model.labels import QueueOrder
from calipers.operation import Setting, operation
from calipers.questions.reading import Store, Truth, Where

JUDGING = "Judging"
"""The part of the help with what few need."""

if TYPE_CHECKING:
    from calipers.labels.desk import Desk
    from calipers.labels.result import PoolChanged
    from calipers.store.pool import PoolChange


@operation(page="make-ground-truth")
def labels_pool(
    name: str,
    runs: Mapping[str, Any] | Sequence[Any],
    *,
    ground_truth: Truth = None,
    judges: Annotated[Sequence[str], judges_setting("each gets a link of their own.")] = ("me",),
    questions: Questions = None,
    corpus: Corpus = None,
    queries: Collection[str] | None = None,
    depth: Annotated[int, Setting("Results per run to judge.")] = 10,
    metric: Annotated[str, Setting("The metric that judges watch.", "-m")] = "ndcg@10",
    scale: Annotated[
        Any,
        Setting(
            "The grades: 0-3, yes/no, or a file of them. [default: 0-3]",
            metavar="SCALE",
        ),
    ] = "0-3",
    assign: Annotated[
        Mapping[str, Sequence[str]] | Sequence[str],
        Setting(
            "Give a slice to some judges alone: topic=law:anna,ben (repeatable).",
            metavar="SLICE",
            several=True,
            group=JUDGING,
        ),
    ] = (),
    order: Annotated[
        QueueOrder,
        Setting(
            "Begin with what can move the metric most, or take questions as they come.",
            group=JUDGING,
        ),
    ] = "moves",
    only: Annotated[
        JudgeOnly | None,
        Setting("Judge only questions with a miss, or only those whose results differ."),
    ] = None,
    again: bool = False,
    if_there: IfThere = "refuse",
    overlap: Annotated[float, Setting("The share of questions that every judge gets.")] = 0.2,
    seed: Annotated[int, Setting("The seed that shuffles.", group=JUDGING)] = 0,
    guidelines: str = "",
    match: str | None = None,
    level: str | None = None,
    rel: float | None = None,
    columns: ColumnNames = None,
    store: Store = None,
) -> "Desk":
    """Make a pool of the first ``depth`` results of several runs, and open it for judging.

    ``runs`` are paths, or names with runs. What the ``ground_truth`` has is not judged; with
    ``again`` it is, returned or not. ``queries`` leaves out every other question, and so does
    ``only``: "misses" keeps those of which some run misses something, "different" those to which
    the runs return other results. Every judge gets ``overlap`` of the questions; the others go to
    one judge each. ``order`` "moves" begins with the questions whose labels can move ``metric``
    most. A pool of that name is refused, unless ``if_there`` is "same" (go on with one that was
    made of the same) or "another" (take another name if it was not). ``scale`` is "0-3",
    "yes/no", or names with grades (a mapping, or a .toml or .json file); ``assign`` gives a slice
    to some judges alone ({"topic=law": ["anna"]}); ``columns`` says which column is what
    ({"item": "chunk"}).

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

    settings = PoolSettings(
        metric=metric,
        **read_scale(scale),
        assigned=read_assigned(assign),
        order=order,
        overlap=overlap,
        depth=depth,
        seed=seed,
        guidelines=guidelines,
        match=match,
        level=level,
        rel=rel,
    )
    loaded, truth = read_inputs(runs, ground_truth, columns)
    return make(
        lambda: open_store(store, create=True, keep=True),
        name,
        loaded,
        ground_truth=truth,
        questions=questions,
        corpus=corpus,
        judges=judges,
        queries=queries,
        only=only,
        again=again,
        if_there=if_there,
        settings=settings,
    )


@operation(page="make-ground-truth")
def labels_desk(pool: str, *, store: Where = None) -> "Desk":
    """Open a pool for judging: queues, labels, undo, notes, agreement, conflicts, what moved."""
    from calipers.labels.desk import open_desk
    from calipers.store.open import open_store

    return open_desk(open_store(store, keep=True), pool)


@operation(page="make-ground-truth", command="labels close")
def labels_close(
    pool: Annotated[str, Setting("", argument="POOL")],
    *,
    reopen: Annotated[bool, Setting("Open it again.")] = False,
    delete: Annotated[bool, Setting("Delete what it holds; the log of labels stays.")] = False,
    by: Annotated[str, Setting("Who does it, for the log.", metavar="NAME")] = "me",
    why: Annotated[str | None, Setting("Why, for the log.", metavar="TEXT")] = None,
    store: Store = None,
) -> "PoolChanged":
    """Close a pool, so that nothing is judged in it until it is opened again.

    ``reopen`` opens it; ``delete`` takes away what it holds, and its name is free again. The log
    says who did it (``by``) and ``why``.
    """
    from calipers.errors import InvalidInput
    from calipers.labels.desk import open_desk
    from calipers.labels.result import PoolChanged
    from calipers.store.open import open_store

    if reopen and delete:
        raise InvalidInput("A pool is opened again or deleted, not both; choose one.")
    desk = open_desk(open_store(store), pool)
    change: PoolChange = "reopen" if reopen else "delete" if delete else "close"
    desk.change(change, by, why)
    return PoolChanged(desk.name, change, len(desk.items))
