"""Operations on labels: make a pool, judge it, take labels in, write them as a ground truth."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calipers.api.keywords import Where
from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.model.agreement import TargetsAs
    from calipers.model.judging import Exported, Imported, JudgeOnly, PoolList, QueueOrder
    from calipers.store.labels_desk import Desk


@operation(page="judge", command="labels list")
def labels_list(store: Where = None) -> "PoolList":
    """Every pool of a store, and how much of it is judged."""
    from calipers.store.labels_pool import list_pools
    from calipers.store.open import open_store

    return list_pools(open_store(store))


@operation(page="judge", command="labels export")
def labels_export(
    pool: str,
    output: str | os.PathLike[str],
    *,
    to: str | None = None,
    targets_as: "TargetsAs | None" = None,
    machines: bool = False,
    overwrite: bool = False,
    store: Where = None,
) -> "Exported":
    """Write what was known and what was judged as a ground truth, in any form of ``convert``.

    ``targets_as`` ("id", "quote", "span") is how a judged item is recognised (default: as in the
    ground truth that the pool was made with); a sentence that a judge marked is its quote. An item
    on which judges differ is left out until it is settled. What a language model said counts only
    with ``machines``. A file that exists is replaced only with ``overwrite``.
    """
    from calipers.store.labels_desk import open_desk
    from calipers.store.open import open_store

    desk = open_desk(open_store(store), pool)
    return desk.export(output, to=to, targets_as=targets_as, machines=machines, overwrite=overwrite)


@operation(page="judge", command="labels import")
def labels_import(
    pool: str,
    labels: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    store: Where = None,
) -> "Imported":
    """Read labels that were filled in elsewhere: the CSV or JSON lines that ``draft`` wrote.

    A row without a judge belongs to the judge that its file is named for. What the pool has
    already is not added again.
    """
    from calipers.store.labels_desk import open_desk
    from calipers.store.open import open_store

    paths = [labels] if isinstance(labels, str | os.PathLike) else list(labels)
    return open_desk(open_store(store), pool).take(paths)


@operation(page="judge")
def labels_pool(
    name: str,
    runs: Mapping[str, Any] | Sequence[Any],
    *,
    ground_truth: Any = None,
    questions: Any = None,
    corpus: Any = None,
    judges: Sequence[str] = ("me",),
    queries: Collection[str] | None = None,
    only: "JudgeOnly | None" = None,
    again: bool = False,
    metric: str = "ndcg@10",
    scale: str = "0-3",
    order: "QueueOrder" = "moves",
    overlap: float = 0.2,
    depth: int = 10,
    seed: int = 0,
    guidelines: str = "",
    match: str | None = None,
    level: str | None = None,
    rel: float | None = None,
    columns: Any = None,
    store: Where = None,
) -> "Desk":
    """Make a pool of the first ``depth`` results of several runs, and open it for judging.

    ``runs`` are paths, or names with runs. What the ``ground_truth`` has is not judged; with
    ``again`` it is, returned or not. ``queries`` leaves out every other question, and so does
    ``only``: "misses" keeps those of which some run misses something, "different" those to which
    the runs return other results. Every judge gets ``overlap`` of the questions; the others go to
    one judge each. ``order`` "moves" begins with the questions whose labels can move ``metric``
    most. ``scale`` is "0-3" or "yes/no", and ``columns`` says which column is what
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
    from calipers.api.systems import name_systems
    from calipers.io.columns import Columns
    from calipers.io.load import load
    from calipers.model.judging import PoolSettings
    from calipers.store.labels_make import make
    from calipers.store.open import open_store

    settings = PoolSettings(
        metric=metric, scale=scale, order=order, overlap=overlap, depth=depth, seed=seed,
        guidelines=guidelines, match=match, level=level, rel=rel,
    )  # fmt: skip
    said, loaded = Columns.of(columns), name_systems(runs)
    if said.named:
        loaded = {one: load(value, "run", None, said) for one, value in loaded.items()}
        if ground_truth is not None:
            ground_truth = load(ground_truth, "ground_truth", None, said)
        said.check_used()
    return make(
        lambda: open_store(store, create=True, keep=True), name, loaded,
        ground_truth=ground_truth, questions=questions, corpus=corpus, judges=judges,
        queries=queries, only=only, again=again, settings=settings,
    )  # fmt: skip


@operation(page="judge")
def labels_desk(pool: str, *, store: Where = None) -> "Desk":
    """Open a pool for judging: queues, labels, undo, notes, agreement, conflicts, what moved."""
    from calipers.store.labels_desk import open_desk
    from calipers.store.open import open_store

    return open_desk(open_store(store, keep=True), pool)
