"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.live.keywords import ColumnNames, RetrieverOptions
from calipers.operation import POLICIES, Setting, operation
from calipers.questions.reading import Searched, Truth

if TYPE_CHECKING:
    from calipers.questions.explain.rule import Explanation


@operation(page="misses", command="explain")
def explain(
    question: Annotated[str, Setting("", argument="QUESTION")],
    *,
    retriever: Annotated[
        Any,
        Setting(
            "The live retriever: package.module:function, an address, cmd:command or "
            "mcp:server#tool.",
            metavar="RETRIEVER",
            file="retriever",
        ),
    ],
    ground_truth: Truth = None,
    k: Annotated[int, Setting("How many results count.", "-k", file="k")] = 10,
    keep: Annotated[
        str | Sequence[str] | None,
        Setting(
            "Append the question to the ground truth, with this result as a target; may be given "
            "several times.",
            metavar="ID",
            several=True,
            read=list,
        ),
    ] = None,
    corpus: Searched = None,
    match: Annotated[
        str | None,
        Setting(
            "How targets are recognised: id, quote or span. [default: as the data says]",
            metavar="HOW",
            file="match",
            group=POLICIES,
        ),
    ] = None,
    map_ids: Annotated[
        str | None,
        Setting(
            "Ignore this when ids are compared: prefix=TEXT, extension, case, or several.",
            metavar="RULES",
            file="map-ids",
            group=POLICIES,
        ),
    ] = None,
    columns: ColumnNames = None,
    timeout: Annotated[
        float | None, Setting("Give up after so long. [default: 30.0]", metavar="SECONDS")
    ] = 30.0,
    **options: Unpack[RetrieverOptions],
) -> "Explanation":
    """Ask a live retriever one question: what it returns, and why targets are not among it.

    ``question`` is a text, or the id of one in the ``ground_truth``; where that has it, every
    target gets its rank or the reason why it is missing, as ``misses`` gives it. ``keep`` names
    results that answer the question: it is appended to the ground truth, a .jsonl file, with them
    as its targets. What the others do: ``retrieve`` and ``misses``.

    >>> truth = [{"query": "Who?", "ground_truth": ["a", "x"]}]
    >>> found = explain("Who?", retriever=lambda query, k: ["b", "a"], ground_truth=truth)
    >>> [(target.name, target.rank, target.reason) for target in found.targets]
    [('a', 2, None), ('x', None, 'not_returned')]
    """
    from calipers.measures.spec import check_cutoff
    from calipers.questions.explain.rule import explain_question

    return explain_question(
        question,
        retriever,
        ground_truth,
        k=check_cutoff(k),
        keep=[keep] if isinstance(keep, str) else list(keep or ()),
        corpus=corpus,
        match=match,
        map_ids=map_ids,
        columns=columns,
        timeout=timeout,
        options=options,
    )
