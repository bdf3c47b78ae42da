"""A claim reads the same wherever it is shown; the words come from one place."""

from typing import get_args

import pytest

from calipers.model.claim import SIGNS, Claim, Standing, moved, p_text


def test_every_standing_has_a_sign_of_its_own():
    assert set(SIGNS) == set(get_args(Standing))
    assert len(set(SIGNS.values())) == len(SIGNS) == 5
    assert SIGNS["passed"] == "✓"


@pytest.mark.parametrize("standing", SIGNS)
def test_the_first_line_is_the_fact_behind_its_sign(standing):
    claim = Claim(standing, "recall@10 fell to 0.792.", range="By 0.1 or more.")
    assert claim.line == f"{SIGNS[standing]} recall@10 fell to 0.792."


def test_how_many_moved_which_way():
    assert moved(0.5, 0.75, 7, 2, 1200) == "0.500 → 0.750: 7 better, 2 worse of 1,200"
    assert moved(1, 0, 0, 3, 3, "queries").endswith("0 better, 3 worse of 3 queries")


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "p < .001"),
        (0.00099, "p < .001"),
        (0.001, "p = .001"),
        (0.049, "p = .049"),
        (0.05, "p = .050"),
        (0.1, "p = .1"),
        (0.25, "p = .25"),
        (0.994, "p = .99"),
        (0.999, "p = 1"),
        (1.0, "p = 1"),
    ],
)
def test_a_p_value_is_printed_as_it_is(p, text):
    assert p_text(p) == text
