"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Any, Unpack, cast

from calipers.live.keywords import RetrieverOptions
from calipers.operation import Setting, operation
from calipers.questions.reading import (
    Data,
    FirstK,
    MapIds,
    Match,
    Reading,
    Returned,
    Searched,
    Sources,
    Store,
    Truth,
)

if TYPE_CHECKING:
    from calipers.questions.misses.one_query import Explanation
    from calipers.questions.misses.result import Misses


class MissesSettings(Reading, total=False):
    """What `misses` takes."""

    k: FirstK
    corpus: Searched
    candidates: Annotated[
        Any,
        Setting(
            "The list before the reranker, as a run.", metavar="FILE", file="candidates", path=True
        ),
    ]
    exact: Annotated[
        Any,
        Setting(
            "Exact search beside an approximate index, as a run.",
            metavar="FILE",
            file="exact",
            path=True,
        ),
    ]


@operation(page="misses", command="misses")
def misses(data: Data = None, **settings: Unpack[MissesSettings]) -> "Misses":
    """One reason for each piece of ground truth that is not in the first k results.

    ``data`` is a pair, or anything that ``read`` takes. ``candidates`` and ``exact`` are runs;
    records may hold them too, under ``stages``.

    >>> result = misses(ground_truth={"q": ["a", "b", "c"]}, run={"q": ["a", "x", "b"]}, k=2)
    >>> result.reasons
    {'below_k': 1, 'not_returned': 1}
    """
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.measures.spec import check_cutoff
    from calipers.questions.inputs import below, matched
    from calipers.questions.misses.rule import explain_misses

    k, said = check_cutoff(settings["k"]), Columns.of(settings.get("columns"))
    if said:
        settings["columns"] = said
    pair = matched(data, settings, again=True, looks=below(k))
    before, beside = (
        None if value is None else load(value, "run", said)
        for value in (settings["candidates"], settings["exact"])
    )
    said.check_used()
    return explain_misses(pair, k, corpus=settings["corpus"], candidates=before, exact=beside)


class ExplainSettings(Sources, RetrieverOptions, total=False):
    """What `explain` takes."""

    run: Returned
    retriever: Annotated[
        Any,
        Setting(
            "The live retriever: package.module:function, an address, cmd:command or "
            "mcp:server#tool.",
            metavar="RETRIEVER",
            file="retriever",
            excludes=("run",),
        ),
    ]
    ground_truth: Truth
    k: FirstK
    corpus: Searched
    match: Match
    map_ids: MapIds
    timeout: Annotated[
        float | None,
        Setting("Give up after so long. [default: 30.0]", default=30.0, metavar="SECONDS"),
    ]
    store: Store


OPTIONS = frozenset(RetrieverOptions.__annotations__)


@operation(page="misses", command="explain")
def explain(
    question: Annotated[str, Setting("", argument="QUESTION")], **settings: Unpack[ExplainSettings]
) -> "Explanation":
    """One question: what comes back for it, and why targets are not among it.

    ``question`` is a text, or the id of one in the ``ground_truth``. It is asked of a live
    ``retriever``, or looked up in a ``run``, which may hold the ground truth too. Every target gets
    its rank, or the reason why it is missing, as ``misses`` gives it.

    >>> truth = [{"query": "Who?", "ground_truth": ["a", "x"]}]
    >>> found = explain("Who?", retriever=lambda query, k: ["b", "a"], ground_truth=truth)
    >>> [(target.name, target.rank, target.reason) for target in found.targets]
    [('a', 2, None), ('x', None, 'not_returned')]
    """
    from calipers.measures.spec import check_cutoff
    from calipers.questions.misses.one_query import explain_question

    check_cutoff(settings["k"])
    options = {name: one for name, one in settings.items() if name in OPTIONS}
    return explain_question(question, settings, cast("RetrieverOptions", options))
