"""What a colleague would say of k and of a healthy ranking: the first line of the real commands."""

import json

import pytest

from tests.command import calipers_command
from tests.zoo.animals import HEALTHY


@pytest.fixture
def lines(tmp_path):
    """What a command prints on one animal of the zoo."""

    def run(command, animal, n, *options):
        path = tmp_path / "evals.json"
        path.write_text(json.dumps(animal.records(n)))
        printed = calipers_command(command, path, *options, columns=400)
        assert printed.code == 0, printed.err
        return [line.strip() for line in printed.out.splitlines()]

    return run


def test_k_of_a_perfect_ranking(lines):
    perfect = HEALTHY["perfect, one target"]
    few, many = lines("sweep", perfect, 40), lines("sweep", perfect, 200)
    assert few[0] == "Use k = 1: it finds 100%, as much as k = 10."
    doubt = "Not settled by 40 queries: k = 1 may lose up to 0.072; k = 10 is the safe"
    assert any(line.startswith(doubt) for line in few)
    assert "To rule out a loss of 0.05 takes at least 59 queries." in few
    assert many[0] == "Use k = 1: it finds 100%, as much as k = 10."
    assert any(line.startswith("k = 1 may lose up to 0.015 on new") for line in many)


def test_a_handful_of_queries_is_no_bill_of_health(lines):
    first = lines("diagnose", HEALTHY["perfect, one target"], 12)[0]
    assert first == "Nothing known is wrong, as far as 12 queries can tell: recall@10 is 1.000."


def test_advice_that_spends_names_its_price(tmp_path):
    path = tmp_path / "evals.json"
    retrieved = [{"id": f"r{rank}", "tokens": 100} for rank in range(30)]
    records = [
        {"query": f"q{n}", "ground_truth": [f"r{5 + n % 20}"], "retrieved": retrieved[n % 3 :]}
        for n in range(40)
    ]
    path.write_text(json.dumps(records))
    printed = calipers_command("diagnose", path, "-k", "10", columns=400)
    advice = next(line for line in printed.out.splitlines() if line.startswith("k = "))
    k = int(advice.split()[2])
    assert f"-k {k}: {100 * (k - 10):,} tokens more" in advice
    assert f"Try it: calipers eval {path} -k {k}" in printed.out
    printed = calipers_command("misses", path, "-k", "10", columns=400)
    assert "rerank, or raise k" in printed.out
