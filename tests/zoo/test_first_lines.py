"""What a colleague would say of k and of a healthy ranking: the first line of the real commands."""

import json

import pytest

from tests.command import calipers_command
from tests.zoo.animals import FAULTS, HEALTHY


@pytest.fixture
def first_line(tmp_path):
    """The first sentence of a command on one animal of the zoo."""

    def run(command, animal, n, *options):
        path = tmp_path / "evals.json"
        path.write_text(json.dumps(animal.records(n)))
        printed = calipers_command(command, path, *options, columns=400)
        assert printed.code == 0, printed.err
        return printed.out.splitlines()[0].strip()

    return run


def test_k_of_a_perfect_ranking(first_line):
    perfect = HEALTHY["perfect, one target"]
    assert first_line("sweep", perfect, 40) == (
        "k = 1 finds all that k = 10 finds in these 40 queries; up to 0.072 could be lost (95%); "
        "about 19 more queries would settle 0.05; until then k = 10 is safe."
    )
    assert first_line("sweep", perfect, 200) == (
        "k = 1 finds all that k = 10 finds in these 200 queries; up to 0.015 could be lost (95%), "
        "within the 0.05 allowed: k = 1 is safe."
    )


def test_k_where_targets_stand_last(first_line):
    assert first_line("sweep", HEALTHY["best first and last"], 40) == (
        "k = 10 is the smallest that keeps recall in these 40 queries: k = 9 already loses 0.500. "
        "Recall may still grow: retrieve more and sweep again."
    )


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("n", [40, 200])
def test_a_healthy_retriever_is_left_alone(first_line, name, n):
    assert first_line("diagnose", HEALTHY[name], n) == "No known failure mode was found."


def test_an_error_of_the_retriever_is_named_first(first_line):
    said = first_line("diagnose", FAULTS["raises an error"], 12)
    assert said == "One failure mode found: the retriever fails on queries (confidence: high)."
