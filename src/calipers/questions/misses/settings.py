"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.operation import OUTPUT, Setting, operation
from calipers.questions.reading import Data, Reading, Searched

if TYPE_CHECKING:
    from calipers.questions.misses.result import Misses


@operation(page="misses", command="misses")
def misses(
    data: Data = None,
    *,
    k: Annotated[int, Setting("How many results count.", "-k", file="k")] = 10,
    corpus: Searched = None,
    candidates: Annotated[
        Any, Setting("The list before the reranker, as a run.", metavar="FILE", file="candidates")
    ] = None,
    exact: Annotated[
        Any,
        Setting(
            "Exact search beside an approximate index, as a run.", metavar="FILE", file="exact"
        ),
    ] = None,
    cases: Annotated[
        int | None,
        Setting(
            "How many misses, and false positives, to keep in the tables; counts are of all.",
            metavar="N",
            group=OUTPUT,
        ),
    ] = 100_000,
    **reading: Unpack[Reading],
) -> "Misses":
    """One reason for each piece of ground truth that is not in the first k results.

    ``data`` is a pair, or anything that ``read`` takes. ``corpus`` holds the chunks that are
    searched; with it, what is not there and what is split over chunks can be told.
    ``candidates`` (the list before the reranker) and ``exact`` (exact search beside an
    approximate index) are runs; records may hold them too, under ``stages``.

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

    if cases is not None and cases < 0:
        raise InvalidInput(f"The cases to keep are {cases}; the number must be 0 or more.")
    k, said = check_cutoff(k), Columns.of(reading.get("columns"))
    if said:
        reading["columns"] = said
    pair = matched(data, again=True, looks=below(k), **reading)
    before, beside = (
        None if value is None else load(value, "run", None, said) for value in (candidates, exact)
    )
    said.check_used()
    return explain_misses(pair, k, corpus=corpus, candidates=before, exact=beside, cases=cases)
