"""The same data gets the same p, interval and standing in every command and face."""

import json

import pytest

import calipers
from calipers.present.terminal import as_text
from tests.command import calipers_command


def records(found):
    return [
        {
            "id": f"q{at:02d}",
            "query": f"question {at}",
            "ground_truth": ["t", "u"],
            "retrieved": ranking,
        }
        for at, ranking in enumerate(found)
    ]


BOTH, ONE, LATE, NONE = ["t", "u", "x"], ["t", "x", "y"], ["x", "y", "u"], ["x", "y", "z"]
PAIRS = {
    "nine worse": ([BOTH] * 30, [ONE] * 5 + [LATE] * 4 + [BOTH] * 21),
    "mixed": ([BOTH] * 12 + [ONE] * 18, [ONE] * 7 + [BOTH] * 15 + [LATE] * 8),
    "better": ([NONE] * 8 + [BOTH] * 12, [BOTH] * 20),
    "three worse": ([BOTH] * 40, [LATE] * 3 + [BOTH] * 37),
}


@pytest.mark.parametrize("name", PAIRS)
def test_compare_gate_alarm_and_json_give_the_same_digits(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, now = (records(one) for one in PAIRS[name])
    for file, data in (("before", before), ("now", now)):
        (tmp_path / f"{file}.json").write_text(json.dumps(data))
    compared = calipers.compare({"before": before, "now": now})
    gated = calipers.gate(now, baseline=calipers.evaluate(before))
    printed = json.loads(calipers_command("compare", "before.json", "now.json", "--json").out)
    rows = {one["metric"]: one for one in printed["differences"]}
    for check in gated.checks:
        found, row = compared.difference("now", check.metric), rows[check.metric]
        change = check.change
        assert (change.p_value, change.p_adjusted) == (found.p_value, found.p_adjusted)
        assert (row["p_value"], row["p_adjusted"]) == (found.p_value, found.p_adjusted)
        assert change.interval == found.interval
        assert (change.standing, row["verdict"]) == (found.verdict, found.verdict)
        if found.verdict == "worse":
            assert check.status == "failed"
        if check.status == "passed":
            assert change.loss <= 0, "no tick stands beside a loss"
    assert gated.passed == (not gated.stops)
    assert as_text(gated.document())[0] == {"passed": "✓", "failed": "✗"}.get(gated.standing, "~")


def test_exchanging_the_systems_exchanges_the_signs():
    for before, now in PAIRS.values():
        there = calipers.compare({"a": records(before), "b": records(now)})
        back = calipers.compare({"b": records(now), "a": records(before)})
        for one in there.deciding:
            other = back.difference("a", one.metric)
            assert (one.p_value, one.p_adjusted) == (other.p_value, other.p_adjusted)
            assert one.difference == -other.difference
            turned = {"better": "worse", "worse": "better"}
            assert other.verdict == turned.get(one.verdict, one.verdict)
