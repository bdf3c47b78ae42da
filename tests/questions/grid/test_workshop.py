"""Retrievers are made once, and never tell a secret."""

import json

import pytest

from calipers.errors import RetrieverFailed
from calipers.questions.grid.settings import grid, plan_grid
from tests.questions.grid.grids import TWO, log, write


def test_what_differs_in_k_alone_is_made_once(folder):
    path = write(folder, TWO.replace("[grid]", "[grid]\n    k = [1, 3, 5]"))
    assert len(grid(path).comparison.systems) == 6
    assert [line for line in log(folder) if line != "ask"] == ["make 2 1", "make 11 1"]


def test_a_secret_parameter_is_in_no_file(folder):
    path = write(folder, TWO.replace("{right", '{token = "sk-secret-token", right'))
    found = grid(path)
    assert "sk-secret-token" not in json.dumps(found.to_dict())
    for file in (folder / "grid").iterdir():
        assert "sk-secret-token" not in file.read_text()


def test_secrets_that_vary_are_numbered_and_hidden_in_errors(folder):
    path = write(
        folder,
        """
    [grid]
    [grid.retrievers.some]
    make = "finders:tells"
    params.token = ["sk-secret-one", "sk-secret-two"]
    """,
    )
    assert [one.name for one in plan_grid(path).combinations] == ["some token=#1", "some token=#2"]
    with pytest.raises(RetrieverFailed, match=r"no index for \*\*\*") as failed:
        grid(path)
    assert "sk-secret" not in str(failed.value)


def test_a_plain_word_that_only_looks_secret_leaves_answers_alone(folder):
    path = write(folder, TWO.replace("{right", '{token = "good", right'))
    found = grid(path)
    assert found.comparison.mean("some right=11", "recall@1").mean == 11 / 12


def test_a_secret_in_the_error_of_a_search_is_hidden(folder):
    path = write(
        folder,
        TWO
        + """
    [grid.retrievers.silent]
    make = "finders:fails_later"
    params.token = "sk-secret-token"
    """,
    )
    assert "no answer for ***" in grid(path).failures["silent"]
