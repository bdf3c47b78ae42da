"""Why a retriever fails: known failure modes, a reason for every miss, what each call adds."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from calipers.api.keywords import Reading
from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.model.calls import CallTable
    from calipers.model.diagnosis import Diagnosis
    from calipers.model.misses import Misses


@operation(page="diagnose", command="diagnose")
def diagnose(
    data: Any = None,
    *,
    before: Any = None,
    k: int | None = None,
    thresholds: Mapping[str, float] | None = None,
    by: str | Iterable[str] | None = None,
    price: float | None = None,
    tokenizer: str | Callable[[str], Any] | None = None,
    anyway: bool = False,
    confidence: float = 0.95,
    cluster: str | None = None,
    **reading: Unpack[Reading],
) -> "Diagnosis":
    """Look for the known failure modes in the first k results (default: 10, or fewer if shorter).

    ``data`` is a pair, or anything that ``read`` takes. Each finding has its evidence, a
    confidence and what to do. ``thresholds`` override single thresholds by name, such as
    ``{"too_wide.recall": 0.7}`` (`rules` lists them). ``before`` is an earlier run or evaluation
    of the same queries: then the result says what changed. ``by`` are the tags to look for a
    collapsed slice in (default: all, and "length" and "targets"). ``price`` is the price of a
    million tokens, for what is wasted.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": ["a"], "ground_truth": ["a", "b", "c"]}
    ...     for i in range(30)
    ... ]
    >>> [finding.title for finding in diagnose(records).findings]
    ['too selective', 'k too small for this ground truth']
    """
    from calipers.analyse.diagnose import diagnose_pair, thresholds_in_force
    from calipers.api.asking import below
    from calipers.api.inputs import matched, matched_like

    thresholds_in_force(thresholds)
    now = matched(data, keep=True, looks=below(k), **reading)
    return diagnose_pair(
        now, None if before is None else matched_like(now, before, reading), k=k,
        thresholds=thresholds, by=by, price=price, tokenizer=tokenizer, anyway=anyway,
        confidence=confidence, cluster=cluster,
    )  # fmt: skip


@operation(page="diagnose", command="diagnose")
def rules() -> list[dict[str, Any]]:
    """Every rule of ``diagnose`` as plain values: when it holds, and its thresholds.

    >>> rules()[0]["thresholds"]
    {'too_selective.precision': 0.6, 'too_selective.recall': 0.5}
    """
    from calipers.analyse.diagnose import list_rules

    return list_rules()


@operation(page="misses", command="misses")
def misses(
    data: Any = None,
    *,
    k: int = 10,
    corpus: Any = None,
    candidates: Any = None,
    exact: Any = None,
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
    from calipers.analyse.misses import explain_misses
    from calipers.api.asking import below
    from calipers.api.inputs import matched
    from calipers.io.columns import Columns
    from calipers.io.load import load
    from calipers.measures.spec import check_cutoff

    k, said = check_cutoff(k), Columns.of(reading.get("columns"))
    if said.named:
        reading["columns"] = said
    pair = matched(data, keep=True, looks=below(k), **reading)
    stages = {
        name: None if value is None else load(value, "run", None, said)
        for name, value in (("candidates", candidates), ("exact", exact))
    }
    said.check_used()
    return explain_misses(pair, k, corpus=corpus, **stages)


@operation(page="calls", command="calls")
def calls(data: Any = None, *, k: int | None = None, **reading: Unpack[Reading]) -> "CallTable":
    """What each further call of a retriever adds: recall after it, and its tokens.

    ``data`` is a pair, or anything that ``read`` takes, whose results say in ``call`` which call
    returned them. ``k`` results of each call count (default: all).

    >>> record = {"query": "q", "ground_truth": ["a", "b"], "retrieved": [
    ...     {"id": "a", "call": 1}, {"id": "x", "call": 1}, {"id": "b", "call": 2}]}
    >>> [(one.recall, one.added) for one in calls([record]).calls]
    [(0.5, 0.5), (1.0, 0.5)]
    """
    from calipers.analyse.calls import follow_calls
    from calipers.api.inputs import matched
    from calipers.measures.spec import check_cutoff

    return follow_calls(matched(data, keep=True, **reading), None if k is None else check_cutoff(k))
