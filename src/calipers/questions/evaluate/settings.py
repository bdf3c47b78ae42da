"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.operation import HISTORY, OUTPUT, READING, STATISTICS, Setting, arguments, operation
from calipers.questions.reading import (
    Cluster,
    Confidence,
    CorrectedBy,
    Cutoffs,
    Data,
    Inputs,
    MatchingSettings,
    Metrics,
    Primary,
    Reading,
    Sampled,
    Weights,
)

if TYPE_CHECKING:
    from calipers.model.matched import Matched
    from calipers.model.scores import Scores
    from calipers.questions.evaluate.rule import EvaluationAnswer


@operation(page="evaluate")
def read(data: Data = None, *, keep: bool = True, **reading: Unpack[Reading]) -> "Matched":
    """Read a ground truth and a run and match them, once for everything that is asked later.

    Give ``data`` that holds both, or ``ground_truth`` and ``run``; each may be a path ("-" is
    standard input), a mapping of query to items, a list of records or a table. In place of a run
    give a live ``retriever``; ``ask_for`` says how many results it is asked for. Every operation
    takes the pair in place of files. What was read stays in memory; without ``keep`` a large
    run does not, and an operation that needs its results reads the file again.

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

    return matched(data, keep=keep, **reading)


@operation(page="evaluate", command="eval")
def evaluate(
    data: Data = None,
    *,
    metrics: Metrics = None,
    k: Cutoffs = None,
    weights: Weights = None,
    confidence: Confidence = 0.95,
    cluster: Cluster = None,
    **reading: Unpack[Reading],
) -> "Scores":
    """Score a run against a ground truth, query by query.

    ``data`` is a pair that ``read`` made, or anything that ``read`` takes; further arguments are
    those of ``read``. ``metrics`` are names such as ``"recall@1,5,10"``; ``k`` serves those
    written without a cut-off. ``weights`` combine metrics into one score. ``confidence`` is that
    of the intervals. ``cluster`` is a tag: queries that share its value, such as paraphrases of
    one intent, count as one unit in every interval.

    >>> scores = evaluate(ground_truth={"q": {"a": 1}}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> scores["mrr"].mean
    0.5
    """
    from calipers.engines.scoring import choose_metrics, deepest, score
    from calipers.questions.inputs import like_of, matched

    chosen = choose_metrics(metrics, k, None, weights, like_of(data, reading))
    pair = matched(data, looks=deepest(chosen), **reading)
    return score(pair, chosen, weights=weights, confidence=confidence, cluster=cluster)


PAIR = ("pair", "one result")
"""What looks into the results and the ground truth of one evaluation needs both."""


class Choosing(TypedDict, total=False):
    """What is measured of each query."""

    metrics: Metrics
    k: Cutoffs


class EvaluateSettings(Inputs, Choosing, MatchingSettings, total=False):
    """What `calipers eval` takes: how to measure, what else to ask, and what to make of it."""

    weights: Weights
    confidence: Annotated[
        float,
        Setting(
            "The confidence level of the intervals.  [default: 0.95]",
            needs=("measuring",),
            group=STATISTICS,
        ),
    ]
    cluster: Cluster
    per_query: Annotated[
        str,
        Setting(
            "Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
            metavar="FILE",
            needs=("a run", "one result"),
            group=OUTPUT,
        ),
    ]
    by: Annotated[
        Sequence[str],
        Setting(
            "Also print the metrics by slices of the queries: a tag, language, question_word, "
            "form, length, targets, or auto; may be given several times.",
            metavar="TAG",
            several=True,
            needs=("one result",),
        ),
    ]
    primary: Primary
    corrected_by: CorrectedBy
    sampled: Sampled
    html: Annotated[
        str, Setting("Write a page with everything that is known.", metavar="FILE", needs=PAIR)
    ]
    markdown: Annotated[
        str,
        Setting(
            "Write the short form, for a pull request.", metavar="FILE", needs=PAIR, group=OUTPUT
        ),
    ]
    chart: Annotated[
        str,
        Setting(
            "Draw the means with their intervals, or with --by the slices, to an .svg file.",
            metavar="FILE",
            needs=("one result",),
            group=OUTPUT,
        ),
    ]
    corpus: Annotated[
        str,
        Setting(
            "The chunks that are searched: page and short form then tell more of the misses, and "
            "the history knows when it changed.",
            metavar="FILE",
            file="corpus",
            needs=("this machine",),
            group=READING,
        ),
    ]
    save: Annotated[
        str,
        Setting(
            "Keep the evaluation in the history under this name (see `calipers history`).",
            metavar="NAME",
            needs=PAIR,
        ),
    ]
    mlflow: Annotated[
        str,
        Setting(
            "Log to this MLflow tracking store, such as sqlite:///mlflow.db.",
            metavar="URI",
            needs=PAIR,
            group=HISTORY,
        ),
    ]


def ask(
    data: Data = None,
    *,
    given: Collection[str] | None = None,
    one_result_for: Sequence[str] = (),
    **asked: Unpack[EvaluateSettings],
) -> "EvaluationAnswer":
    """The scores and everything else that is asked of the same data, whatever they come from.

    ``given`` are the names of what the caller wrote, where the rest is from a settings file;
    ``one_result_for`` are options of the caller that need one result.
    """
    from calipers.questions.evaluate.rule import answer

    named: dict[str, Any] = {**asked} if data is None else {"data": data, **asked}
    written = named.keys() if given is None else given
    needs = dict.fromkeys(one_result_for, frozenset({"one result"}))
    for name, one in arguments(ask).items():
        if name in named and (setting := one.setting) is not None:
            option = setting.argument.strip("[]") or setting.names(name)[0]
            needs[option] = _needs(name, setting, is_given=name in written)
    return answer(named, written, needs)


def _needs(name: str, setting: Setting, *, is_given: bool) -> frozenset[str]:
    needs = frozenset(setting.needs)
    if name in Reading.__annotations__ and name != "store":
        needs |= {"measuring"}
    # What a file settles for all that is measured means nothing to what was measured before.
    return needs if is_given else needs - {"measuring"}
