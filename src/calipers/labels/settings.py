"""The settings of the label operations: names, types and defaults."""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.errors import InvalidInput
from calipers.live.keywords import ColumnNames
from calipers.model.labels import IfThere, QueueOrder, TargetsAs
from calipers.operation import PYTHON, STATISTICS, Setting, operation
from calipers.questions.reading import Confidence, Files, Store, Truth

if TYPE_CHECKING:
    from calipers.labels.desk import Exported, PoolSession
    from calipers.labels.draft import Draft
    from calipers.labels.exchange import Imported
    from calipers.labels.sample import SampleState
    from calipers.labels.switch import Switch
    from calipers.labels.traces import TracedQuestions
    from calipers.store.pool import PoolList

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def _guidelines(path: str) -> str:
    """The text of the file that --guidelines names."""
    from calipers.labels.make import read_guidelines

    return read_guidelines(path)


Runs = Annotated[Any, Setting("", argument="[RUN]...", several=True, read=list)]
Questions = Annotated[Any, Setting("The texts of the questions, in their order.", metavar="FILE")]
Corpus = Annotated[
    Any,
    Setting(
        "Titles, and texts of results that are ids alone.", "-c", "PATH", file="corpus", path=True
    ),
]
Changed = Annotated[
    bool,
    Setting("Only results in which an old and a new run differ: may I switch?", default=False),
]
Allow = Annotated[
    float,
    Setting(
        "With --changed: how many relevant results per query the new run may lose.",
        default=0.2,
        metavar="N",
    ),
]
Seed = Annotated[int, Setting("The seed that shuffles and draws.", default=0, least=0)]


class LabelsDraftSettings(Files, total=False):
    """What `labels_draft` takes."""

    questions: Questions
    k: Annotated[
        int, Setting("How many of the first results of each run.", "-k", default=10, file="k")
    ]
    seed: Seed
    ground_truth: Annotated[
        Any, Setting("Leave out what it has.", "-g", "FILE", file="ground-truth", path=True)
    ]
    corpus: Corpus
    changed: Changed
    allow: Allow
    filled: Annotated[
        Any,
        Setting(
            "With --changed: say what these filled-in files show. Repeatable.",
            metavar="FILE",
            several=True,
            default=(),
        ),
    ]


@operation(page="make-ground-truth", command="labels draft")
def labels_draft(runs: Runs = (), **settings: Unpack[LabelsDraftSettings]) -> "Draft":
    """Pool the first k results of several runs into rows that somebody can judge.

    ``runs`` is one run or a list of them, in any form. Each pair of question and item is there
    once, whichever run found it; rank, score and run are not in the rows, and the items of a
    question are shuffled by ``seed``. What ``ground_truth`` has is left out.

    With ``changed`` the runs are an old and a new one, and only results that one of them has are in
    the rows; questions are drawn at random. ``filled`` files say whether the switch is safe: the
    new run loses at most ``allow`` relevant results per query.

    >>> found = labels_draft([{"q": ["a", "b"]}, {"q": ["b", "c"]}], questions={"q": "Who?"}, k=1)
    >>> sorted(row.item for row in found.rows), found.rows[0].query
    (['a', 'b'], 'Who?')
    """
    from calipers.labels.changed import draft_changed
    from calipers.labels.draft import draft
    from calipers.labels.exchange import filled_grades
    from calipers.labels.make import read_inputs

    given: dict[str, Any] = {**settings}
    both = {one: given[one] for one in ("k", "seed", "questions", "corpus")}
    if not settings["changed"]:
        names = ("ground_truth", "columns", "memory", "temp")
        return draft(runs, **both, **{one: given[one] for one in names})
    loaded, truth = read_inputs(runs, settings["ground_truth"], settings["columns"])
    grades = filled_grades(_listed(settings["filled"]))
    return draft_changed(loaded, ground_truth=truth, grades=grades, allow=given["allow"], **both)


class LabelsTracesSettings(TypedDict, total=False):
    """What `labels_traces` takes."""

    n: Annotated[int | None, Setting("How many questions. [default: all]", "--n -n", "N")]
    mask: Annotated[
        str | Sequence[str],
        Setting(
            "Mask this first: a regular expression, or email, phone, iban, ip, url. Repeatable.",
            default=(),
            metavar="PATTERN",
            several=True,
        ),
    ]
    seed: Seed


@operation(page="make-ground-truth", command="labels draft")
def labels_traces(
    files: Annotated[
        Paths,
        Setting(
            "Take questions from these traces instead. Repeatable.",
            "--from-traces",
            "FILE",
            several=True,
        ),
    ],
    **settings: Unpack[LabelsTracesSettings],
) -> "TracedQuestions":
    """Take the questions that people really asked from traces, each once.

    ``files`` are exports of OpenInference or OTLP spans, of LangSmith runs, of Langfuse
    observations, or of the queries and events of OpenSearch UBI, whose clicks become labels of the
    judge "machine:clicks". ``n`` questions are taken (default: all): up to half are those whose
    results differed most from one asking to the next, the rest are drawn at random by ``seed``.
    ``mask`` are regular expressions, or "email", "phone", "iban", "ip" and "url": what they match
    is masked in questions, texts and tags before anything else is done.
    """
    from calipers.io.formats.ubi import read_behaviour
    from calipers.io.traces import read_traces
    from calipers.labels.traces import sample_traces

    paths, mask = _listed(files), settings["mask"]
    records = (
        (Path(one).name.split(".")[0], record) for one in paths for record in read_traces(one)
    )
    patterns, clicks = [mask] if isinstance(mask, str) else list(mask), read_behaviour(paths)
    return sample_traces(records, patterns, settings["n"], settings["seed"], clicks)


class Pooling(TypedDict, total=False):
    """What every pool to judge takes."""

    ground_truth: Truth
    judges: Annotated[
        Sequence[str],
        Setting(
            "Who judges, such as anna,ben; each gets a link. [default: me]",
            metavar="LIST",
            default=("me",),
            read=lambda text: tuple(one.strip() for one in text.split(",") if one.strip()),
        ),
    ]
    questions: Questions
    corpus: Corpus
    metric: Annotated[str, Setting("The metric to watch.", "-m", default="ndcg@10")]
    scale: Annotated[
        Any,
        Setting(
            "The grades: 0-3, yes/no, or a file of them. [default: 0-3]",
            default="0-3",
            metavar="SCALE",
        ),
    ]
    seed: Seed
    guidelines: Annotated[
        str,
        Setting(
            "A text that judges see beside every item.",
            metavar="FILE",
            default="",
            read=_guidelines,
        ),
    ]
    match: Annotated[str | None, Setting("How targets are recognised.", only=PYTHON)]
    level: Annotated[str | None, Setting("What is looked for.", only=PYTHON)]
    rel: Annotated[
        float | None,
        Setting("The grade from which on a result is relevant.", file="rel", group=STATISTICS),
    ]
    columns: ColumnNames
    store: Store


class LabelsPoolSettings(Pooling, total=False):
    """What `labels_pool` takes."""

    per_item: Annotated[
        int, Setting("How many people label each result.", default=1, least=1, metavar="N")
    ]
    queries: Annotated[Collection[str] | None, Setting("Only these questions.", only=PYTHON)]
    depth: Annotated[int, Setting("Results per run to judge.", default=10)]
    order: Annotated[
        QueueOrder,
        Setting("Begin with what can move the metric most, or not.", default="moves", only=PYTHON),
    ]
    changed: Changed
    allow: Allow
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


@operation(page="make-ground-truth")
def labels_pool(
    name: str, runs: Mapping[str, Any] | Sequence[Any], **settings: Unpack[LabelsPoolSettings]
) -> "PoolSession":
    """Make a pool of the first ``depth`` results of several runs, and open it for judging.

    ``runs`` are paths, or names with runs. What the ``ground_truth`` has is not judged, unless
    ``again``. There is one queue: a result goes to whoever asks next, until ``per_item`` people
    labelled it. ``scale`` is "0-3", "yes/no", or names with grades (a mapping, or a .toml or .json
    file). With ``changed`` the runs are an old and a new one, and ``switch`` of the pool says
    whether the new one loses more than ``allow`` relevant results per query.

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
    from calipers.labels.changed import make_changed
    from calipers.labels.desk import PoolSession
    from calipers.labels.make import make, pool_settings, read_inputs
    from calipers.store.open import open_store

    kept, given = pool_settings(settings), dict[str, Any](settings)
    loaded, truth = read_inputs(runs, settings["ground_truth"], settings["columns"])
    names = ("allow",) if settings["changed"] else ("queries", "again")
    number = (make_changed if settings["changed"] else make)(
        lambda: open_store(settings["store"], create=True, keep=True),
        name,
        loaded,
        ground_truth=truth,
        settings=kept,
        **{one: given[one] for one in ("questions", "corpus", "if_there", *names)},
    )
    return PoolSession(open_store(settings["store"], keep=True), number)


@operation(page="make-ground-truth")
def labels_desk(pool: str, store: Store = None) -> "PoolSession":
    """Open a pool for judging: its queue, labels, undo, notes, agreement, conflicts, what moved.

    ``change("close")`` of it closes the pool, "reopen" opens it again, "delete" deletes it.
    """
    from calipers.labels.desk import open_desk
    from calipers.store.open import open_store

    return open_desk(open_store(store, keep=True), pool)


class LabelsSampleSettings(Pooling, total=False):
    """What `labels_sample` takes."""

    until: Annotated[
        float,
        Setting(
            "How far the corrected interval may reach to either side.",
            default=0.05,
            metavar="WIDTH",
        ),
    ]
    pool: Annotated[
        str | None, Setting("The name of the sample. [default: that of the runs]", metavar="NAME")
    ]
    most: Annotated[int, Setting("Questions to draw at most.", "-n", default=300)]
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
    confidence: Confidence


@operation(page="make-ground-truth", command="labels sample")
def labels_sample(
    runs: Runs = (), **settings: Unpack[LabelsSampleSettings]
) -> "SampleState | Switch":
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
    from calipers.labels.desk import PoolSession, open_desk
    from calipers.labels.sample import draw, only_sample
    from calipers.store.open import open_store

    number = draw(runs, settings) if runs else None
    store = open_store(settings["store"], keep=True)
    if number is None:
        return open_desk(store, settings["pool"] or only_sample(store)).drawn_sample()
    return PoolSession(store, number).drawn_sample()


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
        Any, Setting("A ground truth to which the labels of files are added.", metavar="FILE")
    ]
    overwrite: Annotated[bool, Setting("Replace the file if it exists.", default=False)]
    store: Store


@operation(page="make-ground-truth", command="labels export")
def labels_export(
    pool: Annotated[Paths, Setting("", argument="[POOL|FILE]...", several=True)] = (),
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
    from calipers.labels.exchange import export

    return export(_listed(pool), output, settings)


@operation(page="make-ground-truth", command="labels import")
def labels_import(
    pool: Annotated[str, Setting("", argument="POOL")],
    labels: Annotated[Paths, Setting("", argument="FILES...", several=True)],
    judge: Annotated[
        str | None,
        Setting("Whose rows without a judge are: anna, or machine:NAME.", metavar="NAME"),
    ] = None,
    store: Store = None,
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

    return take_labels(open_desk(open_store(store), pool), _listed(labels), judge)


def _listed(given: Paths) -> list[str | os.PathLike[str]]:
    paths = [given] if isinstance(given, str | os.PathLike) else list(given)
    if odd := [one for one in paths if not isinstance(one, str | os.PathLike)]:
        raise InvalidInput(f"A file is given as {odd[0]!r:.80}; give its path as a text.")
    return paths
