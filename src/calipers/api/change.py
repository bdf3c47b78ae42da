"""What changed between two runs, before anybody judged anything."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.api.keywords import Where
    from calipers.model.diff import Diff


@operation(page="diff", command="diff")
def diff(
    old: Any,
    new: Any,
    *,
    k: int = 10,
    p: float = 0.9,
    by: str | Iterable[str] = (),
    ground_truth: Any = None,
    seed: int = 0,
    store: "Where" = None,
    columns: Any = None,
) -> "Diff":
    """Hold the first k results of two runs against each other; no ground truth is needed.

    ``old`` and ``new`` are runs in any shape that ``read`` takes. Each query gets its rank-biased
    overlap with persistence ``p``, the overlap of the first k, Kendall's tau over the results that
    both have, and what is new and what is lost. ``ground_truth`` knows the tags to cut ``by``
    ("length" needs none), and which of the new results are judged already; ``columns`` says which
    of its columns is what, where their names do not. ``write`` of what comes back makes a file to
    label of exactly the new results, shuffled by ``seed``.

    >>> found = diff({"q": ["a", "b", "c"]}, {"q": ["a", "c", "d"]})
    >>> [moved.item for moved in found.queries[0].new], round(found.mean("overlap"), 2)
    (['d'], 0.67)
    """
    from calipers.analyse.diff import diff_runs
    from calipers.api.systems import named_run
    from calipers.io.columns import Columns
    from calipers.io.load import load

    truth = None
    if ground_truth is not None:
        truth = load(ground_truth, "ground_truth", None, Columns.of(columns)).ground_truth
    return diff_runs(
        named_run(old, "old", store), named_run(new, "new", store), k=k, p=p,
        by=[by] if isinstance(by, str) else list(by), truth=truth, seed=seed,
    )  # fmt: skip
