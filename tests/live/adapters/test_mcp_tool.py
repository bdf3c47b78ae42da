"""What a tool takes and what it returns, told without the library: only its shapes are needed."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from calipers.live.adapters.mcp_tool import arguments_for, chosen_tool, read_result
from calipers.live.answers import Layout, read_answer
from calipers.live.failures import AskFailed

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def tool(name: str = "search", required: tuple[str, ...] = (), **properties: Any) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return SimpleNamespace(name=name, input_schema=schema)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"query": TEXT, "limit": WHOLE}, {"query": "Who?", "limit": 5}),
        ({"q": TEXT, "topK": WHOLE}, {"q": "Who?", "topK": 5}),
        ({"index": TEXT, "searchQuery": TEXT, "max_results": WHOLE}, None),
        ({"phrase": TEXT}, {"phrase": "Who?"}),
        (
            {"query": TEXT, "count": {"anyOf": [WHOLE, {"type": "null"}]}},
            {"query": "Who?", "count": 5},
        ),
        ({"query": {}, "limit": TEXT}, {"query": "Who?"}),
        ({"query": {"type": "array"}, "text": TEXT}, {"text": "Who?"}),
    ],
)
def test_arguments_are_found_in_the_schema(properties: Any, expected: Any) -> None:
    found = arguments_for(tool(**properties), {})("Who?", 5)
    assert found == (expected or {"searchQuery": "Who?", "max_results": 5})


def test_what_is_given_is_sent_beside_them() -> None:
    one = tool(required=("query", "index"), query=TEXT, index=TEXT, limit=WHOLE)
    assert arguments_for(one, {"index": "small", "limit": 3})("Who?", 5) == {
        "query": "Who?",
        "index": "small",
        "limit": 3,
    }


@pytest.mark.parametrize(
    ("one", "params", "words"),
    [
        (tool(a=TEXT, b=TEXT), {}, "does not say which argument is the question; it takes a, b"),
        (tool(), {}, "it takes nothing"),
        (tool(query=TEXT), {"indx": 1}, "takes no argument 'indx'; it takes query"),
        (tool(required=("index",), query=TEXT, index=TEXT), {}, "--param index=VALUE"),
        (tool(query=TEXT, limit={**WHOLE, "maximum": 3}), {}, "at most 3 results and was asked"),
    ],
)
def test_a_tool_that_cannot_be_asked_says_what_to_do(one: Any, params: Any, words: str) -> None:
    with pytest.raises(AskFailed, match=words) as failed:
        arguments_for(one, params)("Who?", 5)
    assert failed.value.hopeless


def test_one_tool_that_takes_a_question_needs_no_name() -> None:
    able = tool("find", query=TEXT)
    assert chosen_tool("", [tool("ping"), able]) is able
    with pytest.raises(AskFailed, match=r"after a #; the server has find, find2"):
        chosen_tool("", [able, tool("find2", q=TEXT)])
    with pytest.raises(AskFailed, match=r"no tool 'fnd'; it has find\. Did you mean find\?"):
        chosen_tool("fnd", [able])


def returned(*content: Any, structured: Any = None, failed: bool = False) -> Any:
    return SimpleNamespace(content=content, structured_content=structured, is_error=failed)


def text(value: Any) -> Any:
    return SimpleNamespace(type="text", text=value if isinstance(value, str) else json.dumps(value))


LINK = SimpleNamespace(type="resource_link", uri="file:///a.md", description="about a", title="A")
HELD = SimpleNamespace(type="resource", resource=SimpleNamespace(uri="file:///a.md", text="all"))
BOTH = [{"id": "a", "score": 1.0}, {"id": "b", "score": 0.5}]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (returned(structured={"results": BOTH}), ["a", "b"]),
        (returned(text("2 found"), structured={"result": BOTH}), ["a", "b"]),
        (returned(structured={"result": json.dumps(BOTH)}), ["a", "b"]),
        (returned(structured={"result": ["a", "b"]}), ["a", "b"]),
        (returned(structured=BOTH), ["a", "b"]),
        (returned(text({"hits": BOTH})), ["a", "b"]),
        (returned(*map(text, BOTH)), ["a", "b"]),
        (returned(text(BOTH[0])), ["a"]),
        (returned(text({"b": 0.5, "a": 0.9})), ["a", "b"]),
        (returned(text({"n": "2"}), structured={"results": BOTH}), ["a", "b"]),
        (returned(text("found:"), LINK, HELD), ["file:///a.md", "file:///a.md"]),
        (returned(LINK, structured={"results": []}), ["file:///a.md"]),
        (returned(text("one"), text("two")), [None, None]),
        (returned(text("   ")), []),
        (returned(), []),
        (returned(text([])), []),
        (returned(structured={"result": []}), []),
        (returned(structured={"result": "plain"}), []),
    ],
)
def test_results_are_found_wherever_they_are(result: Any, expected: list[Any]) -> None:
    rows = read_answer(read_result(result), 10, Layout()).retrieved
    assert [row.id for row in rows] == expected


def test_plain_text_is_the_text_of_a_result_and_its_id_where_that_is_said() -> None:
    found = read_result(returned(text("d1"), text("d2")))
    assert [row.text for row in read_answer(found, 10, Layout()).retrieved] == ["d1", "d2"]
    named = Layout.from_texts({"id": "$.text"})
    assert [row.id for row in read_answer(found, 10, named).retrieved] == ["d1", "d2"]


def test_a_path_is_followed_in_what_is_structured() -> None:
    layout = Layout.from_texts({"results": "$.found.rows[*]", "id": "$.ref"})
    found = read_result(returned(text("x"), structured={"found": {"rows": [{"ref": 7}]}}), True)
    assert read_answer(found, 10, layout).retrieved[0].id == "7"


def test_an_object_without_a_list_says_what_came() -> None:
    with pytest.raises(AskFailed, match=r"without a list of results: \{'status': 'ok'\}"):
        read_answer(read_result(returned(text({"status": "ok"}))), 10, Layout())


def test_a_tool_that_failed_is_heard() -> None:
    with pytest.raises(AskFailed, match="tool error: no such index"):
        read_result(returned(text("no such\n index"), failed=True))
    with pytest.raises(AskFailed, match="gives no reason"):
        read_result(returned(failed=True))
