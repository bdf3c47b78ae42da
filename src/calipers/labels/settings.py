"""What may be asked here, declared once: names, types and defaults."""

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack, get_args

from calipers.labels.choices import How, Scale, Weights, WhenTied
from calipers.live.keywords import ColumnNames
from calipers.model.labels import TargetsAs
from calipers.operation import PYTHON, STATISTICS, Setting, operation
from calipers.questions.reading import Confidence, Files, Store

if TYPE_CHECKING:
    from calipers.labels.draft import Draft
    from calipers.labels.result import Agreement, Exported, Imported
    from calipers.store.pool import PoolList


def _names(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


def judges_setting(said: str) -> Setting:
    """--judges, where it says in these words what each of them gets."""
    return Setting(
        f"Who judges, such as anna,ben; {said} [default: me]",
        metavar="LIST",
        default=("me",),
        read=_names,
    )


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
    """The runs by name and the ground truth; read, where the user says which column is what."""
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
    runs: Annotated[Any, Setting("", argument="RUN...", several=True, read=list)],
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


class LabelsAgreementSettings(TypedDict, total=False):
    """What `labels_agreement` takes."""

    scale: Annotated[
        Scale,
        Setting(
            "What a difference between grades means, for Krippendorff's alpha.",
            default="ordinal",
            group=STATISTICS,
        ),
    ]
    weights: Annotated[
        Weights,
        Setting(
            "How Cohen's kappa counts the distance between grades.",
            default="none",
            group=STATISTICS,
        ),
    ]
    merge: Annotated[How | None, Setting("How several grades become one. [default: majority]")]
    when_tied: Annotated[
        WhenTied,
        Setting(
            "When two grades have equally many votes: leave the pair out, or take this one.",
            default="leave",
            # As a Literal it may equal another, whose words stand in another order.
            choices=get_args(WhenTied),
        ),
    ]
    targets_as: Annotated[
        TargetsAs,
        Setting(
            "What a target of the ground truth is: the item's id, its text, or its place.",
            default="id",
        ),
    ]
    add_to: Annotated[
        Any,
        Setting("A ground truth to which the new judgements are added.", metavar="FILE"),
    ]
    machine: Annotated[
        str | None,
        Setting(
            "The judge that is a language model: compare its labels with those of the people.",
            metavar="JUDGE",
        ),
    ]
    confidence: Confidence
    columns: ColumnNames


@operation(page="make-ground-truth", command="labels agreement")
def labels_agreement(
    labels: Annotated[Any, Setting("", argument="FILE...", several=True, read=list)],
    **settings: Unpack[LabelsAgreementSettings],
) -> "Agreement":
    """Read what judges filled in and say how far they agree.

    ``labels`` is a path, a list of paths, or a mapping of judge to path or to a list of labels;
    a row without a judge belongs to the judge that its file is named for. ``merge`` makes one
    ground truth of all opinions; in a majority, two grades with equally many votes are left out
    and reported, unless ``when_tied`` says which to take.

    >>> from calipers.model.labels import Label
    >>> anna = [Label("q", item="a", grade=1), Label("q", item="b", grade=0)]
    >>> bo = [Label("q", item="a", grade=1), Label("q", item="b", grade=2)]
    >>> found = labels_agreement({"anna": anna, "bo": bo}, merge="majority")
    >>> found.disagreements[0].grades
    {'anna': 0, 'bo': 2}
    >>> found.merged.records[0]["ground_truth"], found.merged.records[0]["tags"]
    ([{'id': 'a', 'grade': 1}], {'judged_by': 'person:anna,person:bo'})
    """
    from calipers.io.tables.columns import Columns
    from calipers.labels.agreement import check_choice, check_machine, coefficients
    from calipers.labels.choices import HOW, SCALES, WEIGHTS, WHEN_TIED
    from calipers.labels.opinions import OpinionTable, added_to, disagreements, merge_opinions
    from calipers.labels.result import Agreement
    from calipers.model.labels import TARGETS_AS

    said = Columns.of(settings["columns"])
    add_to = settings["add_to"]
    if said and add_to is not None:
        from calipers.io.load import load

        add_to = load(add_to, "ground_truth", None, said)
        said.check_used()
    check_choice("scale", settings["scale"], SCALES)
    check_choice("weights", settings["weights"], WEIGHTS)
    check_choice("when_tied", settings["when_tied"], WHEN_TIED)
    check_choice("targets_as", settings["targets_as"], TARGETS_AS)
    if settings["merge"] is not None:
        check_choice("merge", settings["merge"], HOW)
    table = OpinionTable(labels)
    opinions, matrix, merged = table.opinions(), table.matrix(), None
    if settings["merge"] is not None:
        made = merge_opinions(
            opinions,
            settings["merge"],
            settings["when_tied"],
            settings["targets_as"],
            table.sources(settings["machine"]),
        )
        merged = added_to(made, add_to)
    return Agreement(
        judges=table.judges(),
        opinions=opinions,
        coefficients=coefficients(
            matrix, table.names, settings["scale"], settings["weights"], settings["confidence"]
        ),
        disagreements=disagreements(opinions.values()),
        scale=settings["scale"],
        weights=settings["weights"],
        merged=merged,
        machine=None
        if settings["machine"] is None
        else check_machine(matrix, table.names, settings["machine"], settings["confidence"]),
    )


@operation(page="make-ground-truth", command="labels list")
def labels_list(store: Store = None) -> "PoolList":
    """Every pool of a store, and how much of it is judged."""
    from calipers.store.label_pools import list_pools
    from calipers.store.open import open_store

    return list_pools(open_store(store))


class LabelsExportSettings(TypedDict, total=False):
    """What `labels_export` takes."""

    to: Annotated[
        str | None, Setting("The form to write. [default: by the file's ending]", metavar="FORM")
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
    overwrite: Annotated[bool, Setting("Replace the file if it exists.", default=False)]
    store: Store


@operation(page="make-ground-truth", command="labels export")
def labels_export(
    pool: Annotated[str, Setting("", argument="POOL")],
    output: Annotated[str | os.PathLike[str], Setting("The file to write.", "-o", "FILE")],
    **settings: Unpack[LabelsExportSettings],
) -> "Exported":
    """Write what was known and what was judged as a ground truth, in any form of ``convert``.

    A sentence that a judge marked is the quote of its item. An item on which judges differ is left
    out until it is settled.
    """
    from calipers.labels.desk import open_desk
    from calipers.store.open import open_store

    desk = open_desk(open_store(settings["store"]), pool)
    if settings["every_label"]:
        from calipers.labels.take import write_every_label

        return write_every_label(desk, output, overwrite=settings["overwrite"])
    return desk.export(
        output,
        to=settings["to"],
        targets_as=settings["targets_as"],
        machines=settings["machines"],
        overwrite=settings["overwrite"],
    )


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
    """Read labels that were filled in elsewhere: what ``draft`` or ``labels_export`` wrote.

    A row without a judge is ``judge``'s, or refused: nobody knows whether a person gave it. What
    the pool has already, or has a later label of the same judge for, is not added again.
    """
    from calipers.labels.desk import open_desk
    from calipers.labels.take import take_labels
    from calipers.store.open import open_store

    paths = [labels] if isinstance(labels, str | os.PathLike) else list(labels)
    return take_labels(open_desk(open_store(settings["store"]), pool), paths, settings["judge"])
