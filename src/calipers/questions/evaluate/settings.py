"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.operation import (
    HISTORY,
    OUTPUT,
    PYTHON,
    READING,
    Setting,
    arguments,
    operation,
)
from calipers.questions.reading import (
    CorrectedBy,
    Data,
    Evaluating,
    Primary,
    Reading,
    Sampled,
)

if TYPE_CHECKING:
    from calipers.model.matched import Matched
    from calipers.model.scores import Scores
    from calipers.questions.evaluate.rule import EvaluationAnswer


class ReadSettings(Reading, total=False):
    """What `read` takes."""

    keep: Annotated[
        bool,
        Setting(
            "Keep what was read in memory; False leaves a large run in its file, to be read again.",
            default=True,
            only=PYTHON,
            changes_nothing=True,
        ),
    ]


@operation(page="evaluate")
def read(data: Data = None, **settings: Unpack[ReadSettings]) -> "Matched":
    """Read a ground truth and a run and match them, once for everything that is asked later.

    Give ``data`` that holds both, or ``ground_truth`` and ``run``; each may be a path ("-" is
    standard input), a mapping of query to items, a list of records or a table. In place of a run
    give a live ``retriever``. Every operation takes the pair in place of files.

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

    return matched(data, settings, keep=settings["keep"])


@operation(page="evaluate", command="eval")
def evaluate(data: Data = None, **settings: Unpack[Evaluating]) -> "Scores":
    """Score a run against a ground truth, query by query.

    ``data`` is a pair that ``read`` made, or anything that ``read`` takes.

    >>> scores = evaluate(ground_truth={"q": {"a": 1}}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> scores["mrr"].mean
    0.5
    """
    from calipers.questions.evaluate.rule import measure

    return measure(data, settings)[1]


PAIR = ("pair", "one result")
"""What looks into the results and the ground truth of one evaluation needs both."""


_output = partial(Setting, metavar="FILE", changes_nothing=True)


class EvaluateSettings(Evaluating, total=False):
    """What `calipers eval` takes: how to measure, what else to ask, and what to make of it."""

    per_query: Annotated[
        str | None,
        _output(
            "Write every query's scores to a .parquet, .csv, .tsv, .json or .jsonl file.",
            of_data=("a run", "one result"),
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
            default=(),
            of_data=("one result",),
        ),
    ]
    primary: Primary
    corrected_by: CorrectedBy
    sampled: Sampled
    html: Annotated[
        str | None,
        _output(
            "Write a page with everything that is known.", excludes=("corrected_by",), of_data=PAIR
        ),
    ]
    markdown: Annotated[
        str | None,
        _output(
            "Write the short form, for a pull request.",
            excludes=("corrected_by",),
            of_data=PAIR,
            group=OUTPUT,
        ),
    ]
    chart: Annotated[
        str | None,
        _output(
            "Draw the means with their intervals, or with --by the slices, to an .svg file.",
            excludes=("corrected_by",),
            of_data=("one result",),
            group=OUTPUT,
        ),
    ]
    corpus: Annotated[
        str | None,
        Setting(
            "The chunks that are searched: page and short form then tell more of the misses, and "
            "the history knows when it changed.",
            metavar="FILE",
            file="corpus",
            path=True,
            of_data=("this machine",),
            group=READING,
            changes_nothing=True,
        ),
    ]
    save: Annotated[
        str | None,
        Setting(
            "Keep the evaluation in the history under this name (see `calipers history`).",
            metavar="NAME",
            excludes=("corrected_by",),
            of_data=PAIR,
            changes_nothing=True,
        ),
    ]
    mlflow: Annotated[
        str | None,
        Setting(
            "Log to this MLflow tracking store, such as sqlite:///mlflow.db.",
            metavar="URI",
            excludes=("corrected_by",),
            of_data=PAIR,
            group=HISTORY,
            changes_nothing=True,
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
    needs = frozenset(setting.of_data)
    if name in Reading.__annotations__ and name != "store":
        needs |= {"measuring"}
    # What a file settles for all that is measured means nothing to what was measured before.
    return needs if is_given else needs - {"measuring"}
