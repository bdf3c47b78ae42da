"""The API serves what the commands print, and what OpenAPI says."""

import json
import re
from pathlib import Path

import pytest

import calipers
from calipers.web import api, api_team
from calipers.web.app import ADDRESSES
from tests.command import calipers_command
from tests.store.judged import BM25, TRUTH

DESCRIPTION = json.loads((Path(api.__file__).parent / "openapi.json").read_text())


def test_what_is_served_is_what_the_commands_print(me, filled):
    store, ids, _ = filled
    one, other = ids["bm25"], ids["dense"]
    pairs = {
        "/api/v1/evaluations": ("history", "--store", store, "--json"),
        "/api/v1/trend?name=bm25": ("history", "trend", "bm25", "--store", store, "--json"),
        f"/api/v1/evaluations/{one}?per_query=1": (
            "history",
            "show",
            f"@{one}",
            "--store",
            store,
            "--json",
        ),
        f"/api/v1/compare?of={one}&of={other}": (
            "compare",
            f"@{one}",
            f"@{other}",
            "--store",
            store,
            "--json",
        ),
        "/api/v1/pools": ("labels", "list", "--store", store, "--json"),
        f"/api/v1/evaluations/{one}/misses": (
            "misses",
            f"@{one}",
            "-k",
            "3",
            "--store",
            store,
            "--json",
        ),
    }
    for path, command in pairs.items():
        printed = calipers_command(*command)
        assert printed.code == 0, printed.err
        served, expected = me.get(path).json(), json.loads(printed.out)
        if "compare" in path:
            # A command names what it compares as it was typed, a page by the evaluation's name.
            expected = json.loads(
                printed.out.replace(f"@{one}", "bm25").replace(f"@{other}", "dense")
            )
            expected["settings"], served["settings"] = None, None
        # Which schema it is, the address says; where the database is, is not served.
        for name in ("schema", "place"):
            expected.pop(name, None)
            served.pop(name, None)
        assert served == expected, path


def test_the_audit_is_that_of_the_library(me):
    expected = calipers.audit(TRUTH, run=BM25).to_dict()
    assert me.get("/api/v1/evaluations/evals/audit").json() == json.loads(json.dumps(expected))


def test_misses_come_in_pages(me, filled):
    path = f"/api/v1/evaluations/{filled[1]['bm25']}/misses"
    whole = me.get(path).json()
    pages = [me.get(f"{path}?size=2&page={n}").json() for n in (1, 2, 3, 4)]
    for table in ("misses", "false_positives"):
        assert [row for one in pages for row in one[table]] == whole[table][:8]
    assert {one["missed"] for one in pages} == {whole["missed"]}


def test_queries_come_in_pages(me):
    found = me.get("/api/v1/evaluations/evals/queries?size=3&page=2&sort=order").json()
    assert (found["page"], found["pages"], found["found"]) == (2, 2, 4)
    assert [one["query"] for one in found["queries"]] == ["q3"]


KINDS = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": int | float,
    "object": dict,
    "array": list,
    "null": type(None),
}


def departures(value, schema, place="answer"):
    """Where a value is not what a schema says, as far as ours say anything."""
    if "$ref" in schema:
        schema = DESCRIPTION["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, KINDS[kind]) for kind in kinds):
        yield f"{place} is {value!r:.80} and not {kinds}"
    elif isinstance(value, dict):
        yield from (f"{place} lacks {name}" for name in {*schema.get("required", ())} - {*value})
        if schema.get("additionalProperties") is False:
            yield from (f"{place} has {name}" for name in {*value} - {*schema["properties"]})
        for name, of in schema.get("properties", {}).items():
            if name in value:
                yield from departures(value[name], of, f"{place}.{name}")
    elif isinstance(value, list) and "items" in schema:
        for one in value:
            yield from departures(one, schema["items"], f"{place}[]")


def test_departures_are_seen():
    progress = {"$ref": "#/components/schemas/Progress"}
    assert any("lacks place" in one for one in departures({"judge": 1}, progress))
    assert any("judge is 1" in one for one in departures({"judge": 1}, progress))
    assert list(departures({"more": 1}, {"$ref": "#/components/schemas/Error"})) == [
        "answer lacks error",
        "answer has more",
    ]


def _path(path):
    return re.sub(r"{(\w+):\w+}", r"{\1}", path)


def test_openapi_describes_every_address_and_no_other():
    described = {
        (path, method.upper())
        for path, methods in DESCRIPTION["paths"].items()
        for method in methods
    }
    served = {
        (_path(path), method)
        for method, path in map(str.split, ADDRESSES)
        if path.startswith("/api/")
    }
    assert described == served


def test_openapi_describes_what_the_handlers_take():
    import msgspec

    schemas = DESCRIPTION["components"]["schemas"]
    for kind in (
        api.Given,
        api.Taking,
        api.WantedPage,
        api_team.Invited,
        api_team.Settling,
        api_team.Changed,
    ):
        fields = {one.name: one.required for one in msgspec.structs.fields(kind)}
        assert set(schemas[kind.__name__]["properties"]) == set(fields)
        assert set(schemas[kind.__name__]["required"]) == {k for k, v in fields.items() if v}
        assert schemas[kind.__name__]["additionalProperties"] is False


@pytest.mark.parametrize("path", sorted(DESCRIPTION["paths"]))
def test_answers_hold_what_openapi_promises(me, filled, path):
    _, ids, number = filled
    reading = DESCRIPTION["paths"][path].get("get")
    # Of a pool in which nothing is judged there is no label to write.
    if reading is None or path.endswith("/labels"):
        return
    there = path.replace("{reference}", ids["bm25"]).replace("{number}", str(number))
    query = {
        "/api/v1/compare": f"?of={ids['bm25']}&of={ids['dense']}",
        "/api/v1/trend": "?name=bm25",
    }
    answer = me.get(there + query.get(path, ""))
    assert answer.status == 200
    content = reading["responses"]["200"]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content
    if kind == "application/json":
        assert list(departures(answer.json(), content[kind]["schema"])) == []


def test_a_label_is_confirmed_with_what_comes_next(own):
    visitor = own.visitor("anna")
    path = f"/api/v1/pools/{own.pool}"
    first = visitor.get(f"{path}/next").json()
    item = first["next"][0]
    assert set(item) == {
        "item",
        "key",
        "cut",
        "query_id",
        "query",
        "id",
        "document",
        "title",
        "text",
        "mine",
        "note",
    }
    saved = visitor.post(
        f"{path}/labels", {"request": "r" * 8, "item": item["item"], "grade": 3}
    ).json()
    assert list(departures(saved, {"$ref": "#/components/schemas/Saved"})) == []
    assert saved["saved"]["grade"] == 3
    assert saved["next"][0] == first["next"][1]
    assert saved["progress"]["labelled"] == 1
    again = visitor.post(
        f"{path}/labels", {"request": "r" * 8, "item": item["item"], "grade": 3}
    ).json()
    assert again["saved"] == saved["saved"]
    assert calipers.labels_list(own.store).pools[0].entries == 1
    moved = own.visitor("me").get(f"{path}/moved?since={saved['before']}").json()
    assert list(departures(moved, {"$ref": "#/components/schemas/Moved"})) == []
    assert {one["run"] for one in moved["moved"]} == {"bm25", "dense"}
    assert any(one["difference"] for one in moved["moved"])


def test_a_label_for_another_text_than_the_page_shows_is_refused(own):
    anna, path = own.visitor("anna"), f"/api/v1/pools/{own.pool}"
    first, second = anna.get(f"{path}/next").json()["next"][:2]
    label = {"request": "k" * 8, "item": first["item"], "grade": 3}
    refused = anna.post(f"{path}/labels", {**label, "shown": second["key"]})
    assert refused.status == 400
    assert "shows another text" in refused.json()["error"]
    assert calipers.labels_list(own.store).pools[0].entries == 0
    assert anna.post(f"{path}/labels", {**label, "shown": first["key"]}).status == 200


def test_an_undo_says_what_it_took_back_and_of_which_text(own):
    anna, path = own.visitor("anna"), f"/api/v1/pools/{own.pool}/labels"
    anna.post(path, {"request": "l" * 8, "item": 3, "grade": 2})
    anna.post(path, {"request": "n" * 8, "item": 3, "kind": "note", "note": "odd"})
    for name, kind, mine in (("u" * 8, "note", 2), ("v" * 8, "label", None)):
        undone = anna.post(path, {"request": name, "kind": "undo"}).json()["undone"]
        assert (undone["kind"], undone["about"]["item"]) == (kind, 3)
        assert (undone["about"]["mine"] or {}).get("grade") == mine
        assert undone["about"]["note"] is None


def test_two_tabs_of_one_judge_lose_nothing_and_double_nothing(own):
    one, other = own.visitor("anna"), None
    other = type(one)(one.host, one.cookie)
    path = f"/api/v1/pools/{own.pool}/labels"
    for n, tab in enumerate((one, other)):
        assert tab.post(path, {"request": f"tab-{n}-0000", "item": 2, "grade": n}).status == 200
    desk = calipers.labels_desk("first", store=own.store)
    assert desk.progress("anna").labelled == 1
    assert desk.state().current(2, "anna").grade == 1


def test_a_page_of_one_judge_labels_nothing_in_the_name_of_another(own):
    ben, path = own.visitor("ben"), f"/api/v1/pools/{own.pool}/labels"
    label = {"request": "a" * 8, "judge": "anna", "item": 0, "grade": 3}
    refused = ben.post(path, label)
    assert refused.status == 409
    assert "ben is signed in now" in refused.json()["error"]
    assert calipers.labels_list(own.store).pools[0].entries == 0
    assert ben.post(path, {**label, "judge": "ben"}).status == 200


def test_what_a_judge_sees_is_blind(own):
    anna, ben = own.visitor("anna"), own.visitor("ben")
    path = f"/api/v1/pools/{own.pool}"
    anna.post(f"{path}/labels", {"request": "x" * 8, "item": 0, "grade": 3, "note": "mine"})
    shown = ben.get(f"{path}/next?item=0").json()["next"][0]
    assert shown["mine"] is None
    assert shown["note"] is None
    assert not {"rank", "run", "score"} & set(shown)


def test_judge_this_puts_the_results_of_a_query_into_a_pool(tmp_path):
    from calipers.web.sources import WebShelf
    from tests.web.served import served

    given = {"evals": calipers.read(ground_truth=TRUTH, run=BM25)}
    store = str(tmp_path / "new.db")
    with served(WebShelf(store, given, ("me",))) as running:
        visitor = running.visitor()
        made = visitor.post("/api/v1/pools", {"of": ["evals"], "queries": ["q1"]})
        assert made.status == 201
        more = visitor.post("/api/v1/pools", {"of": ["evals"], "queries": ["q1", "q2"]}).json()
        assert (made.json()["items"], more["items"]) == (3, 6)
        assert made.json()["pool"] == more["pool"]
        found = visitor.get(f"/api/v1/pools/{more['pool']}/next?query=q2").json()
        assert found["next"][0]["query_id"] == "q2"


def test_hostile_requests_for_a_pool_get_a_sentence(me):
    for value in (
        {"of": [], "queries": ["q"]},
        {"of": ["@@"], "queries": ["q"]},
        {"of": ["evals"], "queries": ["unknown"]},
    ):
        answer = me.post("/api/v1/pools", value)
        assert answer.status == 400
        assert answer.json()["error"]
