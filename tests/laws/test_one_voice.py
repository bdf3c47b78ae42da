"""The same data gets the same p, interval and standing in every command and face."""

import html
import json
import warnings
from pathlib import Path

import pytest

import calipers
from calipers.model.claim import PRINTED_AS_ONE, p_text
from calipers.present.terminal import as_text
from calipers.pytest_plugin import Measured
from calipers.questions.compare.paired_claim import in_words
from tests.command import calipers_command
from tests.web.served import served, shelf_of


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
    "eight of eighty won": ([NONE] * 8 + [BOTH] * 72, [BOTH] * 80),
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
        assert (change.verdict, row["verdict"]) == (found.verdict, found.verdict)
        if found.verdict == "worse":
            assert check.status == "failed"
        if check.status == "passed":
            assert check.loss <= 0, "no tick stands beside a loss"
    for data in (before, now):
        calipers.save(calipers.evaluate(data), "nightly", store="h.db")
    watched = calipers.history_alarm("nightly", store="h.db")
    assert len(watched.checks) == len(compared.deciding) == 2
    for watch in watched.checks:
        found, change = compared.difference("now", watch.metric), watch.change
        assert (change.p_value, change.p_adjusted) == (found.p_value, found.p_adjusted)
        assert (change.interval, change.verdict) == (found.interval, found.verdict)
    first = watched.checks[0].change
    moved = first.wins + first.losses and first.p_adjusted < PRINTED_AS_ONE
    assert not moved or f"({p_text(first.p_adjusted)})" in as_text(watched.document())
    assert gated.passed == (not gated.stops)
    assert as_text(gated.document())[0] == {"passed": "✓", "failed": "✗"}.get(gated.standing, "~")


def test_pytest_and_the_web_print_the_digits_of_compare(tmp_path):
    store = str(tmp_path / "h.db")
    chosen = [PAIRS["nine worse"], PAIRS["mixed"]]
    for at, pair in enumerate(chosen):
        for name, found in zip((f"before{at}", f"now{at}"), pair, strict=True):
            calipers.save(calipers.evaluate(records(found)), name, store=store)
    with served(shelf_of(store, "anna")) as running:
        me = running.visitor("me")
        for at, (before, now) in enumerate(chosen):
            names = (f"before{at}", f"now{at}")
            both = dict(zip(names, map(records, (before, now)), strict=True))
            compared = calipers.compare(both)
            gated = calipers.gate(records(now), baseline=calipers.evaluate(records(before)))
            page = html.unescape(me.get(f"/compare?of={names[0]}&of={names[1]}").text)
            for one in compared.deciding:
                p = one.p_value if one.p_adjusted is None else one.p_adjusted
                assert p_text(p).removeprefix("p = ").removeprefix("p ") in page
                assert one.interval is None or (in_words(one.interval) or "") in page
            assert gated.claims[0].range in (None, *(one.range for one in compared.claims))
            fixture = Measured(calipers.read(records(now)))
            said = ""
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                try:
                    fixture.not_worse_than(calipers.evaluate(records(before)))
                except AssertionError as error:
                    said = str(error)
            said += " ".join(str(one.message) for one in warned)
            assert gated.passed == ("✗" not in said)
            words = " ".join(said.split())
            assert gated.standing == "passed" or gated.claims[0].fact in words
            if gated.stops and gated.claims[0].range:
                assert gated.claims[0].range in words


def test_confirm_has_the_p_and_the_words_of_compare(tmp_path):
    before, now = ([ONE] * 30 + [BOTH] * 30, [BOTH] * 60)
    truth = [
        {"id": f"q{at:02d}", "query": f"question {at}", "ground_truth": ["t", "u"]}
        for at in range(60)
    ]
    sealed = calipers.seal(truth, output=tmp_path / "gt").files["sealed"]
    kept = {json.loads(line)["id"] for line in Path(sealed).read_text().splitlines()}
    runs = [{one["id"]: one["retrieved"] for one in records(found)} for found in (before, now)]
    found = calipers.confirm(*runs, sealed=sealed)
    part = {one["id"]: one["ground_truth"] for one in truth if one["id"] in kept}
    compared = calipers.compare(
        {"old": runs[0], "new": runs[1]}, part, metrics="recall@10", confidence=1 - found.error
    )
    [one] = compared.differences
    assert (found.p, found.gain) == (one.p_value, one.difference)
    assert (found.low, found.high) == (one.interval.low, one.interval.high)
    assert found.claim.fact.endswith(one.claim.fact)
    assert found.claim.range == one.claim.range
