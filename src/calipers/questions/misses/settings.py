"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.operation import OUTPUT, Setting, operation
from calipers.questions.reading import Data, Reading, Searched

if TYPE_CHECKING:
    from calipers.questions.misses.result import Misses


class MissesSettings(Reading, total=False):
    """What `misses` takes."""

    k: Annotated[int, Setting("How many results count.", "-k", default=10, file="k")]
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
    cases: Annotated[
        int | None,
        Setting(
            "How many misses, and false positives, to keep in the tables; counts are of all.",
            default=100_000,
            metavar="N",
            group=OUTPUT,
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
    from calipers.errors import InvalidInput
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.measures.spec import check_cutoff
    from calipers.questions.asking import below
    from calipers.questions.inputs import matched
    from calipers.questions.misses.rule import explain_misses

    if settings["cases"] is not None and settings["cases"] < 0:
        raise InvalidInput(
            f"The cases to keep are {settings['cases']}; the number must be 0 or more."
        )
    k, said = check_cutoff(settings["k"]), Columns.of(settings.get("columns"))
    if said:
        settings["columns"] = said
    pair = matched(data, settings, again=True, looks=below(k))
    before, beside = (
        None if value is None else load(value, "run", None, said)
        for value in (settings["candidates"], settings["exact"])
    )
    said.check_used()
    return explain_misses(
        pair, k, corpus=settings["corpus"], candidates=before, exact=beside, cases=settings["cases"]
    )
