"""The settings of the label operations: names, types and defaults."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.input_types import (
    CorpusInput,
    GroundTruthInput,
    PathText,
    QuestionsInput,
    SystemsInput,
)
from calipers.live.keywords import ColumnNames
from calipers.model.labels import QueueOrder, TargetsAs
from calipers.operation import PYTHON, STATISTICS, Setting, Settings, operation
from calipers.questions.reading import Confidence, Files, Store, Truth
from calipers.words import name_without_ending

if TYPE_CHECKING:
    from calipers.labels.changed import Switch
    from calipers.labels.desk import Exported, PoolSession
    from calipers.labels.draft import Draft
    from calipers.labels.exchange import Imported
    from calipers.labels.sample import SampleState
    from calipers.model.ground_truth import GroundTruth
    from calipers.model.labels import Label
    from calipers.model.run import Run
    from calipers.questions.begin.traces import TracedQuestions
    from calipers.store.pool import PoolList, PoolSettings

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def _guidelines(path: str) -> str:
    """The text of the file that --guidelines names."""
    from calipers.io.corpus import read_text

    return read_text(Path(path))


_file = partial(Setting, metavar="FILE")
_name = partial(Setting, metavar="NAME")
_python = partial(Setting, only=PYTHON)

Runs = Annotated[
    SystemsInput | PathText,
    Setting("", argument="[RUN]...", several=True, read=list, unchecked=True),
]
Questions = Annotated[
    QuestionsInput | None,
    _file("The texts of the questions, in their order.", unchecked=True),
]
Corpus = Annotated[
    CorpusInput | None,
    Setting(
        "Titles, and texts of bare ids.",
        "-c",
        "PATH",
        file="corpus",
        path=True,
        unchecked=True,
    ),
]
Changed = Annotated[
    bool, Setting("Only results in which an old and a new run differ: may I switch?")
]
_switch = partial(Setting, needs=("changed",))
Allow = Annotated[
    float, _switch("With --changed: relevant results per query that may go.", "", "N")
]
Seed = Annotated[int, Setting("The seed that shuffles and draws.", least=0)]


@dataclass(frozen=True, kw_only=True)
class LabelsDraftSettings(Settings):
    """What `labels_draft` takes."""

    files: Files = Files()

    questions: Questions = None
    k: Annotated[int, Setting("First results of each run to label.", "-k", file="k")] = 10
    seed: Seed = 0
    ground_truth: Annotated[
        GroundTruthInput | None,
        _file(
            "Leave out what it has.", "-g", file="ground-truth", path=True, unchecked=True
        ),
    ] = None
    corpus: Corpus = None
    changed: Changed = False
    allow: Allow = 0.2
    filled: Annotated[
        Paths,
        _switch(
            "With --changed: this file, filled in. Repeatable.", "", "FILE", several=True
        ),
    ] = ()


@operation(page="make-ground-truth", command="labels draft")
def labels_draft(runs: Runs = (), *, settings: LabelsDraftSettings) -> "Draft":
    """Pool the first k results of several runs into rows that somebody can judge.

    ``runs`` is one run or a list of them, in any format. Each pair of question and item
    is there once, whichever run found it; rank, score and run are not in the rows, and
    the items of a question are shuffled by ``seed``. What ``ground_truth`` has is left
    out.

    With ``changed`` the runs are an old and a new one, and the rows are the results that
    only one of them has, of questions in random order. ``switch`` says by the ``filled``
    files whether the new run loses more than ``allow`` relevant results per query.

    >>> found = labels_draft([{"q": ["a", "b"]}, {"q": ["b", "c"]}], questions={"q": "Who?"}, k=1)
    >>> sorted(row.item for row in found.rows), found.rows[0].query
    (['a', 'b'], 'Who?')
    """
    from calipers.labels.changed import what_changed
    from calipers.labels.draft import draft_files, read_inputs
    from calipers.labels.exchange import filled_grades
    from calipers.store.pool import PoolSettings

    if not settings.changed:
        return draft_files(runs, settings)
    filled = filled_grades(_list_paths(settings.filled))
    loaded, truth = read_inputs(runs, settings.ground_truth, settings.files.columns)
    how = PoolSettings(depth=settings.k, seed=settings.seed)
    drafted, _ = what_changed(
        loaded,
        truth,
        how,
        allow=settings.allow,
        questions=settings.questions,
        corpus=settings.corpus,
        filled=filled,
    )
    return drafted


_TRACES = "Take questions from these traces instead. Repeatable."


@dataclass(frozen=True, kw_only=True)
class LabelsTracesSettings(Settings):
    """What `labels_traces` takes."""

    n: Annotated[
        int | None, Setting("How many questions. [default: all]", "--n -n", "N")
    ] = None
    seed: Seed = 0


@operation(page="make-ground-truth", command="labels draft")
def labels_traces(
    files: Annotated[Paths, _file(_TRACES, "--from-traces", several=True)],
    *,
    settings: LabelsTracesSettings,
) -> "TracedQuestions":
    """Take the questions that people really asked from traces, each once.

    ``files`` are exports of OpenInference or OTLP spans, of LangSmith runs, of Langfuse
    observations, or of the queries and events of OpenSearch UBI, whose clicks become
    labels of the judge "machine:clicks". ``n`` questions (default: all) are drawn at
    random by ``seed``.
    """
    from calipers.io.files.open import Source
    from calipers.io.files.probe import Probe
    from calipers.io.formats.ubi import read_behaviour
    from calipers.questions.begin.traces import calls_in, sample_traces

    # Each is opened once: a pipe has nothing to say the second time.
    opened = [
        (name_without_ending(Path(path).name), Probe(Source(Path(path))))
        for path in _list_paths(files)
    ]
    calls, passed_over = calls_in(opened)
    clicks = read_behaviour(file for _, file in opened)
    found = sample_traces(calls, settings.n, settings.seed, clicks)
    return replace(found, notes=(*found.notes, *passed_over))


@dataclass(frozen=True, kw_only=True)
class Pooling(Settings):
    """What every pool to judge takes."""

    ground_truth: Truth = None
    judges: Annotated[
        Sequence[str],
        Setting(
            "Who judges, such as anna,ben; each gets a link. [default: me]",
            metavar="LIST",
            read=lambda text: tuple(
                word.strip() for word in text.split(",") if word.strip()
            ),
        ),
    ] = ("me",)
    questions: Questions = None
    corpus: Corpus = None
    metric: Annotated[str, Setting("The metric to watch.", "-m")] = "ndcg@10"
    scale: Annotated[Literal["0-3", "yes/no"], Setting("The grades.")] = "0-3"
    seed: Seed = 0
    guidelines: Annotated[
        str, _file("A text that judges see beside every item.", read=_guidelines)
    ] = ""
    rel: Annotated[
        float | None, Setting("The least relevant grade.", file="rel", group=STATISTICS)
    ] = None
    columns: ColumnNames = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class LabelsPoolSettings(Settings):
    """What `labels_pool` takes."""

    pooling: Pooling = Pooling()

    per_item: Annotated[
        int, Setting("How many people label each result.", "", "N", least=1)
    ] = 1
    queries: Annotated[Collection[str] | None, _python("Only these questions.")] = None
    depth: Annotated[int, Setting("Results per run to judge.")] = 10
    order: Annotated[QueueOrder, _python("What can move the metric first, or not.")] = (
        "moves"
    )
    changed: Changed = False
    allow: Allow = 0.2
    again: Annotated[bool, _python("Judge also what the ground truth has.")] = False
    another: Annotated[bool, _python("Another name if this one is taken.")] = False


@operation(page="make-ground-truth")
def labels_pool(
    name: str,
    runs: Annotated[SystemsInput, Setting("", only=PYTHON, unchecked=True)],
    *,
    settings: LabelsPoolSettings,
) -> "PoolSession":
    """Make a pool of the first ``depth`` results of several runs, and open it for judging.

    ``runs`` are paths, or names with runs. What the ``ground_truth`` has is not judged,
    unless ``again``. There is one queue: a result goes to whoever asks next, until
    ``per_item`` people labelled it. With ``changed`` the runs are an old and a new one,
    and ``switch`` of the pool says whether the new one loses more than ``allow`` relevant
    results per query. A pool of that name and the same inputs is opened again; one of
    other inputs is refused, or the new pool gets ``another`` name.

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
    from calipers.labels.desk import open_desk
    from calipers.labels.draft import read_inputs
    from calipers.labels.new_pool import keep
    from calipers.store.open import open_store

    pooling = settings.pooling
    kept = _kept_settings(settings)
    loaded, truth = read_inputs(runs, pooling.ground_truth, pooling.columns)
    labels, kept = _what_to_judge(loaded, truth, kept, settings)
    store = open_store(pooling.store, create=True, keep=True)
    return open_desk(
        keep(store, name, labels, loaded, truth, kept, settings.another), store
    )


def _kept_settings(settings: LabelsPoolSettings) -> "PoolSettings":
    """The settings that the pool is saved with."""
    from calipers.labels.new_pool import pool_settings

    return pool_settings(
        settings.pooling,
        depth=settings.depth,
        order=settings.order,
        per_item=settings.per_item,
    )


def _what_to_judge(
    runs: "Mapping[str, Run]",
    truth: "GroundTruth | None",
    kept: "PoolSettings",
    settings: LabelsPoolSettings,
) -> "tuple[Sequence[Label], PoolSettings]":
    """The results to judge, all first ones or only those that changed, and how they are."""
    from calipers.labels.changed import what_changed
    from calipers.labels.new_pool import matched_alike, to_judge

    pooling = settings.pooling
    if settings.changed:
        changes, kept = what_changed(
            runs,
            truth,
            kept,
            allow=settings.allow,
            questions=pooling.questions,
            corpus=pooling.corpus,
        )
        if not changes.rows:
            raise InvalidInput(
                f"There is nothing to judge. {changes.document().sentence}"
            )
        return changes.rows, kept
    labels = to_judge(
        runs,
        truth,
        kept,
        questions=pooling.questions,
        corpus=pooling.corpus,
        queries=settings.queries,
        again=settings.again,
    )
    return labels, matched_alike(kept, truth, runs, labels)


@operation(page="make-ground-truth")
def labels_desk(pool: str, store: Store = None) -> "PoolSession":
    """Open a pool for judging: its queue, labels, undo, notes, agreement, conflicts, what moved.

    ``change("close")`` of it closes the pool, "reopen" opens it again, "delete" deletes
    it.
    """
    from calipers.labels.desk import open_desk

    return open_desk(pool, store)


@dataclass(frozen=True, kw_only=True)
class LabelsSampleSettings(Settings):
    """What `labels_sample` takes."""

    pooling: Pooling = Pooling()

    until: Annotated[
        float, Setting("How far the interval may reach to either side.", "", "WIDTH")
    ] = 0.05
    pool: Annotated[
        str | None, _name("The name of the sample. [default: that of the runs]")
    ] = None
    most: Annotated[int, Setting("Questions to draw at most.", "-n")] = 300
    depth: Annotated[
        int | None,
        Setting("Results per run to judge. [default: those the metric looks at]"),
    ] = None
    confidence: Confidence = 0.95


@operation(page="make-ground-truth", command="labels sample")
def labels_sample(
    runs: Runs = (), *, settings: LabelsSampleSettings
) -> "SampleState | Switch":
    """Draw questions at random for people to judge, and say how far they are.

    ``ground_truth`` is a machine's; what people say of the sample corrects it. The
    results of ``runs`` are judged blind, in the order drawn, by one judge each; the same
    call again, or one with ``pool`` alone, says how wide the corrected interval of
    ``metric`` is, and how many are left ``until`` it is narrow enough. It may be read,
    and judging ended, at a few looks that are fixed beforehand: together they hold as
    often as ``confidence`` says.

    >>> import tempfile
    >>> run = {f"Who is {i}?": ["a", "b"] for i in range(400)}
    >>> machine = {query: ["a"] if i % 4 else ["b"] for i, query in enumerate(run)}
    >>> place = tempfile.mkdtemp() + "/labels.db"
    >>> drawn = {"metric": "mrr", "until": 0.1, "store": place}
    >>> state = labels_sample({"run": run}, ground_truth=machine, **drawn)
    >>> state.judged, state.next_look, state.enough
    (0, 45, 45)
    """
    from calipers.labels.desk import open_desk
    from calipers.labels.sample import draw

    has_runs = runs is not None and not (
        isinstance(runs, tuple | list | dict) and not runs
    )
    pool = draw(runs, settings) if has_runs else settings.pool
    if pool is None:
        raise InvalidInput(
            "Name runs to draw a sample of, or a sample that was drawn with --pool."
        )
    return open_desk(pool, settings.pooling.store).drawn_sample()


@operation(page="make-ground-truth", command="labels export")
def labels_list(store: Store = None) -> "PoolList":
    """Every pool of a store, and how much of it is judged."""
    from calipers.store.label_pools import list_pools
    from calipers.store.open import open_store

    return list_pools(open_store(store))


@dataclass(frozen=True, kw_only=True)
class LabelsExportSettings(Settings):
    """What `labels_export` takes."""

    columns: ColumnNames = None
    to: Annotated[
        str | None,
        Setting("The format, or label-studio or argilla: tasks for it.", "", "FORMAT"),
    ] = None
    targets_as: Annotated[
        TargetsAs | None,
        Setting("What a target is. [default: as in the ground truth]", "--as"),
    ] = None
    machines: Annotated[bool, Setting("Count labels of language models too.")] = False
    every_label: Annotated[
        bool, Setting("Every label with its judge, note and time (.csv, .jsonl).")
    ] = False
    add_to: Annotated[
        GroundTruthInput | None,
        _file("A ground truth to which the labels of files are added.", unchecked=True),
    ] = None
    overwrite: Annotated[bool, Setting("Replace the file if it exists.")] = False
    store: Store = None


@operation(page="make-ground-truth", command="labels export")
def labels_export(
    pool: Annotated[Paths, Setting("", argument="[POOL|FILE]...", several=True)] = (),
    output: Annotated[
        str | os.PathLike[str] | None, _file("The file to write.", "-o")
    ] = None,
    *,
    settings: LabelsExportSettings,
) -> "Exported":
    """Write what was judged as a ground truth, in any format of ``convert``.

    The answer says how far the judges agree. ``pool`` is a pool, or files to label that
    somebody filled in. The grade of the majority counts; a tie is left out until it is
    settled. A sentence that a judge marked is the quote of its item. Without ``output``
    only the agreement is returned.
    """
    from calipers.labels.exchange import export

    return export(_list_paths(pool), output, settings)


@operation(page="make-ground-truth", command="labels import")
def labels_import(
    pool: Annotated[str, Setting("", argument="POOL")],
    labels: Annotated[Paths, Setting("", argument="FILES...", several=True)],
    judge: Annotated[
        str | None, _name("Whose rows without a judge are: anna, or machine:NAME.")
    ] = None,
    store: Store = None,
) -> "Imported":
    """Read labels that were given elsewhere.

    Files are those of ``labels_draft`` or ``labels_export`` that somebody filled in, or
    what Label Studio or Argilla gives back of the tasks of ``labels_export`` (their
    JSON). A row without a judge is ``judge``'s, or refused: nobody knows whether a person
    gave it. What the pool has already, or has a later label of the same judge for, is not
    added again.
    """
    from calipers.labels.desk import open_desk
    from calipers.labels.exchange import take_labels

    return take_labels(open_desk(pool, store), _list_paths(labels), judge)


def _list_paths(files: Paths) -> list[str | os.PathLike[str]]:
    """One path or several, as a list; anything else is refused."""
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    if odd := [path for path in paths if not isinstance(path, str | os.PathLike)]:
        raise InvalidInput(f"A file is given as {odd[0]!r:.80}; give its path as a text.")
    return paths
