"""The settings of the label operations: names, types and defaults."""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.live.keywords import ColumnNames
from calipers.model.labels import IfThere, JudgeOnly, QueueOrder, TargetsAs
from calipers.operation import PYTHON, STATISTICS, Setting, operation
from calipers.questions.reading import Confidence, Files, Store, Truth

JUDGING = "Judging"
"""The help group for rarely needed options."""

if TYPE_CHECKING:
    from calipers.labels.desk import PoolSession
    from calipers.labels.draft import Draft
    from calipers.labels.result import Exported, Imported, PoolChanged, SampleState
    from calipers.store.pool import PoolChange, PoolList, PoolSettings


def _names(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


def _width(text: str) -> float:
    """Read a width, with or without a sign.

    >>> _width("±0.05"), _width("0.05"), _width("+-.1")
    (0.05, 0.05, 0.1)
    """
    from calipers.errors import InvalidInput

    try:
        return float(text.strip().removeprefix("±").removeprefix("+-").removeprefix("+/-"))
    except ValueError:
        raise InvalidInput(
            f"The width to reach is {text!r:.40}; write how far the interval may reach to either "
            "side, such as 0.05 or ±0.05."
        ) from None


Judges = Annotated[
    Sequence[str],
    Setting(
        "Who judges, such as anna,ben; each gets a link. [default: me]",
        metavar="LIST",
        default=("me",),
        read=_names,
    ),
]
PerItem = Annotated[
    int, Setting("How many people label each result.", default=1, least=1, metavar="N")
]
Questions = Annotated[Any, Setting("The texts of the questions.", metavar="FILE")]
Corpus = Annotated[
    Any,
    Setting(
        "Titles, and texts of results that are ids alone.", metavar="FILE", file="corpus", path=True
    ),
]
Guidelines = Annotated[str, Setting("A text that judges see.", default="", only=PYTHON)]
PoolMatch = Annotated[str | None, Setting("How targets are recognised.", only=PYTHON)]
PoolLevel = Annotated[str | None, Setting("What is looked for.", only=PYTHON)]


def read_inputs(runs: Any, ground_truth: Any, columns: Any) -> tuple[dict[str, Any], Any]:
    """The runs by name and the ground truth; read here if the user named columns."""
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.questions.systems import name_systems

    said, named = Columns.of(columns), name_systems(runs)
    if said:
        named = {one: load(value, "run", None, said) for one, value in named.items()}
        if ground_truth is not None:
            ground_truth = load(ground_truth, "ground_truth", None, said)
        said.check_used()
    return named, ground_truth


class LabelsDraftSettings(Files, total=False):
    """What `labels_draft` takes."""

    questions: Annotated[
        Any,
        Setting(
            "The questions with their texts, and their order. [default: as the runs know them]",
            metavar="FILE",
        ),
    ]
    k: Annotated[
        int,
        Setting("How many of the first results of each run to label.", "-k", default=10, file="k"),
    ]
    seed: Annotated[
        int, Setting("The seed that shuffles the items of a question.", default=0, least=0)
    ]
    ground_truth: Annotated[
        Any,
        Setting(
            "Leave out what this ground truth has judged.",
            "-g",
            "FILE",
            file="ground-truth",
            path=True,
        ),
    ]
    corpus: Annotated[
        Any,
        Setting(
            "Add titles, and texts that the runs do not carry.",
            "-c",
            "PATH",
            file="corpus",
            path=True,
        ),
    ]


@operation(page="make-ground-truth", command="labels draft")
def labels_draft(
    runs: Annotated[Any, Setting("", argument="[RUN]...", several=True, read=list)] = (),
    **settings: Unpack[LabelsDraftSettings],
) -> "Draft":
    """Pool the first k results of several runs into rows that somebody can judge.

    ``runs`` is one run or a list of them, in any form. Each pair of question and item is there
    once, whichever run found it; rank, score and run are not in the rows, and the items of a
    question are shuffled by ``seed``.

    >>> found = labels_draft([{"q": ["a", "b"]}, {"q": ["b", "c"]}], questions={"q": "Who?"}, k=1)
    >>> sorted(row.item for row in found.rows), found.rows[0].query
    (['a', 'b'], 'Who?')
    """
    from calipers.io.tables.columns import Columns
    from calipers.labels import draft as rule

    said, asked = Columns.of(settings["columns"]), None
    if settings["questions"] is not None:
        from calipers.live.questions import read_questions

        asked = {one.id: one.text for one in read_questions(settings["questions"], said)}
    return rule.draft(
        runs,
        asked,
        k=settings["k"],
        seed=settings["seed"],
        ground_truth=settings["ground_truth"],
        corpus=settings["corpus"],
        columns=said,
        memory=settings["memory"],
        temp=settings["temp"],
    )


class LabelsPoolSettings(TypedDict, total=False):
    """What `labels_pool` takes."""

    ground_truth: Truth
    judges: Judges
    per_item: PerItem
    questions: Questions
    corpus: Corpus
    queries: Annotated[Collection[str] | None, Setting("Only these questions.", only=PYTHON)]
    depth: Annotated[int, Setting("Results per run to judge.", default=10)]
    metric: Annotated[str, Setting("The metric that the labels move.", "-m", default="ndcg@10")]
    scale: Annotated[
        Any,
        Setting(
            "The grades: 0-3, yes/no, or a file of them. [default: 0-3]",
            default="0-3",
            metavar="SCALE",
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
) -> "PoolSession":
    """Make a pool of the first ``depth`` results of several runs, and open it for judging.

    ``runs`` are paths, or names with runs. What the ``ground_truth`` has is not judged, unless
    ``again``. ``only`` "misses" keeps the questions of which some run misses something, "different"
    those to which the runs return other results. There is one queue: a result goes to whoever asks
    next, until ``per_item`` people labelled it. ``scale`` is "0-3", "yes/no", or names with grades
    (a mapping, or a .toml or .json file).

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/labels.db"
    >>> desk = labels_pool(
    ...     "first", {"bm25": {"Who?": ["a", "b"]}}, ground_truth={"Who?": ["a"]}, store=place
    ... )
    >>> [item.label.item for item in desk.queue("me")]
    ['b']
    >>> desk.give("me", item=0, grade=3).kind
    'label'
    >>> desk.truth().ground_truth.targets["item"].to_list()
    ['a', 'b']
    """
    from calipers.labels.desk import PoolSession
    from calipers.labels.make import make
    from calipers.store.open import open_store

    loaded, truth = read_inputs(runs, settings["ground_truth"], settings["columns"])
    number = make(
        lambda: open_store(settings["store"], create=True, keep=True),
        name,
        loaded,
        ground_truth=truth,
        questions=settings["questions"],
        corpus=settings["corpus"],
        queries=settings["queries"],
        only=settings["only"],
        again=settings["again"],
        if_there=settings["if_there"],
        settings=pool_settings(settings),
    )
    return PoolSession(open_store(settings["store"], keep=True), number)


def pool_settings(given: Mapping[str, Any]) -> "PoolSettings":
    """Make the pool's settings from the keywords."""
    from dataclasses import fields

    from calipers.labels.scale import read_scale
    from calipers.store.pool import PoolSettings

    named = {one.name: given[one.name] for one in fields(PoolSettings) if one.name in given}
    named |= read_scale(given.get("scale", "0-3"))
    return PoolSettings(**{**named, "judges": tuple(given.get("judges", ("me",)))})


@operation(page="make-ground-truth")
def labels_desk(pool: str, store: Store = None) -> "PoolSession":
    """Open a pool for judging: its queue, labels, undo, notes, agreement, conflicts, what moved."""
    from calipers.labels.desk import open_desk
    from calipers.store.open import open_store

    return open_desk(open_store(store, keep=True), pool)


class LabelsSampleSettings(TypedDict, total=False):
    """What `labels_sample` takes."""

    ground_truth: Truth
    until: Annotated[
        float,
        Setting(
            "How far the corrected interval may reach to either side, such as ±0.05.",
            default=0.05,
            metavar="WIDTH",
            read=_width,
        ),
    ]
    metric: Annotated[str, Setting("The metric that is corrected.", "-m", default="ndcg@10")]
    pool: Annotated[
        str | None,
        Setting("The name of the sample. [default: that of the runs]", metavar="NAME"),
    ]
    judges: Judges
    most: Annotated[int, Setting("Questions to draw at most.", "-n", default=300)]
    seed: Annotated[int, Setting("The seed of the draw.", default=0, least=0)]
    by: Annotated[
        str | None,
        Setting("Draw of each value of this tag its share.", metavar="TAG"),
    ]
    cluster: Annotated[
        str | None,
        Setting(
            "Draw all questions with the same value of this tag together.",
            metavar="TAG",
            file="cluster",
        ),
    ]
    depth: Annotated[
        int | None, Setting("Results per run to judge. [default: those the metric looks at]")
    ]
    scale: Annotated[
        str, Setting("The grades that can be given.", default="0-3", choices=("0-3", "yes/no"))
    ]
    questions: Questions
    corpus: Corpus
    guidelines: Guidelines
    match: PoolMatch
    level: PoolLevel
    rel: Annotated[
        float | None,
        Setting("The grade from which on a result is relevant.", file="rel", group=STATISTICS),
    ]
    confidence: Confidence
    columns: ColumnNames
    store: Store


@operation(page="make-ground-truth", command="labels sample")
def labels_sample(
    runs: Annotated[Any, Setting("", argument="[RUN]...", several=True, read=list)] = (),
    **settings: Unpack[LabelsSampleSettings],
) -> "SampleState":
    """Draw questions at random for people to judge, and say how far they are.

    ``ground_truth`` is a machine's; what people say of the sample corrects it. The results of
    ``runs`` are judged blind, in the order drawn, by one judge each; the same call again, or one
    with ``pool`` alone, says how wide the corrected interval of ``metric`` is and will be, and how
    many are left ``until`` it is narrow enough. It may be read, and judging ended, at a few looks
    that are fixed beforehand: together they hold as often as ``confidence`` says.

    >>> import tempfile
    >>> run = {f"Who is {i}?": ["a", "b"] for i in range(400)}
    >>> machine = {query: ["a"] if i % 4 else ["b"] for i, query in enumerate(run)}
    >>> place = tempfile.mkdtemp() + "/labels.db"
    >>> drawn = {"metric": "mrr", "until": 0.1, "store": place}
    >>> state = labels_sample({"run": run}, ground_truth=machine, **drawn)
    >>> state.judged, state.next_look, state.enough
    (0, 45, 45)
    """
    from calipers.errors import InvalidInput
    from calipers.labels.desk import PoolSession, open_desk
    from calipers.labels.sample import draw, only_sample
    from calipers.store.open import open_store
    from calipers.store.record import name_from

    if not runs:
        opened = open_store(settings["store"], keep=True)
        desk = open_desk(opened, settings["pool"] or only_sample(opened))
    else:
        if settings["ground_truth"] is None:
            raise InvalidInput(
                "There is nothing to correct: the machine's ground truth is not given; name it "
                "with -g."
            )
        from calipers.engines.scoring import choose_metrics

        cut = [one.k for one in choose_metrics(settings["metric"], None)]
        depth = (cut[0] or 10) if settings["depth"] is None else settings["depth"]
        loaded, truth = read_inputs(runs, settings["ground_truth"], settings["columns"])
        number = draw(
            lambda: open_store(settings["store"], create=True, keep=True),
            settings["pool"] or f"{name_from(loaded, 83)}-sample",
            loaded,
            truth,
            until=settings["until"],
            most=settings["most"],
            cluster=settings["cluster"],
            by=settings["by"],
            confidence=settings["confidence"],
            questions=settings["questions"],
            corpus=settings["corpus"],
            settings=pool_settings({**settings, "depth": depth}),
        )
        desk = PoolSession(open_store(settings["store"], keep=True), number)
    state = desk.sample()
    if state is None:
        raise InvalidInput(
            f"The pool {desk.name} is no sample that was drawn: its queue begins with what moves "
            "the metric, or was chosen by hand. Draw one: calipers labels sample RUN -g "
            "machine.jsonl --until 0.05"
        )
    return state


@operation(page="make-ground-truth", command="labels export")
def labels_list(store: Store = None) -> "PoolList":
    """Every pool of a store, and how much of it is judged."""
    from calipers.store.label_pools import list_pools
    from calipers.store.open import open_store

    return list_pools(open_store(store))


class LabelsExportSettings(TypedDict, total=False):
    """What `labels_export` takes."""

    columns: ColumnNames
    to: Annotated[
        str | None,
        Setting(
            "The form to write, or label-studio or argilla: tasks for that tool. [default: by the "
            "file's ending]",
            metavar="FORM",
        ),
    ]
    targets_as: Annotated[
        TargetsAs | None,
        Setting(
            "How a judged result is recognised. [default: as in the pool's ground truth]", "--as"
        ),
    ]
    machines: Annotated[bool, Setting("Count labels of language models too.", default=False)]
    every_label: Annotated[
        bool,
        Setting(
            "Write every label with judge, quote, note and time instead (.csv, .jsonl).",
            default=False,
        ),
    ]
    add_to: Annotated[
        Any,
        Setting("A ground truth to which the labels of files are added.", metavar="FILE"),
    ]
    overwrite: Annotated[bool, Setting("Replace the file if it exists.", default=False)]
    store: Store


@operation(page="make-ground-truth", command="labels export")
def labels_export(
    pool: Annotated[
        str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        Setting("", argument="[POOL|FILE]...", several=True),
    ] = (),
    output: Annotated[
        str | os.PathLike[str] | None, Setting("The file to write.", "-o", "FILE")
    ] = None,
    **settings: Unpack[LabelsExportSettings],
) -> "Exported":
    """Write what was judged as a ground truth, in any form of ``convert``.

    The answer says how far the judges agree. ``pool`` is a pool, or files to label that somebody
    filled in. The grade of the majority counts; a tie is left out until it is settled. A sentence
    that a judge marked is the quote of its item. Without ``output`` only the agreement is returned.
    """
    from calipers.errors import InvalidInput
    from calipers.labels import exchange
    from calipers.labels.desk import open_desk
    from calipers.store.open import open_store

    given = [pool] if isinstance(pool, str | os.PathLike) else list(pool)
    to, overwrite = settings["to"], settings["overwrite"]
    shared: dict[str, Any] = {
        name: settings[name] for name in ("targets_as", "machines", "overwrite")
    }
    if len(given) != 1 or Path(given[0]).is_file():
        if not given:
            raise InvalidInput("No pool is named; `calipers labels export --list` lists them.")
        if to in exchange.TOOLS or settings["every_label"]:
            raise InvalidInput("Tasks and every label are written of a pool; name one.")
        return exchange.merge_files(
            given, output, to=to, add_to=settings["add_to"], columns=settings["columns"], **shared
        )
    desk = open_desk(open_store(settings["store"]), str(given[0]))
    if settings["add_to"] is not None:
        raise InvalidInput("A pool knows the ground truth it adds to; leave --add-to out.")
    if output is None:
        return exchange.said(desk.agreement())
    if to in exchange.TOOLS:
        return exchange.write_tasks(desk, output, to, overwrite=overwrite)
    if settings["every_label"]:
        return exchange.write_every_label(desk, output, overwrite=overwrite)
    return desk.export(output, to=to, **shared)


class LabelsImportSettings(TypedDict, total=False):
    """What `labels_import` takes."""

    judge: Annotated[
        str | None,
        Setting("Whose rows without a judge are: anna, or machine:NAME.", metavar="NAME"),
    ]
    store: Store


@operation(page="make-ground-truth", command="labels import")
def labels_import(
    pool: Annotated[str, Setting("", argument="POOL")],
    labels: Annotated[
        str | os.PathLike[str] | Collection[str | os.PathLike[str]],
        Setting("", argument="FILES...", several=True),
    ],
    **settings: Unpack[LabelsImportSettings],
) -> "Imported":
    """Read labels that were given elsewhere.

    Files are those of ``labels_draft`` or ``labels_export`` that somebody filled in, or what Label
    Studio or Argilla gives back of the tasks of ``labels_export`` (their JSON).
    A row without a judge is ``judge``'s, or refused: nobody knows whether a person gave it. What
    the pool has already, or has a later label of the same judge for, is not added again.
    """
    from calipers.labels.desk import open_desk
    from calipers.labels.exchange import take_labels
    from calipers.store.open import open_store

    paths = [labels] if isinstance(labels, str | os.PathLike) else list(labels)
    return take_labels(open_desk(open_store(settings["store"]), pool), paths, settings["judge"])


class LabelsCloseSettings(TypedDict, total=False):
    """What `labels_close` takes."""

    reopen: Annotated[bool, Setting("Open it again.", default=False, excludes=("delete",))]
    delete: Annotated[
        bool, Setting("Delete what it holds; the log of labels stays.", default=False)
    ]
    by: Annotated[str, Setting("Who does it, for the log.", default="me", metavar="NAME")]
    why: Annotated[str | None, Setting("Why, for the log.", metavar="TEXT")]
    store: Store


@operation(page="make-ground-truth", command="labels export")
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
