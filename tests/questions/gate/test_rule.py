"""The gate as a whole: what blocks it, what conditions check, and that bad input never passes."""

import json
import os
import threading
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from calipers import evaluate, gate, gate_save
from calipers.errors import InvalidInput, UnreadableFile
from calipers.questions.baseline import read_baseline
from tests import systems
from tests.command import calipers_command

NOW = datetime(2024, 5, 1, tzinfo=UTC)
N = 12


def records(right):
    """``right`` of N queries find their target first, the others second."""
    made = systems.records([1] * right + [2] * (N - right))
    return [{**one, "tags": {"type": "odd" if n % 2 else "even"}} for n, one in enumerate(made)]


@pytest.fixture
def baseline(tmp_path):
    path = tmp_path / "main.json"
    gate_save(records(N), to=path, metrics="mrr,recall@1", now=NOW)
    return path


def changed(path, **keys):
    content = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**content, **keys}))


def test_the_same_result_passes_and_says_that_nothing_changed(baseline):
    verdict = gate(records(N), baseline=baseline, now=NOW)
    assert verdict.passed
    assert [check.change.difference for check in verdict.checks] == [0.0, 0.0]
    assert (verdict.baseline, verdict.baseline_saved) == ("main", NOW)
    both = gate(records(N), require=["mrr >= 0.9", "mrr < 1"], baseline=baseline, now=NOW)
    assert [one.status for one in both.checks] == ["passed", "failed", "passed", "passed"]


def test_metrics_choose_what_is_compared(baseline):
    verdict = gate(records(N), baseline=baseline, metrics="mrr", now=NOW)
    assert [check.metric for check in verdict.checks] == ["mrr"]
    with pytest.raises(
        InvalidInput, match=r"no 'recall@5' in the baseline main; it has .* Did you mean recall@1"
    ):
        gate(records(N), baseline=baseline, metrics="recall@5", now=NOW)


def test_slices_are_compared_where_asked_for_and_mentioned_where_not(baseline):
    plain = gate(records(N), baseline=baseline, now=NOW)
    assert any("--by type" in note for note in plain.notes)
    sliced = gate(records(N), baseline=baseline, by="type", now=NOW)
    assert {check.slice for check in sliced.checks} == {None, "type=odd", "type=even"}
    assert not sliced.notes
    with pytest.raises(InvalidInput, match="Did you mean type"):
        gate(records(N), baseline=baseline, by="typ", now=NOW)


def test_what_was_measured_otherwise_blocks_unless_overridden(baseline):
    other = records(N)
    other[0]["ground_truth"] = ["target", "new"]
    asked: list[tuple[Any, dict[str, Any], str]] = [
        (other, {}, "different ground truth"),
        (records(N), {"missing": "exclude"}, "missing"),
    ]
    for data, settings, sentence in asked:
        with pytest.raises(InvalidInput, match=f"{sentence}.*anyway=True"):
            gate(data, baseline=baseline, now=NOW, **settings)
        verdict = gate(data, baseline=baseline, anyway=True, now=NOW, **settings)
        assert any(sentence in warning for warning in verdict.warnings)


def test_a_changed_definition_or_form_blocks_and_another_version_does_not(baseline):
    changed(baseline, calipers="0.0.1")
    assert gate(records(N), baseline=baseline, now=NOW).passed
    content = msgspec.json.decode(baseline.read_bytes())
    for one in content["metrics"]:
        one["definition"] = "something else"
    changed(baseline, metrics=content["metrics"])
    with pytest.raises(InvalidInput, match="the definition of mrr is"):
        gate(records(N), baseline=baseline, now=NOW)
    changed(baseline, schema=999)
    with pytest.raises(UnreadableFile, match="999"):
        gate(records(N), baseline=baseline, now=NOW, anyway=True)


@pytest.mark.parametrize(
    "kept",
    [{"name": "x"}, 3, {"name": "x", "saved": "2024-05-01T00:00:00"}],
)
def test_a_damaged_date_is_refused(baseline, kept):
    changed(baseline, baseline=kept)
    with pytest.raises(InvalidInput, match="does not say properly when"):
        gate(records(N), baseline=baseline, now=NOW)


def test_what_passes_is_what_exit_code_0_says(tmp_path):
    path = tmp_path / "main.json"
    gate_save(records(N), to=path, metrics="mrr", now=NOW)
    found = [gate(records(lost), baseline=path, now=NOW) for lost in (N, N - 1, 0)]
    assert [one.standing for one in found] == ["passed", "no clear difference", "failed"]
    assert [one.passed for one in found] == [not one.stops for one in found] == [True, True, False]
    assert found[1].to_dict()["passed"] is True


def test_questions_that_must_not_fail_need_no_baseline(tmp_path):
    lost = [{**one, "retrieved": ["x"]} if one["id"] == "q1" else one for one in records(N)]
    verdict = gate(lost, must=["type=even", "type=odd"])
    assert [check.status for check in verdict.checks] == ["passed", "failed"]
    ids = tmp_path / "ids.txt"
    for text, status in (("q1\nq2\n", "failed"), ("\n q2 \n", "passed")):
        ids.write_text(text)
        assert [check.status for check in gate(lost, must=str(ids)).checks] == [status]
    ids.write_text("q1\nq99\n")
    with pytest.raises(InvalidInput, match="'q99', which no question has"):
        gate(lost, must=str(ids))
    with pytest.raises(InvalidInput, match="is not TAG=VALUE"):
        gate(lost, must="important")
    with pytest.raises(InvalidInput, match="No query has type=z"):
        gate(lost, must="type=z")


def test_a_new_baseline_holds_what_the_old_one_held(baseline):
    worse = gate(records(3), baseline=baseline, metrics="mrr", accept="cheaper", now=NOW)
    assert (worse.standing, worse.stops, worse.accepted) == ("failed", False, "cheaper")
    kept = read_baseline(baseline)
    assert (list(kept.scores), kept.accepted, kept.name) == (["mrr", "recall@1"], "cheaper", "main")
    better = gate(records(N), baseline=baseline, move_up=True, now=NOW)
    assert (better.moved_up, better.accepted) == (True, None)
    assert read_baseline(baseline).accepted is None
    assert not gate(records(N), baseline=baseline, move_up=True, now=NOW).moved_up
    with pytest.raises(InvalidInput, match=r'give both: baseline="FILE.json"'):
        gate(records(N), baseline=evaluate(records(N)), accept="why")


def test_an_accepted_loss_does_not_accept_a_condition_that_fails(baseline):
    assert gate(records(3), require="mrr >= 1", baseline=baseline, accept="why", now=NOW).stops


def test_a_result_that_was_measured_before_can_be_judged_and_be_a_baseline(tmp_path):
    path = tmp_path / "result.json"
    scores = evaluate(records(N), metrics="mrr")
    path.write_bytes(msgspec.json.encode(scores.to_dict()))
    assert gate(path, require="mrr >= 1").passed
    assert gate(scores, require="mrr >= 1").passed
    assert gate(records(N), baseline=path, now=NOW).passed
    with pytest.raises(InvalidInput, match="one or the other"):
        gate(path, require="mrr >= 1", run={"q": ["a"]})
    with pytest.raises(InvalidInput, match="have no 'recall@3'"):
        gate(path, require="recall@3 >= 1")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "nothing to check"),
        ({"require": "mrr"}, "cannot be read"),
        ({"require": "mrr >= 0.1 for typ=odd"}, "Did you mean type"),
        ({"require": "mrr >= 0.1 for type=z"}, "No query has type=z"),
        ({"require": "mrr >= 0.1", "by": "type"}, "no baseline"),
        ({"require": "mrr >= 0.1", "confidence": 1}, "confidence is 1"),
        ({"require": "mrr >= 0.1", "allow": -1}, "loss that is allowed is -1.*such as 0.02"),
        ({"require": "mrr >= 0.1", "allow": float("nan")}, "loss that is allowed is nan"),
        ({"baseline": "nowhere.json"}, "no file"),
    ],
)
def test_bad_use_is_a_sentence(settings, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        gate(records(N), **settings)


def recorded(n=20, **more):
    return [
        {
            "query": f"q{i}",
            "ground_truth": ["a"],
            "retrieved": ["a", "b"],
            "tags": {"type": "odd" if i % 2 else "even"},
            **more,
        }
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("text", "status", "worst"),
    [
        ("recall@1 >= 0.5", "passed", []),
        ("recall@1 > 0.5", "failed", ["q1", "q11", "q3", "q5", "q7"]),
        ("recall@1 < 0.5", "failed", ["q0", "q10", "q2", "q4", "q6"]),
        ("recall@1 >= 0.9 for type=even", "passed", []),
        ("mrr <= 0.6 for type=even", "failed", ["q0", "q10", "q2", "q4", "q6"]),
        ("mrr >= 0.6 for type=odd", "failed", ["q1", "q11", "q3", "q5", "q7"]),
    ],
)
def test_conditions_are_about_means_of_slices_and_name_the_worst_queries(text, status, worst):
    one, other = recorded(12), recorded(12, retrieved=["b", "a"])
    (check,) = gate([other[i] if i % 2 else one[i] for i in range(12)], require=text).checks
    assert (check.status, [one.query for one in check.worst]) == (status, worst)


def test_what_is_undefined_for_every_query_is_no_pass():
    unanswerable = [{"query": "q", "retrieved": ["a"], "ground_truth": {}}]
    with pytest.raises(InvalidInput, match="cannot be decided"):
        gate(unanswerable, require="recall@10 >= 0.1")


def test_a_gate_names_every_leak_of_its_slice_and_within_k(tmp_path):
    data = [
        {
            "query": "Who pays?",
            "id": f"q{i}",
            "retrieved": ["a", "secret"] if i < 7 else ["a"],
            "ground_truth": ["a"],
            "forbidden": ["secret", "other"],
            "tags": {"tenant": "x" if i % 2 else "y"},
        }
        for i in range(10)
    ]
    asked = ["leak_rate@10 == 0", "leak@2 == 0 for tenant=x", "leak_rate@1 == 0"]
    whole, part, first = gate(data, require=asked).checks
    assert whole.value == 0.7
    assert [(one.query, one.rank, one.forbidden) for one in whole.leaks] == [
        (f"q{i}", 2, "secret") for i in range(7)
    ]
    assert [one.query for one in part.leaks] == ["q1", "q3", "q5"]
    assert (first.status, first.leaks) == ("passed", ())
    path, summary = tmp_path / "evals.jsonl", tmp_path / "summary.md"
    path.write_text("".join(json.dumps(one) + "\n" for one in data))
    done = calipers_command("gate", str(path), "--require", asked[0], "--markdown", str(summary))
    assert (done.code, done.out.count("rank 2: secret")) == (1, 7)
    assert summary.read_text().count("rank 2: secret") == 7


def test_a_condition_is_about_the_number_that_an_evaluation_shows():
    found = [*recorded(9), *recorded(1, retrieved=["b"], query="none")]
    scores = evaluate(found, metrics="num_ret,num_rel_ret")
    checks = gate(found, require=["num_ret >= 99", "num_rel_ret >= 9"]).checks
    assert [(one.status, one.value, one.interval) for one in checks] == [
        (status, scores[name].mean, scores[name].interval)
        for status, name in (("failed", "num_ret"), ("passed", "num_rel_ret"))
    ]
    stricter = evaluate(recorded(), metrics="recall@1", rel=1)
    [check] = gate(stricter, require="recall@1 >= 1").checks
    assert (check.status, check.value) == ("passed", 1.0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes with a name")
def test_a_baseline_in_a_pipe_is_read_once(tmp_path):
    saved, pipe = tmp_path / "main.json", tmp_path / "pipe"
    gate_save(records(6), to=saved)
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(saved.read_bytes(),), daemon=True).start()
    assert read_baseline(pipe).name == "main"


def _a_loss(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {
        name: [
            {"query": f"q{n}", "retrieved": [*first, "x", "y"], "ground_truth": ["a"]}
            for n in range(12)
        ]
        for name, first in (("old", ["a"]), ("new", ["z"]), ("late", ["z", "z2", "z3", "a"]))
    }
    rows["new"][0] = rows["old"][0]
    for name, some in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, some)))
    calipers_command("gate", "save", "old.jsonl", "-k", "3,10", "-o", "main.json")


@pytest.mark.parametrize(
    ("run", "more", "why"),
    [
        ("new", (), "calipers misses new.jsonl --worse-than main.json"),
        ("new", ("-k", "3"), "calipers misses new.jsonl --worse-than main.json -k 3"),
        ("late", (), None),
    ],
)
def test_a_build_that_finds_less_is_told_which_command_says_why(
    tmp_path, monkeypatch, run, more, why
):
    _a_loss(tmp_path, monkeypatch)
    printed = calipers_command("gate", f"{run}.jsonl", "-b", "main.json", *more)
    assert printed.code == 1
    assert "Is the loss meant?" in printed.out
    told = [line for line in printed.out.splitlines() if line.startswith("Why: ")]
    assert told == ([] if why is None else [f"Why: {why}"])
    if why is not None:
        found = calipers_command(*why.split()[1:])
        assert found.code == 0
        assert found.out.startswith("11 queries find less than in main: 11 of 11 targets are not")


def test_k_chooses_among_the_metrics_of_the_baseline(tmp_path, monkeypatch):
    _a_loss(tmp_path, monkeypatch)
    late = calipers_command("gate", "late.jsonl", "-b", "main.json", "-k", "3")
    assert "recall@3 fell from 1.000 to 0.000" in late.out
    assert "@10" not in late.out
    refused = calipers_command("gate", "late.jsonl", "-b", "main.json", "-k", "7")
    assert refused.code == 2
    assert "has no metric at k = 7; its k are 3, 10" in refused.err
