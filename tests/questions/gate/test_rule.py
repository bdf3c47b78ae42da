"""The gate as a whole: what blocks it, and that bad input is never a pass."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from calipers.errors import InvalidInput, UnreadableFile
from calipers.questions.evaluate.settings import evaluate
from calipers.questions.gate.settings import gate, gate_save, gate_show

NOW = datetime(2024, 5, 1, tzinfo=UTC)
N = 12


def records(right, tag="a"):
    """``right`` of N queries find their target first, the others second."""
    return [
        {
            "id": f"q{n}",
            "query": f"question {n}",
            "retrieved": ["t", "x"] if n < right else ["x", "t"],
            "ground_truth": ["t"],
            "tags": {"type": tag if n % 2 else "b"},
        }
        for n in range(N)
    ]


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
    assert verdict.baseline == "main"
    assert verdict.baseline_saved == NOW


def test_a_significant_drop_fails(baseline):
    verdict = gate(records(0), baseline=baseline, now=NOW)
    assert not verdict.passed
    assert [check.metric for check in verdict.failed] == ["recall@1", "mrr"]
    assert {check.because for check in verdict.failed} == {
        ("significant loss", "over the 0.05 allowed")
    }
    assert (verdict.primary, verdict.confidence, verdict.allow) == ("recall@1", 0.95, 0.05)
    assert verdict.failed[0].worst[0].baseline == 1.0


def test_conditions_and_a_baseline_together(baseline):
    verdict = gate(records(N), require=["mrr >= 0.9", "mrr < 1"], baseline=baseline, now=NOW)
    assert [check.status for check in verdict.checks] == [
        "passed",
        "failed",
        "passed",
        "passed",
    ]


def test_metrics_choose_what_is_compared(baseline):
    verdict = gate(records(N), baseline=baseline, metrics="mrr", now=NOW)
    assert [check.metric for check in verdict.checks] == ["mrr"]
    with pytest.raises(InvalidInput, match=r"has no recall@5; it has .* Did you mean recall@1"):
        gate(records(N), baseline=baseline, metrics="recall@5", now=NOW)


def test_slices_are_compared_where_asked_for_and_mentioned_where_not(baseline):
    plain = gate(records(N), baseline=baseline, now=NOW)
    assert any("--by type" in note for note in plain.notes)
    sliced = gate(records(N), baseline=baseline, by="type", now=NOW)
    assert {check.slice for check in sliced.checks} == {None, "type=a", "type=b"}
    assert not sliced.notes
    with pytest.raises(InvalidInput, match="Did you mean type"):
        gate(records(N), baseline=baseline, by="typ", now=NOW)


def test_what_was_measured_otherwise_blocks_unless_overridden(baseline):
    other = records(N)
    other[0]["ground_truth"] = ["t", "new"]
    asked: list[tuple[Any, dict[str, Any], str]] = [
        (other, {}, "different ground truth"),
        (records(N), {"missing": "exclude"}, "missing"),
    ]
    for data, settings, sentence in asked:
        with pytest.raises(InvalidInput, match=f"{sentence}.*--anyway"):
            gate(data, baseline=baseline, now=NOW, **settings)
        verdict = gate(data, baseline=baseline, anyway=True, now=NOW, **settings)
        assert any(sentence in warning for warning in verdict.warnings)


def test_a_plain_result_is_a_baseline(tmp_path):
    path = tmp_path / "result.json"
    path.write_bytes(msgspec.json.encode(evaluate(records(N), metrics="mrr").to_dict()))
    assert gate(records(N), baseline=path, now=NOW).passed


def test_another_version_is_a_note_where_definitions_are_the_same(baseline):
    changed(baseline, calipers="0.0.1")
    verdict = gate(records(N), baseline=baseline, now=NOW)
    assert verdict.passed
    assert any("measured with Calipers 0.0.1" in note for note in verdict.notes)


def test_a_changed_definition_or_form_blocks(baseline):
    content = msgspec.json.decode(baseline.read_bytes())
    for one in content["metrics"]:
        one["definition"] = "something else"
    changed(baseline, metrics=content["metrics"])
    with pytest.raises(InvalidInput, match="mean different things by mrr"):
        gate(records(N), baseline=baseline, now=NOW)
    changed(baseline, schema=999)
    with pytest.raises(UnreadableFile, match="999"):
        gate(records(N), baseline=baseline, now=NOW, anyway=True)


@pytest.mark.parametrize(
    "kept",
    [
        {"name": "x"},
        {"name": "x", "saved": "yesterday"},
        3,
        {"name": "x", "saved": "2024-05-01T00:00:00"},
    ],
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


def test_what_was_named_decides_and_else_one_for_finding_and_one_for_order(tmp_path):
    path = tmp_path / "main.json"
    gate_save(records(N), to=path, now=NOW)

    def asked(**settings):
        return gate(records(N), baseline=path, now=NOW, **settings).asked

    assert asked() == ("recall@10", "ndcg@10")
    assert asked(primary="mrr") == ("mrr", "recall@10")
    assert asked(metrics="mrr,precision@10") == ("mrr", "precision@10")
    assert asked(metrics="mrr,recall@10") == ("recall@10", "mrr")


def test_questions_that_must_not_fail_need_no_baseline(tmp_path):
    assert gate(records(N), must="type=a").passed
    lost = [{**one, "retrieved": ["x"]} if one["id"] == "q1" else one for one in records(N)]
    verdict = gate(lost, must=["type=b", "type=a"])
    assert [check.status for check in verdict.checks] == ["passed", "failed"]
    assert verdict.claims[0].line == (
        "✗ 5 of 6 questions that must not fail find something (type=a, recall@10); question 1 "
        "does not."
    )
    ids = tmp_path / "ids.txt"
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
    kept = gate_show(baseline)
    assert (list(kept.scores), kept.accepted, kept.name) == (["mrr", "recall@1"], "cheaper", "main")
    better = gate(records(N), baseline=baseline, move_up=True, now=NOW)
    assert (better.moved_up, better.accepted) == (True, None)
    assert gate_show(baseline).accepted is None
    assert not gate(records(N), baseline=baseline, move_up=True, now=NOW).moved_up
    with pytest.raises(InvalidInput, match=r"give that as --baseline FILE.json"):
        gate(records(N), baseline=evaluate(records(N)), accept="why")


def test_an_accepted_loss_does_not_accept_a_condition_that_fails(baseline):
    assert gate(records(3), require="mrr >= 1", baseline=baseline, accept="why", now=NOW).stops


def test_a_metric_undefined_on_one_side_blocks(tmp_path):
    path = tmp_path / "main.json"
    found, lost = records(N), records(N)
    lost[0]["retrieved"] = ["x"]
    gate_save(found, to=path, metrics="first_rank", now=NOW)
    with pytest.raises(InvalidInput, match="first_rank is undefined for 1 query"):
        gate(lost, baseline=path, now=NOW)


def test_a_result_that_was_measured_before_can_be_judged(tmp_path):
    path = tmp_path / "result.json"
    scores = evaluate(records(N), metrics="mrr")
    path.write_bytes(msgspec.json.encode(scores.to_dict()))
    assert gate(path, require="mrr >= 1").passed
    assert gate(scores, require="mrr >= 1").passed
    with pytest.raises(InvalidInput, match="one or the other"):
        gate(path, require="mrr >= 1", run={"q": ["a"]})
    with pytest.raises(InvalidInput, match="have no 'recall@3'"):
        gate(path, require="recall@3 >= 1")


def test_the_combined_score_can_be_required_and_compared(tmp_path):
    weights = {"mrr": 0.5, "recall@1": 0.5}
    assert not gate(records(6), require="score >= 0.9", weights=weights).passed
    with pytest.raises(InvalidInput, match="no weights are given"):
        gate(records(N), require="score >= 0.5")
    path = tmp_path / "main.json"
    gate_save(records(N), to=path, weights=weights, metrics="mrr", now=NOW)
    verdict = gate(records(N), baseline=path, now=NOW)
    assert [check.metric for check in verdict.checks] == ["score", "recall@1", "mrr"]


def test_rel_reaches_conditions_and_baseline(tmp_path):
    graded = [{**one, "ground_truth": {"t": 1, "x": 2}} for one in records(N)]
    path = tmp_path / "main.json"
    gate_save(graded, to=path, metrics="mrr", rel=2, now=NOW)
    verdict = gate(graded, require="mrr >= 0.4", baseline=path, rel=2, now=NOW)
    assert {check.value for check in verdict.checks} == {0.5}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "nothing to check"),
        ({"require": "mrr"}, "cannot be read"),
        ({"require": "mrr >= 0.1 for typ=a"}, "Did you mean type"),
        ({"require": "mrr >= 0.1 for type=z"}, "No query has type=z"),
        ({"require": "mrr >= 0.1", "by": "type"}, "no baseline"),
        ({"require": "mrr >= 0.1", "confidence": 1}, "confidence is 1"),
        ({"require": "mrr >= 0.1", "allow": -1}, "loss that is allowed is -1"),
        ({"require": "mrr >= 0.1", "allow": float("nan")}, "loss that is allowed is nan"),
        ({"baseline": "nowhere.json"}, "no file"),
    ],
)
def test_bad_use_is_a_sentence(settings, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        gate(records(N), **settings)
