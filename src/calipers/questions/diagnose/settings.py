"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from calipers.operation import operation
from calipers.questions.reading import Reading

if TYPE_CHECKING:
    from calipers.questions.diagnose.result import Diagnosis


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
    from calipers.questions.asking import below
    from calipers.questions.diagnose.rule import diagnose_pair, thresholds_in_force
    from calipers.questions.inputs import matched, matched_like

    thresholds_in_force(thresholds)
    now = matched(data, keep=True, looks=below(k), **reading)
    return diagnose_pair(
        now,
        None if before is None else matched_like(now, before, reading),
        k=k,
        thresholds=thresholds,
        by=by,
        price=price,
        tokenizer=tokenizer,
        anyway=anyway,
        confidence=confidence,
        cluster=cluster,
    )


@operation(page="diagnose", command="diagnose")
def rules() -> list[dict[str, Any]]:
    """Every rule of ``diagnose`` as plain values: when it holds, and its thresholds.

    >>> rules()[0]["thresholds"]
    {'too_selective.precision': 0.6, 'too_selective.recall': 0.5}
    """
    from calipers.questions.diagnose.rule import list_rules

    return list_rules()
