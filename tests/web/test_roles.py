"""Every address, as nobody, as a judge and as the owner: what the table says, and no more."""

import re
from typing import Any

import pytest

import calipers
from calipers.web.app import ADDRESSES
from tests.store.judged import BM25, TRUTH, pool
from tests.web.conftest import fill
from tests.web.served import served, shelf_of

QUERY = {
    "/compare": "?of={one}&of={other}&open=q0",
    "/evaluations/{reference}": "?open=0",
    "/": "?name=bm25",
}
BODIES: dict[str, dict[str, Any]] = {
    "/api/v1/pools/{number}/change": {"change": "reopen"},
    "/api/v1/pools/{number}/take": {},
    "/api/v1/pools": {"of": ["evals"], "queries": ["q1"]},
    "/api/v1/pools/{number}/labels": {"request": "walk-{who}", "item": 0, "grade": 1},
    "/api/v1/pools/{number}/settle": {"request": "walk-settle", "item": 0, "grade": 1},
}
OPEN_TO = {address: open_to for address, (open_to, _) in ADDRESSES.items()}


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """The owner, a judge and a stranger."""
    store = str(tmp_path_factory.mktemp("roles") / "history.db")
    ids = fill(store)
    desk = pool(store, metric="recall@2")
    desk.give("ben", 2, 1)
    given = {"evals": calipers.read(ground_truth=TRUTH, run=BM25)}
    with served(shelf_of(store, "anna", "ben", owner="lea", **given)) as running:
        running.pool = desk.content.number
        running.ids = {"one": ids["bm25"], "other": ids["dense"]}
        running.people = {
            "nobody": running.stranger(),
            "judge": running.visitor("anna"),
            "owner": running.visitor("lea"),
        }
        yield running


def ask(team, who, line):
    method, path = line.split(" ")
    visitor, path = team.people[who], path.replace(":int", "")
    there = (path + QUERY.get(path, "")).format(
        number=team.pool, reference="evals", name="web.css", **team.ids
    )
    if method == "GET":
        return visitor.get(there)
    body = {
        key: value.format(who=who) if isinstance(value, str) else value
        for key, value in BODIES[path].items()
    }
    return visitor.post(there, body)


@pytest.mark.parametrize("who", ["nobody", "judge", "owner"])
@pytest.mark.parametrize("line", sorted(set(OPEN_TO) - {"POST /leave", "POST /enter"}))
def test_an_address_answers_those_it_is_open_to_and_nobody_else(team, line, who):
    answer = ask(team, who, line)
    if line == "GET /enter":
        assert answer.status == (403 if who == "nobody" else 200)
    elif who == "nobody" and OPEN_TO[line] != "anybody":
        assert answer.status == 401
        assert "open your link" in answer.text
    elif who == "judge" and OPEN_TO[line] == "owner":
        assert answer.status == 403
    else:
        assert answer.status in (200, 201), answer.text[:300]
        if answer.headers["content-type"].startswith("text/html"):
            assert "<h1" in answer.text  # also without scripts
            assert not line.endswith("/judge") or "Judging needs JavaScript" in answer.text
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", answer.text)


def test_no_page_of_a_judge_names_a_run_a_rank_or_a_grade_of_others(team):
    anna, api = team.people["judge"], f"/api/v1/pools/{team.pool}"
    label = {"request": "a" * 8, "item": 2, "grade": 2}
    answers = [anna.get(path) for path in ("/", "/pools", f"/pools/{team.pool}/judge")]
    answers += [anna.get(f"{api}/item?item=2"), anna.get(f"/pools/{team.pool}/mine")]
    answers += [anna.post(f"{api}/take", {}), anna.post(f"{api}/labels", label)]
    assert (answers[3].json()["mine"], answers[3].json()["note"]) == (None, None)
    for answer in answers:
        assert answer.status == 200
        assert not re.search(r"bm25|dense|\brank|ben", answer.text)


def test_a_judge_settles_nothing_also_not_by_the_way_of_labels(team):
    final = {"request": "s" * 8, "item": 0, "kind": "final", "grade": 1}
    assert team.people["judge"].post(f"/api/v1/pools/{team.pool}/labels", final).status == 400
