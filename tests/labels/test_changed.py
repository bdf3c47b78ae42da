"""May I switch? Only what differs is labelled, and the answer is over all questions."""

import json
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.labels.changed import compare_first, switch_at
from calipers.model.labels import SwitchDraw
from calipers.model.run import Run
from tests.command import calipers_command, refused
from tests.questions.samples import write_lines
from tests.web.served import served, shelf_of

N = 60


def runs(n: int = N, every: int = 2) -> dict[str, dict[str, list[str]]]:
    """An old and a new run: in some questions, one of the first three results is another."""
    old = {f"What is {i}?": [f"d{i}", f"e{i}", f"f{i}", f"g{i}"] for i in range(n)}
    new = {
        query: [f"d{i}", f"n{i}", f"f{i}", f"e{i}"] if i % every == 0 else items
        for i, (query, items) in enumerate(old.items())
    }
    return {"old": old, "new": new}


def changed(how: dict[str, Any], k: int = 3, truth: Any = None) -> Any:
    from calipers.io.load import load_ground_truth, load_run

    loaded: dict[str, Run] = {name: load_run(one, name) for name, one in how.items()}
    return compare_first(loaded, k, 0, None if truth is None else load_ground_truth(truth))


def switched(grade: Any, questions: int, how: Any = None, allow: float = 0.2) -> Any:
    """What labels of the first questions that are drawn say."""
    how = how or runs()
    found = changed(how)
    labelled = found.start[questions]
    grades = [grade(one.item[0]) if at < labelled else None for at, one in enumerate(found.rows)]
    draw = SwitchDraw(old="old", new="new", queries=len(how["old"]), allow=allow)
    return switch_at(found, grades, draw, 3)


def pool(tmp_path: Path, how: Any = None) -> Any:
    store = str(tmp_path / "labels.db")
    return calipers.labels_pool(
        "switch", how or runs(), changed=True, depth=3, scale="yes/no", store=store
    )


def test_only_what_one_of_the_two_has_is_labelled() -> None:
    found = changed(runs())
    assert found.changed == 30
    # The fourth result of the old run is the second of the new: at k = 3 only "n" and "e" differ.
    sides = zip(found.rows, found.side.tolist(), strict=True)
    assert {(one.item[0], side) for one, side in sides} == {("e", -1.0), ("n", 1.0)}
    assert set(found.sizes) == {1.0}
    # At k = 4 the old result is in both, and the last one of the old run is not.
    assert {one.item[0] for one in changed(runs(), 4).rows} == {"g", "n"}


def test_the_draw_depends_on_the_seed_alone() -> None:
    backwards = {name: dict(reversed(list(results.items()))) for name, results in runs().items()}
    first, second = changed(runs()), changed(backwards)
    assert [one.pair for one in first.rows] == [one.pair for one in second.rows]


def test_labels_given_before_are_used() -> None:
    truth = [
        {"query": f"What is {i}?", "ground_truth": [{"id": f"e{i}", "grade": 1},
                                                     {"id": f"n{i}", "grade": 0}]}
        for i in range(0, 20, 2)
    ]  # fmt: skip
    found = changed(runs(), truth=truth)
    assert (found.known, found.labelled_before, len(found.sizes)) == (-10.0, 20, 20)
    by_machine = [{**one, "tags": {"judged_by": "machine:small"}} for one in truth]
    assert changed(runs(), truth=by_machine).labelled_before == 0


def chunks(size: int, shift: int = 0) -> list[dict[str, Any]]:
    """Each question finds the beginning of its document, in chunks of one size."""

    def chunk(i: int, j: int) -> dict[str, Any]:
        place = {"start": shift + j * size, "end": shift + (j + 1) * size}
        return {"id": f"doc{i}#{j}", "text": f"{size} {i} {j}", "document": f"doc{i}", **place}

    return [{"query": f"What is {i}?", "retrieved": [chunk(i, 0), chunk(i, 1)]} for i in range(12)]


def test_overlapping_chunks_are_one_result() -> None:
    # 0-100, 100-200 beside 0-200, 200-400: the last alone is new.
    found = changed({"old": chunks(100), "new": chunks(200)})
    assert {(one.start, one.end) for one in found.rows} == {(200, 400)}
    assert found.by_place
    # Ids that mean other chunks are not taken for the same.
    assert changed({"old": chunks(100), "new": chunks(100, 1000)}).changed == 12


def test_a_safe_switch() -> None:
    assert "first look takes 20 labels for 10" in switched(lambda item: 1, 0).claim.fact
    found = switched(lambda item: 1, 9)
    assert (found.labelled, found.counted, found.verdict) == (9, None, "open")
    found = switched(lambda item: 1, 24)
    assert (found.labelled, found.counted) == (24, 20)
    assert (found.verdict, found.claim.standing) == ("safe", "passed")
    assert found.claim.fact == (
        f"Safe to switch: new loses at most {-found.low:.2f} relevant results in the first 3 per "
        "query (95%), after 20 of 60 questions."
    )
    assert -0.2 <= found.low < 0 < found.high


def test_a_loss_is_heard() -> None:
    found = switched(lambda item: float(item == "e"), 10)
    assert (found.verdict, found.claim.standing) == ("loss", "failed")
    assert found.claim.fact.startswith("Do not switch: new loses ")
    assert found.high < 0


def test_what_is_open_says_how_many_more() -> None:
    found = switched(lambda item: 1, 10, allow=0.05)
    assert (found.verdict, found.claim.standing) == ("open", "no clear difference")
    assert (found.more_queries, found.more_results) == (10, 20)
    assert "The next look comes after 10 more questions (20 labels)." in (found.claim.next or "")


def test_a_loss_that_is_allowed_has_no_tick() -> None:
    found = switched(lambda item: float(item == "e"), 3, runs(every=20), 0.5)
    assert (found.low, found.verdict, found.claim.standing) == (-0.05, "small loss", "worse")


def test_every_label_gives_the_exact_difference() -> None:
    found = switched(lambda item: float(item == "n"), 30)
    assert (found.low, found.difference, found.high) == (0.5, 0.5, 0.5)
    assert "by labels of all that changed" in found.claim.fact
    # Nothing is estimated any more, so nothing is said of an interval.
    assert "interval" not in str(found.document())
    assert "The interval holds at all looks" in str(switched(lambda item: 1, 24).document())
    assert "interval" not in str(switched(lambda item: 1, 0, runs(10)).document())


def test_a_pool_of_what_differs(tmp_path: Path) -> None:
    desk = pool(tmp_path, runs(12))
    assert [one.position for one in desk.queue("me")] == list(range(12))
    for item in range(10):
        desk.give("me", item=item, grade=1)
    desk.give("me", item=10, kind="skip")
    found = desk.switch()
    assert (found.labelled, found.counted) == (5, None)
    assert "was skipped" in found.claim.next
    desk.give("me", item=10, grade=0)
    desk.give("me", item=11, grade=0)
    assert desk.state()
    store = str(tmp_path / "labels.db")
    said: Any = calipers.labels_sample(pool="switch", store=store)
    assert (said.verdict, said.difference, said.queries) == ("safe", 0.0, 12)
    assert "new is as good: as many relevant results in the first 3" in said.claim.fact
    with pytest.raises(InvalidInput, match="drawn at random"):
        desk.enlarge([desk.items[0].label])


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"old": runs()["old"]}, "name two"),
        ({"old": runs()["old"], "new": runs()["old"]}, "Safe to switch: new and old have the same"),
        ({"old": runs()["old"], "new": {"Else?": ["a"]}}, "different questions"),
        (
            {"old": runs()["old"], "new": {q: ["a", "b"] for q in runs()["old"]}},
            "share no result",
        ),
    ],
    ids=["one", "same", "other questions", "other ids"],
)
def test_runs_that_cannot_be_compared_get_a_sentence(
    how: Any, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        pool(tmp_path, how)


def test_a_file_to_label_and_what_it_says(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name, results in runs().items():
        records = [{"query": q, "retrieved": items} for q, items in results.items()]
        write_lines(f"{name}.jsonl", records)
    asked = ("labels", "draft", "old.jsonl", "new.jsonl", "--changed", "-k", "3")
    done = calipers_command(*asked, "-o", "label.jsonl")
    assert "30 of 60 questions changed" in done.out
    assert "Written to label.jsonl." in done.out
    rows = [json.loads(line) for line in Path("label.jsonl").read_text().splitlines()]
    assert len(rows) == 60
    assert not {"rank", "score", "run"} & rows[0].keys()

    def said(name: str, grades: list[int | None], *more: str, judge: str = "anna") -> Any:
        pairs = zip(rows, grades, strict=False)
        write_lines(name, [{**row, "grade": at, "judge": judge} for row, at in pairs])
        return json.loads(calipers_command(*asked, "--filled", name, *more, "--json").out)["switch"]

    found = said("filled.jsonl", [1] * 50)
    assert (found["labelled"], found["counted"], found["verdict"]) == (25, 20, "safe")
    losing = [int(row["item"][0] == "e") for row in rows[:20]]
    assert said("bad.jsonl", losing)["verdict"] == "loss"
    # A gap, a tie and a machine's grades stop the count, and it is said.
    ways = (
        said("gap.jsonl", [1, None, *[1] * 48]),
        said("tie.jsonl", [0] * 50, "--filled", "filled.jsonl", judge="ben"),
        said("machine.jsonl", [1] * 50, judge="machine:small"),
    )
    for one in ways:
        assert (one["labelled"], one["verdict"]) == (0, "open")
        assert f"question {rows[0]['query_id']!r} has no grade of a person" in one["waiting"]
    assert "50 grades that somebody filled in" in refused(*asked, "-o", "filled.jsonl")
    assert "without --changed" in refused(*asked[:4], "--filled", "filled.jsonl")
    write_lines("other.jsonl", [{**rows[0], "item": "else", "grade": 1}])
    assert "no result in which these runs differ" in refused(*asked, "--filled", "other.jsonl")


def test_the_progress_says_when_the_first_result_comes(tmp_path: Path) -> None:
    switch = pool(tmp_path).switch()
    first = switch.looks[0]
    assert switch.line == f"0 questions labelled so far. The first result comes after {first}."


def test_the_page_of_the_pool_says_it_and_that_of_the_judge_does_not(tmp_path: Path) -> None:
    desk = pool(tmp_path, runs(4))
    number = desk.content.number
    for item, one in enumerate(desk.items):
        desk.give("me", item=item, grade=float((one.label.item or "")[0] == "e"))
    with served(shelf_of(str(tmp_path / "labels.db"), "me")) as running:
        visitor = running.visitor("me")
        page = visitor.get(f"/pools/{number}").text
        assert "</span> Do not switch: new loses 0.50 relevant results" in page
        assert "calipers serve" not in page
        said = visitor.post(f"/api/v1/pools/{number}/take", {}).text
        assert "you may stop" in said
        assert "loses" not in said


def test_many_that_lose_a_little_are_counted_beside_a_mean_that_gains() -> None:
    """Ten questions lose one result, and one gains twenty."""
    old = {f"What is {i}?": [f"d{i}-{j}" for j in range(20)] for i in range(60)}
    new = {query: list(items) for query, items in old.items()}
    for i in range(10):
        new[f"What is {i}?"][0] = f"n{i}-0"
    new["What is 10?"] = [f"n10-{j}" for j in range(20)]
    found = changed({"old": old, "new": new}, k=20)

    def grade(item: str) -> float:
        return float(item.startswith("n10-" if "10-" in item else "d"))

    draw = SwitchDraw(old="old", new="new", queries=60, allow=0.5)
    switch = switch_at(found, [grade(one.item or "") for one in found.rows], draw, 20)
    assert switch.claim.standing == "worse"
    assert switch.claim.fact == (
        "new is worse in 10 of 11 questions, better in 1: +0.17 relevant results in the first 20 "
        "per query, by labels of all that changed in 60 questions."
    )
