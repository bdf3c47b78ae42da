"""Settings that many operations share, declared once for Python, commands and settings file."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.input_types import (
    CorpusInput,
    DataInput,
    GroundTruthInput,
    MetricsInput,
    RetrieverInput,
    RunInput,
)
from calipers.live.keywords import AskFor, ColumnNames, Watched, Workers
from calipers.model.policy import (
    CHOICES,
    LIKE,
    Calls,
    Duplicates,
    Failed,
    Missing,
    NothingInCommon,
    Ties,
    Unanswerable,
    Unknown,
)
from calipers.operation import (
    HISTORY,
    POLICIES,
    PYTHON,
    READING,
    STATISTICS,
    Setting,
    Settings,
)


def cutoff_list(text: str) -> list[int]:
    """The cut-offs of ``-k 1,5,10``."""
    from calipers.measures.spec import check_cutoff

    return [check_cutoff(word) for word in text.split(",")]


def tag_pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """The tags of ``--where model=e5 --where chunk=400``.

    >>> tag_pairs(("model=e5", "note=a=b"))
    {'model': 'e5', 'note': 'a=b'}
    """
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InvalidInput(
                f"The tag {text!r} cannot be read; write name=value, as model=e5."
            )
        if name in pairs:
            raise InvalidInput(f"The tag {name!r} is given twice; give it one value.")
        pairs[name] = value
    return pairs


# An input is recorded by its own fingerprint, and checked by its reader.
_input = partial(Setting, path=True, recorded=True, unchecked=True)
_policy = partial(Setting, group=POLICIES, recorded=True)

Data = Annotated[
    DataInput | None,
    _input(
        "",
        argument="[DATA]",
        only_one="give one that holds results and ground truth, or say which is which with "
        "--ground-truth and --run.",
        file="data",
    ),
]
"""One input with ground truth and run: a pair from ``read``, a path, records or a
table."""
Truth = Annotated[
    GroundTruthInput | None,
    _input("What should be found.", "-g", "FILE", file="ground-truth"),
]
Returned = Annotated[
    RunInput | None, _input("What the retriever returned.", "-r", "FILE", file="run")
]
Searched = Annotated[
    CorpusInput | None,
    _input(
        "The chunks that are searched: tells what is not there, or split over chunks.",
        "-c",
        "PATH",
        file="corpus",
    ),
]
FirstK = Annotated[int, Setting("How many results count.", "-k", file="k")]
Match = Annotated[
    str | None,
    _policy(
        "How targets are recognised: by id, quote or span, or with the share that is "
        "enough, such as quote(min=0.8). [default: as the data says]",
        metavar="HOW",
        file="match",
    ),
]
MapIds = Annotated[
    str | None,
    _policy(
        "Ignore this when ids and names of documents are compared: prefix=TEXT, "
        "suffix=TEXT, width, scheme, query, percent, slash, basename, extension, "
        "decimal, zeros, case, signs, or several with commas between them.",
        metavar="RULES",
        file="map-ids",
    ),
]
Metrics = Annotated[
    MetricsInput | None,
    Setting(
        "Metrics, such as recall@10,ndcg@5,mrr (`calipers metrics` lists them).",
        "-m",
        "LIST",
        file="metrics",
        recorded=True,
    ),
]
Cutoffs = Annotated[
    int | Sequence[int] | None,
    Setting(
        "Cut-offs for metrics written without one, such as 1,5,10.",
        "-k",
        "LIST",
        read=cutoff_list,
        file="k",
        recorded=True,
    ),
]
Primary = Annotated[
    str | None,
    Setting(
        "The metric that matters most. [default: as the configuration says, or recall at "
        "the largest cut-off]",
        metavar="METRIC",
        file="primary",
        group=STATISTICS,
    ),
]
Confidence = Annotated[
    float,
    Setting(
        "The confidence level of the intervals.",
        group=STATISTICS,
        recorded=True,
    ),
]
CorrectedBy = Annotated[
    GroundTruthInput | None,
    Setting(
        "What people judged for a sample of the queries: also give each metric as they "
        "would have found it over all of them, where a model judged everything.",
        metavar="FILE",
        group=STATISTICS,
        unchecked=True,
    ),
]
Sampled = Annotated[
    str | None,
    Setting(
        "Say that people gave every label of --corrected-by: to queries drawn at random, "
        "or to all of them.",
        choices=("at-random", "all"),
        needs=("corrected_by",),
        group=STATISTICS,
    ),
]
Cluster = Annotated[
    str | None,
    Setting(
        "Take queries with the same value of this tag, such as paraphrases of one "
        "intent, as one unit in every interval and test.",
        metavar="TAG",
        file="cluster",
        group=STATISTICS,
        recorded=True,
    ),
]
Price = Annotated[
    float | None,
    Setting(
        "The price of a million tokens: says what 1,000 queries cost, too.",
        metavar="PRICE",
        file="price",
        changes_nothing=True,
    ),
]
WeightBy = Annotated[
    str | None,
    Setting(
        "Count each query as often as the number in this tag says, such as how often it "
        "was asked, in every mean, interval and test.",
        metavar="COLUMN",
        file="weight-by",
        group=STATISTICS,
        recorded=True,
    ),
]
Against = Annotated[
    str | None,
    Setting(
        "The system that the others are compared with. [default: the first]",
        "--against",
        "NAME",
    ),
]
Anyway = Annotated[
    bool,
    Setting(
        "Compare although ground truth, queries or policies differ; the result says so.",
        group=POLICIES,
    ),
]
Where = str | os.PathLike[str] | None
"""A history: a file or the address of a database; None: the usual place."""
Store = Annotated[
    Where,
    Setting(
        "The history: a file or postgresql://user@host/database. [default: "
        "CALIPERS_STORE, the configuration, or .calipers/history.db here or in a folder "
        "above]",
        metavar="PLACE",
        file="store",
        path=True,
        group=HISTORY,
        changes_nothing=True,
    ),
]
Now = Annotated[
    datetime | None,
    Setting("The time to take as now.", only=PYTHON, changes_nothing=True),
]


@dataclass(frozen=True, kw_only=True)
class Files(Settings):
    """How to read files that may be large."""

    columns: ColumnNames = None

    memory: Annotated[
        str | int | None,
        Setting(
            "How much memory to use, such as 2GB, where results stand in records, or not "
            "in the order of their queries; the rest goes to a temporary file (in the "
            "folder TMPDIR). 460 MB are needed in any case. [default: half of what is "
            "free]",
            metavar="SIZE",
            group=READING,
            changes_nothing=True,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Inputs(Settings):
    """The inputs; each side is a path, a mapping, records or a table."""

    ground_truth: Truth = None
    run: Returned = None
    retriever: Annotated[
        RetrieverInput | None,
        Setting(
            "Ask this live retriever instead of reading a run: package.module:function, "
            "an address, cmd:command or mcp:server#tool (see `calipers retrieve`).",
            metavar="RETRIEVER",
            file="retriever",
            excludes=("run",),
            recorded=True,
            unchecked=True,
        ),
    ] = None
    """In Python also a function of (query, k), or an object of a library that `retrieve`
    knows."""
    ask_for: AskFor = None
    workers: Workers = None
    watch: Watched = None


@dataclass(frozen=True, kw_only=True)
class MatchingSettings(Settings):
    """How results are compared with a ground truth."""

    files: Files = Files()

    where: Annotated[
        Mapping[str, str] | None,
        Setting(
            "Only queries with this tag, such as type=table; given several times, all "
            "must hold.",
            metavar="TAG=VALUE",
            several=True,
            read=tag_pairs,
        ),
    ] = None
    min_score: Annotated[
        float | None,
        Setting(
            "Leave out results with a lower score, as if they had not come back; "
            "`calipers sweep --floor` finds a good value.",
            metavar="SCORE",
            file="min-score",
            group=POLICIES,
        ),
    ] = None
    rel: Annotated[
        float | None,
        _policy(
            "The grade from which a target is relevant. [default: above 0]",
            metavar="GRADE",
            file="rel",
        ),
    ] = None
    match: Match = None
    level: Annotated[
        str | None,
        _policy(
            "What is looked for: evidence (chunks together may hold it), chunk (one "
            "alone), page or document (any chunk of it); `calipers eval` also takes all, "
            "side by side. [default: evidence; page where the targets are pages]",
            metavar="LEVEL",
            file="level",
        ),
    ] = None
    map_ids: MapIds = None
    like: Annotated[
        str | None,
        _policy(
            "Take the policies of another tool, so that numbers equal its own.",
            choices=tuple(LIKE),
            file="like",
        ),
    ] = None
    missing: Annotated[
        Missing | None,
        _policy(
            "What to do with a query that the run does not have. [default: zero]",
            file="missing",
        ),
    ] = None
    unanswerable: Annotated[
        Unanswerable | None,
        _policy(
            "What to do with a query without any relevant target. [default: exclude]",
            # Explicit: this Literal equals that of `missing`, which lists it in another
            # order.
            choices=CHOICES["unanswerable"],
            file="unanswerable",
        ),
    ] = None
    judged: Annotated[
        str | None,
        _policy(
            "Say that nothing is relevant but what was judged (complete), where only "
            "returned rows were judged, or that only those were (returned).",
            choices=("complete", "returned"),
            file="judged",
        ),
    ] = None
    duplicates: Annotated[
        Duplicates | None,
        _policy(
            "What to do with an item that one query returns twice. [default: first]",
            file="duplicates",
        ),
    ] = None
    unknown: Annotated[
        Unknown | None,
        _policy(
            "What to do with a query that the ground truth does not have. [default: "
            "ignore]",
            file="unknown",
        ),
    ] = None
    errors: Annotated[
        Failed | None,
        _policy(
            "What to do with a query on which the retriever failed. [default: zero]",
            file="errors",
        ),
    ] = None
    ties: Annotated[
        Ties | None,
        _policy(
            "How to order results with equal scores. [default: trec where scores make "
            "the order, else input]",
            file="ties",
        ),
    ] = None
    nothing_in_common: Annotated[
        NothingInCommon | None,
        _policy(
            "What to do with a run that shares nothing with the ground truth. [default: "
            "error]",
            file="nothing-in-common",
        ),
    ] = None
    calls: Annotated[
        Calls | None,
        _policy(
            "How several calls for one query make one ranking. [default: concat]",
            "--join-calls",
            file="calls",
        ),
    ] = None
    store: Store = None
    corpus_size: Annotated[
        int | None,
        Setting(
            "Items in the corpus that was searched, for tn@k and for `grow --to`.",
            metavar="N",
            only="eval grow",
            group=READING,
            recorded=True,
        ),
    ] = None
    fingerprints: Annotated[
        bool,
        Setting(
            "False leaves out the fingerprints of run and ground truth: a tenth faster "
            "on large files.",
            only=PYTHON,
            changes_nothing=True,
        ),
    ] = True


@dataclass(frozen=True, kw_only=True)
class Reading(Settings):
    """The inputs, and how to match them."""

    inputs: Inputs = Inputs()
    matching: MatchingSettings = MatchingSettings()


@dataclass(frozen=True, kw_only=True)
class Intervals(Settings):
    """The confidence of the means, and what counts as one observation."""

    confidence: Confidence = 0.95
    cluster: Cluster = None
    weight_by: WeightBy = None


@dataclass(frozen=True, kw_only=True)
class MetricsAsked(Settings):
    """The metrics per query, and the intervals of their means."""

    metrics: Metrics = None
    k: Cutoffs = None
    intervals: Intervals = Intervals()


@dataclass(frozen=True, kw_only=True)
class Evaluating(Settings):
    """What `evaluate` takes."""

    measures: MetricsAsked = MetricsAsked()
    reading: Reading = Reading()


DEPTH = 20
"""The default number of results to ask a retriever for."""
