import csv
import io

import pytest
from rich.console import Console

from calipers import sweep
from calipers.questions.sweep.show import (
    advice,
    leading_claim,
    print_sweep,
    remarks,
    shown_points,
    sweep_csv,
)
from tests.systems import records


def with_tokens(hits, tokens=100):
    made = records(hits)
    for record in made:
        record["retrieved"] = [{"id": item, "tokens": tokens} for item in record["retrieved"]]
    return made


def deep(n=20, depth=60):
    filler = [f"x{i}" for i in range(depth - 1)]
    return [
        {"query": f"q{i}", "retrieved": [*filler[:i], "t", *filler[i:]], "ground_truth": ["t"]}
        for i in range(n)
    ]


def shown(found, width=80):
    out = io.StringIO()
    console = Console(width=width, file=out, highlight=False)
    print_sweep(found, console)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_fits_and_holds_every_k_of_a_short_list(width):
    text = shown(sweep(records([1, 2, 3, 4, None, 6])), width)
    assert max(map(len, text.splitlines())) <= width
    head = next(
        at for at, line in enumerate(text.splitlines()) if line.split()[:2] == ["k", "precision"]
    )
    rows = text.splitlines()[head + 1 : head + 11]
    assert [line.split()[0] for line in rows] == [f"{k}" for k in range(1, 11)]


def test_a_long_list_shows_round_k_and_those_that_are_advised():
    found = sweep(deep())
    ks = [point.k for point in shown_points(found)]
    assert {1, 10, 50, 60, found.recall.best_guess, found.recall.safe_k, found.f1.k} <= set(ks)
    assert len(ks) < len(found.points) == 60
    assert "more k: --csv" in shown(found)


def test_advice_in_words():
    found = sweep(with_tokens([1, 1, 1, 2, 2, 3, 1, 5, 1, 1]), tokens=350, price=2.0)
    by_f1, by_tokens = advice(found)
    claim = leading_claim(found)
    assert claim.line == (
        "? k = 3 is the largest that fits 350 tokens: recall is 0.900 there "
        "(0.100 less than at k = 10, seen)"
    )
    assert claim.range == (
        "By recall alone: k = 5 finds all that k = 10 finds in these 10 queries (not shown to be "
        "safe). Up to 0.259 could be lost (95%). About 49 more queries would settle 0.05; until "
        "then k = 10 is safe."
    )
    assert by_f1.startswith("By F1: k = 1, where it is highest: ")
    assert by_f1.endswith("; recall is 0.600 there, 1.000 at k = 10.")
    assert by_tokens == (
        "By tokens: k = 3 fits 350 tokens: 300 on average; recall is 0.900 there, 1.000 at k = 10."
    )
    said = " ".join(remarks(found))
    assert "Start from recall" in said
    assert "those given with the results" in said
    assert "at 2 per million tokens" in said


def test_advice_at_the_ends():
    few = sweep(records([1] * 9))
    assert leading_claim(few) == few.recall.claim
    assert few.to_dict()["advice"]["recall"]["claim"]["seen"] == few.recall.claim.fact
    assert shown(few).count("finds all that") == 1
    assert leading_claim(sweep(records([1] * 60))).standing == "passed"
    assert "retrieve more and sweep again" in leading_claim(sweep(records([10] * 9))).next
    none = sweep(with_tokens([1] * 9), tokens=50)
    assert "not even one result fits 50 tokens" in advice(none)[-1]


def test_an_estimate_is_called_an_estimate():
    made = records([1, 2, 3])
    for record in made:
        record["retrieved"] = [{"id": item, "text": "some text"} for item in record["retrieved"]]
    assert any("estimated as characters / 4" in line for line in remarks(sweep(made)))


def test_undefined_queries_are_counted():
    made = [*records([1, 2]), {"query": "u", "retrieved": ["x"], "ground_truth": {}}]
    assert any("undefined for 1 of 3 queries" in line for line in remarks(sweep(made)))


def test_csv_has_every_k_at_full_precision():
    found = sweep(with_tokens([1, 2, None]), price=1.0)
    rows = list(csv.DictReader(io.StringIO(sweep_csv(found))))
    assert [int(row["k"]) for row in rows] == list(range(1, 11))
    assert float(rows[1]["recall"]) == found.at(2).values["recall"].mean
    assert float(rows[1]["recall_low"]) == found.at(2).values["recall"].interval.low
    assert (float(rows[1]["tokens_mean"]), float(rows[1]["cost_per_1000"])) == (200.0, 0.2)
