"""Every address, as nobody, as a judge and as a lead: what the table of roles says, and no more."""

import re
from typing import Any

import pytest

import calipers
from calipers.web.app import ADDRESSES
from calipers.web.sources import WebShelf
from tests.store.judged import BM25, TRUTH, pool
from tests.web.conftest import fill
from tests.web.served import FORM, served

QUERY = {"/compare": "?of={one}&of={other}", "/api/v1/compare": "?of={one}&of={other}"}
QUERY["/api/v1/trend"] = "?name=bm25"
BODIES: dict[str, dict[str, Any]] = {
    "/api/v1/pools/{number}/change": {"change": "reopen"},
    "/api/v1/pools/{number}/take": {},
    "/api/v1/people": {"name": "dora"},
    "/api/v1/pools": {"of": ["evals"], "queries": ["q1"]},
    "/api/v1/pools/{number}/labels": {"request": "walk-{who}", "item": 0, "grade": 1},
    "/api/v1/pools/{number}/settle": {"request": "walk-settle", "item": 0, "grade": 1},
}
MAY = {
    "judge": {"anybody", "judge", "member"},
    "done": {"anybody", "judge", "member", "done"},
    "other": {"anybody", "judge"},
}
OPEN_TO = {address: open_to for address, (open_to, _) in ADDRESSES.items()}


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A lead, a judge with work left, a judge without, and one of another pool."""
    store = str(tmp_path_factory.mktemp("roles") / "history.db")
    ids = fill(store)
    desk = pool(store, judges=("anna", "ben"), metric="recall@2", overlap=1.0)
    for item in desk.queue("ben"):
        desk.give("ben", item.position, 1)
    given = {"evals": calipers.read(ground_truth=TRUTH, run=BM25)}
    with served(WebShelf(store, given, ("anna", "ben"), lead="lea")) as running:
        running.pool = desk.content.number
        running.ids = {"one": ids["bm25"], "other": ids["dense"]}
        running.people = {
            "nobody": running.stranger(),
            "judge": running.visitor("anna"),
            "done": running.visitor("ben"),
            "lead": running.visitor("lea"),
            "other": running.stranger(),
        }
        running.people["other"].enter(f"/enter?token={running.doors.invite('zoe')}")
        yield running


def ask(team, who, line):
    method, path = line.split(" ")
    visitor, path = team.people[who], path.replace(":int", "")
    if path in ("/enter", "/leave") and method == "POST":
        return visitor.ask("POST", path, b"token=x", Content_Type=FORM)
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


@pytest.mark.parametrize("who", ["nobody", "other", "judge", "done", "lead"])
@pytest.mark.parametrize("line", sorted(set(OPEN_TO) - {"POST /leave", "POST /enter"}))
def test_an_address_answers_those_it_is_open_to_and_nobody_else(team, line, who):
    answer = ask(team, who, line)
    if who == "nobody" and OPEN_TO[line] != "anybody":
        assert answer.status == 401
    elif who in MAY and OPEN_TO[line] not in MAY[who]:
        assert answer.status == 403
    else:
        # Who is no judge of a pool has no queue in it.
        queue = who in ("lead", "other") and re.search(r"POST.*/labels$|/list$", line)
        assert answer.status in ((400,) if queue else (200, 201)), answer.text[:300]


def test_no_page_of_a_judge_names_a_run_a_rank_or_a_grade_of_others(team):
    anna = team.people["judge"]
    for path in ("/", "/pools", f"/pools/{team.pool}/judge", f"/api/v1/pools/{team.pool}/next"):
        answer = anna.get(path)
        assert answer.status == 200
        assert not re.search(r"bm25|dense|\brank|moved-run", answer.text), path
    label = {"request": "a" * 8, "item": 1, "grade": 2}
    given = anna.post(f"/api/v1/pools/{team.pool}/labels", label)
    assert given.status == 200
    assert not re.search(r"bm25|dense|\"rank|ben", given.text)


def test_a_judge_settles_nothing_also_not_by_the_way_of_labels(team):
    settled = {"request": "s" * 8, "item": 0, "kind": "settle", "grade": 1}
    answer = team.people["done"].post(f"/api/v1/pools/{team.pool}/labels", settled)
    assert answer.status == 400


def test_a_judge_who_is_done_sees_what_others_said_and_decides_nothing(team):
    text = team.people["done"].get(f"/pools/{team.pool}/conflicts").text
    assert "anna" in text
    assert "Settle with" not in text
    assert "Export" not in text


def test_a_lead_makes_a_link_while_everybody_stays_signed_in(team):
    lea, anna = team.people["lead"], team.people["judge"]
    made = lea.post("/api/v1/people", {"name": "carl"})
    assert made.status == 201
    carl = team.stranger()
    assert carl.enter(made.json()["link"]).status == 303
    assert carl.get("/pools").status == 200
    assert carl.get("/team").status == 403
    assert anna.get("/pools").status == 200
    assert lea.post("/api/v1/people", {"name": "a,b"}).status == 400
    # Made a lead, carl is one at once, and can be sent away again.
    lea.post("/api/v1/people", {"name": "carl", "role": "lead"})
    assert carl.get("/team").status == 200
    assert lea.post("/api/v1/people", {"name": "carl", "out": True}).status == 200
    assert carl.get("/pools").status == 401
    assert lea.post("/api/v1/people", {"name": "carl", "out": True}).status == 400
