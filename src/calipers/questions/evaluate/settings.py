"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import GroundTruthInput
from calipers.operation import (
    OUTPUT,
    PYTHON,
    READING,
    Setting,
    Settings,
    operation,
    takes_keywords,
)
from calipers.questions.reading import (
    CorrectedBy,
    Data,
    Evaluating,
    MetricsAsked,
    Price,
    Primary,
    Reading,
    Sampled,
)

if TYPE_CHECKING:
    from calipers.model.matched import Matched
    from calipers.model.scores import Scores
    from calipers.questions.evaluate.calls import CallTable
    from calipers.questions.evaluate.corrected import CorrectedScores
    from calipers.questions.evaluate.levels import Levels
    from calipers.questions.evaluate.rule import EvaluationAnswer


@dataclass(frozen=True, kw_only=True)
class ReadSettings(Settings):
    """What `read` takes."""

    reading: Reading = Reading()

    keep: Annotated[
        bool,
        Setting(
            "Keep what was read in memory; False leaves a large run in its file, to be "
            "read again.",
            only=PYTHON,
            changes_nothing=True,
        ),
    ] = True


@operation(page="evaluate")
def read(data: Data = None, *, settings: ReadSettings) -> "Matched":
    """Read a ground truth and a run and match them, once for everything that is asked later.

    Give ``data`` that holds both, or ``ground_truth`` and ``run``; each may be a path
    ("-" is standard input), a mapping of query to items, a list of records or a table. In
    place of a run give a live ``retriever``. Every operation takes the pair in place of
    files.

    >>> from calipers import misses
    >>> pair = read(ground_truth={"q": ["a", "b"]}, run={"q": ["b", "x", "a"]})
    >>> pair
    <Matched: 1 query and 3 results matched by id: 2 of 2 targets returned.>
    >>> evaluate(pair, metrics="recall@1")["recall@1"].mean
    0.5
    >>> misses(pair, k=2).reasons
    {'below_k': 1}
    """
    from calipers.questions.inputs import matched

    return matched(data, settings.reading, keep=settings.keep)


@operation(page="evaluate", command="eval")
def evaluate(data: Data = None, *, settings: Evaluating) -> "Scores":
    """Score a run against a ground truth, query by query.

    ``data`` is a pair that ``read`` made, or anything that ``read`` takes.

    >>> scores = evaluate(ground_truth={"q": {"a": 1}}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> scores["mrr"].mean
    0.5
    """
    from calipers.questions.evaluate.rule import measure

    return measure(data, settings)[1]


@dataclass(frozen=True, kw_only=True)
class LevelsSettings(Settings):
    """What `levels` takes."""

    measures: MetricsAsked = MetricsAsked()
    reading: Reading = Reading()

    at: Annotated[
        str | Collection[str],
        Setting('The levels: "all", or a list such as "evidence,document".'),
    ] = "all"


@operation(page="ground-truth", command="eval")
def levels(data: Data = None, *, settings: LevelsSettings) -> "Levels":
    """Score a run at several levels: "all", or a list such as "evidence,document".

    The input is read once. A level that cannot be computed is left out and explained; if
    none can, that is an error.

    >>> chunk = {"text": "The GIL is a lock.", "document": "faq"}
    >>> record = {"query": "q", "retrieved": [chunk],
    ...           "ground_truth": [{"quote": "many threads", "document": "faq"}]}
    >>> found = levels([record], metrics="recall@1")
    >>> {level: scores["recall@1"].mean for level, scores in found.scores.items()}
    {'evidence': 0.0, 'chunk': 0.0, 'document': 1.0}
    """
    from calipers.questions.evaluate.rule import measure_levels

    return measure_levels(data, settings)


@dataclass(frozen=True, kw_only=True)
class CorrectedSettings(Settings):
    """What `corrected` takes."""

    measures: MetricsAsked = MetricsAsked()
    reading: Reading = Reading()

    people: Annotated[
        GroundTruthInput | None,
        Setting("What people judged for a sample of the queries.", unchecked=True),
    ]
    sampled: Annotated[
        str | None,
        Setting(
            "Say that people gave every label, to queries drawn at random or to all of "
            "them.",
            choices=("at-random", "all"),
        ),
    ] = None


@operation(page="make-ground-truth", command="eval")
def corrected(data: Data = None, *, settings: CorrectedSettings) -> "CorrectedScores":
    """Metrics by labels of a machine, corrected by those of people on a sample of the queries.

    The ground truth of ``data`` is the machine's. ``people`` is one for some of the same
    queries, drawn at random; where a file does not say so, ``sampled="at-random"`` does
    ("all": they are every query). Each metric is what people would have found over all
    queries, with an interval that counts how often the machine was wrong on the sample,
    and may be wrong elsewhere (prediction-powered inference).

    >>> queries = [f"q{i}" for i in range(12)]
    >>> run = {query: ["a", "b"] for query in queries}
    >>> machine = {query: {"a": 1} for query in queries}
    >>> people = {query: {"a" if i % 2 else "b": 1} for i, query in enumerate(queries[:6])}
    >>> found = corrected(
    ...     ground_truth=machine, run=run, people=people, sampled="at-random", metrics="mrr"
    ... )
    >>> found["mrr"].machine, found["mrr"].value
    (1.0, 0.75)
    """
    from calipers.questions.evaluate.rule import measure_corrected

    return measure_corrected(data, settings)


@dataclass(frozen=True, kw_only=True)
class CallsSettings(Settings):
    """What `calls` takes."""

    reading: Reading = Reading()

    k: Annotated[
        int | None, Setting("How many results of each call count. [default: all]", "-k")
    ] = None


@operation(page="evaluate", command="eval")
def calls(data: Data = None, *, settings: CallsSettings) -> "CallTable":
    """What each further call of a retriever adds: recall after it, and its results.

    The results of ``data`` say in ``call`` which call returned them. ``k`` results of
    each call count (default: all).

    >>> record = {"query": "q", "ground_truth": ["a", "b"], "retrieved": [
    ...     {"id": "a", "call": 1}, {"id": "x", "call": 1}, {"id": "b", "call": 2}]}
    >>> [(one.recall, one.added) for one in calls([record]).calls]
    [(0.5, 0.5), (1.0, 0.5)]
    """
    from calipers.measures.spec import check_cutoff
    from calipers.questions.evaluate.calls import follow_calls
    from calipers.questions.inputs import matched

    k = None if settings.k is None else check_cutoff(settings.k)
    return follow_calls(matched(data, settings.reading, again=True), k)


_output = partial(Setting, metavar="FILE", changes_nothing=True)


@dataclass(frozen=True, kw_only=True)
class EvaluateSettings(Settings):
    """What `calipers eval` takes: how to measure, what else to ask, and what to make of it."""

    evaluating: Evaluating = Evaluating()

    per_query: Annotated[
        str | None,
        _output(
            "Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
            group=OUTPUT,
        ),
    ] = None
    by: Annotated[
        Sequence[str],
        Setting(
            "Also print the metrics by slices of the queries: a tag, language, "
            "question_word, form, length, targets, or auto; may be given several times.",
            metavar="TAG",
            several=True,
        ),
    ] = ()
    primary: Primary = None
    corrected_by: CorrectedBy = None
    sampled: Sampled = None
    html: Annotated[
        str | None,
        _output(
            "Write a page with everything that is known.", excludes=("corrected_by",)
        ),
    ] = None
    price: Price = None
    corpus: Annotated[
        str | None,
        Setting(
            "The chunks that are searched: the page then tells more of the misses, and "
            "the history knows when it changed.",
            metavar="FILE",
            file="corpus",
            path=True,
            group=READING,
            changes_nothing=True,
        ),
    ] = None
    save: Annotated[
        str | None,
        Setting(
            "Keep the evaluation in the history under this name (see `calipers "
            "history`).",
            metavar="NAME",
            excludes=("corrected_by",),
            changes_nothing=True,
        ),
    ] = None


@takes_keywords
def ask(data: Data = None, *, settings: EvaluateSettings) -> "EvaluationAnswer":
    """Return the scores and everything else asked for on the same data, from any source."""
    from calipers.questions.evaluate.rule import answer

    return answer(data, settings)
