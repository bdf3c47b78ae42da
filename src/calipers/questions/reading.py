"""Keywords that many operations share, declared once for Python, commands and settings file."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from calipers.live.keywords import AskFor, ColumnNames, Watch, Workers
from calipers.model.labels import SAMPLED
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
from calipers.operation import HISTORY, POLICIES, READING, STATISTICS, Setting
from calipers.questions.spellings import cutoff_list, weights_by_name

if TYPE_CHECKING:
    from calipers.measures import Metric

Progress = Callable[[int, int], None]
"""Called with the bytes read and the bytes in all."""
Data = Annotated[
    Any,
    Setting(
        "",
        argument="[DATA]",
        only_one="give one that holds results and ground truth, or say which is which with "
        "--ground-truth and --run.",
        file="data",
        needs=("this machine",),
    ),
]
"""One thing that holds both sides: a pair of ``read``, or a path, records or a table."""
Truth = Annotated[Any, Setting("What should be found.", "-g", "FILE", file="ground-truth")]
Returned = Annotated[Any, Setting("What the retriever returned.", "-r", "FILE", file="run")]
Searched = Annotated[
    Any,
    Setting(
        "The chunks that are searched: tells what is not there, or split over chunks.",
        "-c",
        "PATH",
        file="corpus",
    ),
]
Metrics = Annotated[
    "str | Iterable[str | Metric] | None",
    Setting(
        "Metrics, such as recall@10,ndcg@5,mrr (`calipers metrics` lists them).",
        "-m",
        "LIST",
        file="metrics",
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
    ),
]
Weights = Annotated[
    Mapping[str, float] | None,
    Setting(
        "Combine metrics into one score, such as recall@10=0.7,precision@5=0.3.",
        "--score",
        "WEIGHTS",
        read=weights_by_name,
        file="score",
        needs=("a run", "one result"),
        group=STATISTICS,
    ),
]
Primary = Annotated[
    str | None,
    Setting(
        "The metric that matters most. [default: as the configuration says, the score, or recall "
        "at the largest cut-off]",
        metavar="METRIC",
        file="primary",
        group=STATISTICS,
    ),
]
Confidence = Annotated[float, Setting("The confidence level of the intervals.", group=STATISTICS)]
CorrectedBy = Annotated[
    Any,
    Setting(
        "What people judged for a sample of the queries: also give each metric as they would have "
        "found it over all of them, where a model judged everything.",
        metavar="FILE",
        needs=("pair", "one result"),
        group=STATISTICS,
    ),
]
Sampled = Annotated[
    str | None,
    Setting(
        "Say that people gave every label of --corrected-by: to queries drawn at random, or to "
        "all of them.",
        choices=SAMPLED,
        needs=("pair", "one result"),
        group=STATISTICS,
    ),
]
Cluster = Annotated[
    str | None,
    Setting(
        "Take queries with the same value of this tag, such as paraphrases of one intent, as one "
        "unit in every interval and test.",
        metavar="TAG",
        file="cluster",
        needs=("measuring", "every value"),
        group=STATISTICS,
    ),
]
Price = Annotated[float | None, Setting("What a million tokens cost.", metavar="PRICE")]
Tokenizer = Annotated[
    str | Callable[[str], Any] | None,
    Setting(
        "Counts the tokens of a text. [default: 'tokens' of the data, else characters / 4]",
        metavar="PACKAGE:FUNCTION",
        group=READING,
    ),
]
Against = Annotated[
    str | None,
    Setting(
        "The system that the others are compared with. [default: the first]", "--against", "NAME"
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
        "The history: a file or postgresql://user@host/database. [default: CALIPERS_STORE, the "
        "configuration, or .calipers/history.db here or in a folder above]",
        metavar="PLACE",
        file="store",
        group=HISTORY,
    ),
]


Memory = Annotated[
    str | int | None,
    Setting(
        "How much memory to use, such as 2GB, where results stand in records, or not in the order "
        "of their queries; the rest goes to a temporary file. 270 MB and 260 bytes a target are "
        "needed in any case. [default: half of what is free]",
        metavar="SIZE",
        group=READING,
    ),
]
Temp = Annotated[
    Where, Setting("The folder of that temporary file.", metavar="FOLDER", group=READING)
]


class Inputs(TypedDict, total=False):
    """What is measured; each side is a path, a mapping, records or a table."""

    ground_truth: Truth
    run: Returned
    retriever: Annotated[
        Any,
        Setting(
            "Ask this live retriever instead of reading a run: package.module:function, an "
            "address, cmd:command or mcp:server#tool (see `calipers retrieve`).",
            metavar="RETRIEVER",
            file="retriever",
            needs=("this machine", "a run"),
        ),
    ]
    """In Python also a function of (query, k), or an object of a library that `retrieve` knows."""
    ask_for: AskFor
    workers: Workers
    watch: Watch | None
    """Gives the callbacks for the progress of asking: the number of questions, the counts."""


class MatchingSettings(TypedDict, total=False):
    """How results are compared with a ground truth."""

    rel: Annotated[
        float | None,
        Setting(
            "The grade from which a target is relevant. [default: above 0]",
            metavar="GRADE",
            file="rel",
            group=POLICIES,
        ),
    ]
    match: Annotated[
        str | None,
        Setting(
            "How targets are recognised: by id, quote or span, or with the share that is enough, "
            "such as quote(min=0.8). [default: as the data says]",
            metavar="HOW",
            file="match",
            group=POLICIES,
        ),
    ]
    level: Annotated[
        str | None,
        Setting(
            "What is looked for: evidence (chunks together may hold it), chunk (one alone), "
            "page or document (any chunk of it); `calipers eval` also takes all, side by side. "
            "[default: evidence; page where the targets are pages]",
            metavar="LEVEL",
            file="level",
            needs=("a run",),
            group=POLICIES,
        ),
    ]
    map_ids: Annotated[
        str | None,
        Setting(
            "Ignore this when ids and names of documents are compared: prefix=TEXT, extension, "
            "case, or several with commas between them.",
            metavar="RULES",
            file="map-ids",
            group=POLICIES,
        ),
    ]
    columns: ColumnNames
    like: Annotated[
        str | None,
        Setting(
            "Take the policies of another tool, so that numbers equal its own.",
            choices=tuple(LIKE),
            file="like",
            group=POLICIES,
        ),
    ]
    missing: Annotated[
        Missing | None,
        Setting(
            "What to do with a query that the run does not have. [default: zero]",
            file="missing",
            group=POLICIES,
        ),
    ]
    unanswerable: Annotated[
        Unanswerable | None,
        Setting(
            "What to do with a query without any relevant target. [default: exclude]",
            # As a Literal it equals that of `missing`, whose words stand in another order.
            choices=CHOICES["unanswerable"],
            file="unanswerable",
            group=POLICIES,
        ),
    ]
    duplicates: Annotated[
        Duplicates | None,
        Setting(
            "What to do with an item that one query returns twice. [default: first]",
            file="duplicates",
            group=POLICIES,
        ),
    ]
    unknown: Annotated[
        Unknown | None,
        Setting(
            "What to do with a query that the ground truth does not have. [default: ignore]",
            file="unknown",
            group=POLICIES,
        ),
    ]
    errors: Annotated[
        Failed | None,
        Setting(
            "What to do with a query on which the retriever failed. [default: zero]",
            file="errors",
            group=POLICIES,
        ),
    ]
    ties: Annotated[
        Ties | None,
        Setting(
            "How to order results with equal scores. [default: trec where scores make the order, "
            "else input]",
            file="ties",
            group=POLICIES,
        ),
    ]
    nothing_in_common: Annotated[
        NothingInCommon | None,
        Setting(
            "What to do with a run that shares nothing with the ground truth. [default: error]",
            file="nothing-in-common",
            group=POLICIES,
        ),
    ]
    calls: Annotated[
        Calls | None,
        Setting(
            "How several calls for one query make one ranking. [default: concat]",
            "--join-calls",
            file="calls",
            group=POLICIES,
        ),
    ]
    store: Store
    corpus_size: Annotated[
        int | None,
        Setting("Items in the corpus, for tn@k.", metavar="N", only="eval", group=READING),
    ]
    memory: Memory
    temp: Temp
    progress: Progress | None
    fingerprints: bool
    """False leaves the fingerprints of run and ground truth out: a tenth faster on large files."""


class Reading(Inputs, MatchingSettings, total=False):
    """What is measured, and how it is matched."""


ASKING = Inputs.__annotations__.keys() - {"ground_truth", "run"}
"""The keywords of these that are about asking a retriever."""
DEPTH = 20
"""Results to ask a retriever for where nothing says how many are looked at."""
