"""What a reader must know where the numbers of another tool are imitated."""

from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES


def imitation_notes(ground_truth: GroundTruth, like: str | None) -> tuple[str, ...]:
    """A note about grades that the other tool would read as other numbers.

    >>> import polars as pl
    >>> truth = GroundTruth.from_targets(pl.DataFrame({"query": ["q"], "grade": [0.5]}))
    >>> len(imitation_notes(truth, "trec_eval")), len(imitation_notes(truth, None))
    (1, 0)
    """
    if like is None or not like.startswith("trec_eval"):
        return ()
    grade = ground_truth.targets["grade"]
    fractional = grade.filter(grade != grade.round(0))
    if fractional.is_empty():
        return ()
    shown = [f"{one:g}" for one in fractional.unique(maintain_order=True).head(EXAMPLES + 1)]
    named = ", ".join(shown[:EXAMPLES]) + (", …" if len(shown) > EXAMPLES else "")
    grades = "1 grade is" if len(fractional) == 1 else f"{len(fractional):,} grades are"
    return (
        f"{grades} not whole ({named}): trec_eval cuts off what stands behind the point, and "
        "Calipers does not, so that the numbers of these queries can differ.",
    )
