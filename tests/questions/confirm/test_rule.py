"""One look at the sealed queries: the answer, the budget, and everything that costs nothing."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import CalipersError, InvalidInput, WriteFailed
from calipers.questions.seal import ledger as ledger_file
from calipers.questions.seal.ledger import held, read_ledger

N = 60
TRUTH = [
    {
        "id": f"q{i}",
        "query": f"What is {i}?",
        "ground_truth": ["a"],
        "tags": {"intent": f"{i // 2}"},
    }
    for i in range(N)
]


def run(*lost, among=N):
    """Results that find everything but for every so many queries."""
    return {f"q{i}": ["b"] if any(i % one == 0 for one in lost) else ["a"] for i in range(among)}


@pytest.fixture
def sealed(tmp_path):
    path = tmp_path / "gt.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in TRUTH))
    return calipers.seal(path, looks=3).files["sealed"]


def book(sealed):
    return read_ledger(ledger_of(sealed))


def lines_of(path):
    return Path(path).read_text().splitlines()


def ledger_of(sealed):
    return Path(sealed.replace(".sealed.", ".ledger."))


def test_a_gain_is_confirmed_with_its_interval(sealed):
    found = calipers.confirm(run(2), run(), sealed=sealed)
    assert found.confirmed
    assert 0 < found.low < found.gain < found.high
    said = "▲ Confirmed on the 24 sealed queries: new is better than old: recall@10 is 1.000"
    assert found.claim.line.startswith(said)
    assert (found.look, found.left) == (1, 2)
    (look,) = book(sealed).looks
    assert (look.metric, look.new, look.old) == ("recall@10", "new", "old")


def test_runs_are_told_apart_without_fingerprints_being_asked_for(sealed):
    assert calipers.confirm(run(2), run(), sealed=sealed, fingerprints=False).confirmed


def test_what_is_not_confirmed_gives_no_number(sealed):
    for one in (run(7), run(13)):
        found = calipers.confirm(run(11), one, sealed=sealed)
        assert not found.confirmed
        assert found.claim.standing == "no clear difference"
        assert (found.gain, found.low, found.high) == (None, None, None)
        assert "0." not in found.claim.line.removesuffix("recall@10.")
    worse = calipers.confirm(run(), run(2), sealed=sealed)
    assert not worse.confirmed
    assert worse.gain is None


def test_nothing_about_single_queries_is_in_the_answer_or_the_ledger(sealed):
    found = calipers.confirm(run(2), run(), sealed=sealed)
    said = json.dumps(found.to_dict()) + str(found) + ledger_of(sealed).read_text()
    assert not any(f'"q{i}"' in said for i in range(N))
    answer = found.to_dict()
    texts = [one["text"] for one in answer.pop("sentences")]
    assert not any(isinstance(value, list) for value in answer.values())
    assert not [text for text in texts if "q0" in text]


def test_the_same_question_is_answered_again_and_spends_nothing(sealed):
    first = calipers.confirm(run(2), run(), sealed=sealed)
    before = ledger_of(sealed).read_bytes()
    again = calipers.confirm(run(2), dict(reversed(run().items())), sealed=sealed)
    assert ledger_of(sealed).read_bytes() == before
    assert again.repeated
    assert (again.gain, again.low, again.left) == (first.gain, first.low, 2)
    assert "nothing was spent" in str(again)
    calipers.confirm(run(2), run(), sealed=sealed, metric="mrr")
    assert book(sealed).left == 1


def test_a_spent_budget_says_how_to_renew_it_and_still_repeats(sealed):
    for lost in (2, 3, 4):
        last = calipers.confirm(run(lost), run(), sealed=sealed)
    assert "About 24 new queries renew it" in last.claim.next
    with pytest.raises(InvalidInput, match=r"is spent: 3 looks of 3 .* About 24 new queries"):
        calipers.confirm(run(5), run(), sealed=sealed)
    assert len(book(sealed).looks) == 3
    assert calipers.confirm(run(2), run(), sealed=sealed).repeated


def test_clusters_are_the_units(tmp_path):
    # Twelve clusters, each wholly won or lost: as queries 24 would show it, as clusters 12 do not.
    path = tmp_path / "gt"
    sealed = calipers.seal(TRUTH, cluster="intent", output=path).files["sealed"]
    intents = {json.loads(line)["tags"]["intent"] for line in lines_of(sealed)}
    lost = sorted(intents, key=int)[:7]
    old = {f"q{i}": ["b"] if f"{i // 2}" in lost else ["a"] for i in range(N)}
    assert not calipers.confirm(old, run(), sealed=sealed).confirmed
    (tmp_path / "plain").mkdir()
    plain = calipers.seal(TRUTH, output=tmp_path / "plain" / "gt").files["sealed"]
    asked = [json.loads(line)["id"] for line in lines_of(plain)][:14]
    old = {f"q{i}": ["b"] if f"q{i}" in asked else ["a"] for i in range(N)}
    assert calipers.confirm(old, run(), sealed=plain).confirmed


def test_a_metric_of_which_less_is_better(sealed):
    deep = {query: ["b", "c", *found] for query, found in run().items()}
    assert calipers.confirm(deep, run(), sealed=sealed, metric="first_rank").gain == 2.0
    assert not calipers.confirm(run(), deep, sealed=sealed, metric="first_rank").confirmed


def edited(old, new):
    """Change the sealed part in one place; with None its first query goes."""

    def change(path, kept):
        del kept
        text = path.read_text()
        path.write_text(text[text.index("\n") + 1 :] if old is None else text.replace(old, new, 1))

    return change


def nothing(path, kept):
    """Leave all files as they are."""


BROKEN: dict[str, tuple[Any, Any, str]] = {
    "a query taken out": (edited(None, None), {}, "was edited since"),
    "a target changed": (edited('{"a":1}', '{"z":1}'), {}, "was edited since it was sealed"),
    "a question changed": (edited("What is", "Who is"), {}, "was edited since it was sealed"),
    "a mark taken out": (edited('"calipers-seal"', '"x"'), {}, "was edited since it was sealed"),
    "no ledger": (lambda path, kept: kept.unlink(), {}, "ledger .* is missing, and without it"),
    "another ledger": (nothing, {"ledger": "other/gt.ledger.jsonl"}, "is of another set"),
    "a ledger that was scribbled on": (
        lambda path, kept: kept.write_text(kept.read_text() + "spent\n"),
        {},
        "no line of a ledger at .*gt.ledger.jsonl:2",
    ),
    "an empty ledger": (lambda path, kept: kept.write_text(""), {}, "no line of a ledger at .*:1"),
    "the open part": (nothing, {"sealed": "gt.open.jsonl"}, "is not sealed, so it can"),
    "no sealed part": (nothing, {"sealed": None}, "No sealed queries are named"),
    "a run that lacks queries": (nothing, {"new": run(among=50)}, r"new lacks \d+ sealed queries"),
    "the same run twice": (nothing, {"new": run(2)}, "old and new are the same run"),
    "several metrics": (nothing, {"metric": "recall@5,mrr"}, "2 metrics are asked about"),
    "scores": (
        nothing,
        {"new": calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": ["a"]})},
        "new was measured before",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_cannot_be_asked_is_said_and_spends_nothing(what, sealed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    calipers.seal(TRUTH, share=0.5, output=tmp_path / "other" / "gt")
    change, asked, said = BROKEN[what]
    kept = ledger_of(sealed)
    change(Path(sealed), kept)
    before = kept.read_bytes() if kept.exists() else None
    with pytest.raises(CalipersError, match=f"(?s){said}"):
        calipers.confirm(**{"old": run(2), "new": run(), "sealed": sealed, **asked})
    assert (kept.read_bytes() if kept.exists() else None) == before


def test_a_look_is_recorded_before_it_is_answered(sealed, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WriteFailed, match="a look that is not recorded is not given"):
        calipers.confirm(run(2), run(), sealed=sealed)


def test_a_line_that_a_crash_cut_short_was_never_answered(sealed):
    kept = ledger_of(sealed)
    whole = kept.read_bytes()
    kept.write_bytes(whole + b'{"look":1,"time":"2026')
    assert calipers.confirm(run(2), run(), sealed=sealed).look == 1
    assert kept.read_bytes().startswith(whole + b'{"look":1,')
    assert len(book(sealed).looks) == 1


def test_many_at_once_take_no_more_looks_than_there_are(sealed):
    def ask(lost):
        try:
            return calipers.confirm(run(lost), run(), sealed=sealed).look
        except InvalidInput:
            return None

    # Each opens the ledger for itself, so that they wait for one another as processes do.
    with ThreadPoolExecutor(4) as several:
        found = list(several.map(ask, (2, 3, 4, 5)))
    assert sorted(found, key=str) == [1, 2, 3, None]
    assert [one.look for one in book(sealed).looks] == [1, 2, 3]


def test_a_ledger_that_somebody_holds_is_waited_for(sealed, monkeypatch):
    monkeypatch.setattr(ledger_file, "PATIENCE_SECONDS", 0.0)
    with held(ledger_of(sealed)), pytest.raises(InvalidInput, match="Another process holds"):
        calipers.confirm(run(2), run(), sealed=sealed)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anything")
def test_a_ledger_that_cannot_be_written_gives_no_answer(sealed):
    ledger_of(sealed).chmod(0o444)
    with pytest.raises(WriteFailed, match="not recorded is not given"):
        calipers.confirm(run(2), run(), sealed=sealed)
