"""Notes where the numbers of another tool are imitated."""

import polars as pl
import pytest

from calipers.match.compatibility_notes import imitation_notes
from calipers.model.ground_truth import GroundTruth
from calipers.model.policy import LIKE


def truth(*grades: float) -> GroundTruth:
    items = [str(n) for n in range(len(grades))]
    return GroundTruth.from_targets(
        pl.DataFrame({"query": ["q"] * len(grades), "item": items, "grade": list(grades)})
    )


@pytest.mark.parametrize("like", LIKE)
def test_fractional_grades_are_named(like: str) -> None:
    [note] = imitation_notes(truth(0.5, 2, 0.5, 1.25, 0.1, 0.2), like)
    assert note.startswith("5 grades are not whole (0.5, 1.25, 0.1, …): trec_eval cuts off")
    assert imitation_notes(truth(0.5), like)[0].startswith("1 grade is not whole (0.5):")


def test_whole_grades_and_our_own_numbers_need_no_note() -> None:
    assert imitation_notes(truth(-1, 0, 3), "trec_eval") == ()
    assert imitation_notes(truth(0.5), None) == ()
