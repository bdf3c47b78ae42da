"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Any, Required, Unpack

from calipers.live.keywords import RetrieverOptions
from calipers.operation import POLICIES, Setting, operation
from calipers.questions.reading import Searched, Sources, Truth

if TYPE_CHECKING:
    from calipers.questions.explain.rule import Explanation


class ExplainSettings(Sources, RetrieverOptions, total=False):
    """What `explain` takes."""

    retriever: Required[
        Annotated[
            Any,
            Setting(
                "The live retriever: package.module:function, an address, cmd:command or "
                "mcp:server#tool.",
                metavar="RETRIEVER",
                file="retriever",
            ),
        ]
    ]
    ground_truth: Truth
    k: Annotated[int, Setting("How many results count.", "-k", default=10, file="k")]
    corpus: Searched
    match: Annotated[
        str | None,
        Setting(
            "How targets are recognised: id, quote or span. [default: as the data says]",
            metavar="HOW",
            file="match",
            group=POLICIES,
        ),
    ]
    map_ids: Annotated[
        str | None,
        Setting(
            "Ignore this when ids are compared: prefix=TEXT, extension, case, or several.",
            metavar="RULES",
            file="map-ids",
            group=POLICIES,
        ),
    ]
    timeout: Annotated[
        float | None,
        Setting("Give up after so long. [default: 30.0]", default=30.0, metavar="SECONDS"),
    ]


OPTIONS = frozenset(RetrieverOptions.__annotations__)


@operation(page="misses", command="explain")
def explain(
    question: Annotated[str, Setting("", argument="QUESTION")], **settings: Unpack[ExplainSettings]
) -> "Explanation":
    """Ask a live retriever one question: what it returns, and why targets are not among it.

    ``question`` is a text, or the id of one in the ``ground_truth``; where that has it, every
    target gets its rank or the reason why it is missing, as ``misses`` gives it. What
    the others do: ``retrieve`` and ``misses``.

    >>> truth = [{"query": "Who?", "ground_truth": ["a", "x"]}]
    >>> found = explain("Who?", retriever=lambda query, k: ["b", "a"], ground_truth=truth)
    >>> [(target.name, target.rank, target.reason) for target in found.targets]
    [('a', 2, None), ('x', None, 'not_returned')]
    """
    from calipers.measures.spec import check_cutoff
    from calipers.questions.explain.rule import explain_question

    return explain_question(
        question,
        settings["retriever"],
        settings["ground_truth"],
        k=check_cutoff(settings["k"]),
        corpus=settings["corpus"],
        match=settings["match"],
        map_ids=settings["map_ids"],
        columns=settings["columns"],
        timeout=settings["timeout"],
        options={name: one for name, one in settings.items() if name in OPTIONS},
    )
