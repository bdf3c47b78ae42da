"""A real MCP server over pipes and over HTTP, servers that do not behave, and what tools take."""

import json
import re
import shlex
import socket
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from calipers import retrieve
from calipers.config import runs_code
from calipers.errors import MissingExtra, RetrieverFailed
from calipers.live.adapters.mcp import arguments_for, chosen_tool, read_result
from calipers.live.answers import Layout, read_answer
from calipers.live.failures import AskFailed
from calipers.version import pip_install
from tests.live.server import answer_to

SERVER = """
import json, os, sys, time
sys.path.insert(0, {root!r})
from mcp.server.mcpserver import MCPServer
from tests.live.server import answer_to

server = MCPServer("library")


@server.tool()
def search(query: str, limit: int = 5) -> list[dict]:
    if query == "fail":
        raise ValueError("no such index")
    return answer_to(query, limit)


@server.tool()
def as_text(question: str, max_results: int) -> str:
    return json.dumps({{"hits": answer_to(question, max_results)}})
"""
QUESTIONS = ["Who?", "fail", "Where?"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mcp", reason="the library mcp is not installed")
    path = tmp_path_factory.mktemp("mcp") / "server.py"
    path.write_text(
        SERVER.format(root=str(Path(__file__).parents[3]))
        + "\nif __name__ == '__main__':\n    server.run()\n"
    )
    return path


@pytest.fixture(scope="module")
def address(program: Path) -> Iterator[str]:
    """The same server over HTTP, in a thread of its own."""
    import uvicorn

    known: dict[str, Any] = {"__name__": "server"}
    exec(compile(program.read_text(), str(program), "exec"), known)
    app = known["server"].streamable_http_app()
    listening = socket.create_server(("127.0.0.1", 0))
    served = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=served.run, args=([listening],), daemon=True)
    thread.start()
    while not served.started:
        time.sleep(0.01)
    yield f"mcp:http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    served.should_exit = True
    thread.join(10)
    listening.close()


def command(path: Path) -> str:
    return f"mcp:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def ids(query: str, k: int) -> list[str]:
    return [one["id"] for one in answer_to(query, k)]


def test_a_server_that_ends_is_started_again_and_its_last_words_are_heard(tmp_path: Path) -> None:
    path = odd(tmp_path, {"dies": "dead", **told(structuredContent={"hits": ["a"]})})
    run = retrieve(f"{command(path)}#find", ["q", "dead", "r"], k=1, retries=0)
    assert run.frame["query"].to_list() == ["q", "r"]
    assert run.report.first_error == (
        "mcp: the server answered with error -32000: Connection closed; its last words: no memory"
    )


def test_starting_a_server_is_no_questions_time(program: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(1.5)\n" + program.read_text())
    run = retrieve(f"{command(slow)}#search", ["Who?"], k=1, timeout=1.0, retries=0)
    assert run.report.answered == 1
    assert run.report.latency_ms["max"] < 1000


def test_over_http_with_several_workers(address: str) -> None:
    run = retrieve(f"{address}#search", QUESTIONS, k=3)
    assert run.frame["item"].to_list() == [*ids("Who?", 3), *ids("Where?", 3)]
    assert dict(run.report.errors) == {"tool error": 1}
    text = retrieve(f"{address}#as_text", QUESTIONS[:1], k=2, id="$.id")
    assert text.frame["item"].to_list() == ids("Who?", 2)
    asked = {"query": "{query}", "limit": "{k}"}
    said = retrieve(f"{address}#search", ["Who?"], k=4, request=asked, results="$[*]")
    assert said.frame["item"].to_list() == ids("Who?", 4)


def test_a_key_is_sent_and_never_shown(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_TOKEN_X", "abcd1234")
    headers = {"Authorization": "Bearer $MCP_TOKEN_X"}
    run = retrieve(
        f"{address}#search", ["say abcd1234"], k=1, headers=headers, output=tmp_path / "r.jsonl"
    )
    assert run.report.answered == 1
    assert all(b"abcd1234" not in one.read_bytes() for one in tmp_path.iterdir())


ODD = """
import json, sys, time
answer = json.loads({answer!r})
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if number is None:
        continue
    said = {{"jsonrpc": "2.0", "id": number}}
    if method == "initialize":
        said["result"] = {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}},
                           "serverInfo": {{"name": "odd", "version": "1"}}}}
    elif method == "tools/list":
        said["result"] = {{"tools": [{{"name": "find", "inputSchema":
            {{"type": "object", "properties": {{"query": {{"type": "string"}}}}}}}}]}}
    elif method == "tools/call":
        if "sleep" in answer:
            time.sleep(30)
        if asked["params"]["arguments"]["query"] == answer.get("dies"):
            print("no memory", file=sys.stderr, flush=True)
            sys.exit(3)
        said |= {{name: one for name, one in answer.items() if name != "dies"}}
    else:
        said["error"] = {{"code": -32601, "message": "Method not found"}}
    print(json.dumps(said), flush=True)
"""


def odd(folder: Path, answer: dict[str, Any]) -> Path:
    """A server that answers every call of its tool so."""
    pytest.importorskip("mcp", reason="the library mcp is not installed")
    path = folder / "odd.py"
    path.write_text(ODD.format(answer=json.dumps(answer)))
    return path


def told(**result: Any) -> dict[str, Any]:
    return {"result": {"content": [], **result}}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (told(structuredContent={"hits": [{"id": "a"}]}), ""),
        ({"error": {"code": 429, "message": "go\x1b[31m away\n"}}, "error 429: go"),
        ({"result": 7}, "no answer within"),
        (told(content=[{"type": "odd"}]), "content.0"),
        (told(content=[{"type": "text", "text": "[" * 5000}]), ""),
        ({"sleep": 30}, "no answer within"),
    ],
)
def test_a_server_that_does_not_behave(
    answer: Any, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = odd(tmp_path, answer)
    timeout = 0.3 if "no answer" in words else 10.0
    asked = partial(retrieve, f"{command(path)}#find", ["q"], k=2, retries=0, timeout=timeout)
    if words:
        with pytest.raises(RetrieverFailed) as failed:
            asked()
        assert words in str(failed.value)
    else:
        assert asked().frame.height <= 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("mcp:./not-there#find", "No such file"),
        ("mcp:false#find", "Connection closed"),
        ("mcp:http://127.0.0.1:9/mcp#find", "cannot be asked"),
    ],
)
def test_a_server_that_is_not_there(target: str, words: str) -> None:
    pytest.importorskip("mcp", reason="the library mcp is not installed")
    with pytest.raises(RetrieverFailed, match=words):
        retrieve(target, ["a", "b"], retries=0, timeout=10)


def test_without_the_library_the_sentence_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingExtra, match=re.escape(pip_install("mcp"))):
        retrieve("mcp:./server#search", ["a"])
    assert runs_code("mcp:./server#search")
    assert not runs_code("mcp:https://host/mcp#search")


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def tool(name: str = "search", required: tuple[str, ...] = (), **properties: Any) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return SimpleNamespace(name=name, input_schema=schema)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"query": TEXT, "limit": WHOLE}, {"query": "Who?", "limit": 5}),
        ({"q": TEXT, "topK": WHOLE}, {"q": "Who?", "topK": 5}),
        (
            {"index": TEXT, "searchQuery": TEXT, "max_results": WHOLE},
            {"searchQuery": "Who?", "max_results": 5},
        ),
        ({"phrase": TEXT}, {"phrase": "Who?"}),
    ],
)
def test_arguments_are_found_in_the_schema(properties: Any, expected: Any) -> None:
    assert arguments_for(tool(**properties))("Who?", 5) == expected


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (tool(a=TEXT, b=TEXT), "does not say which argument is the question; it takes a, b"),
        (tool(), "it takes nothing"),
    ],
)
def test_a_tool_that_cannot_be_asked_says_what_to_do(one: Any, words: str) -> None:
    with pytest.raises(AskFailed, match=words) as failed:
        arguments_for(one)("Who?", 5)
    assert failed.value.hopeless


def test_the_only_tool_needs_no_name() -> None:
    able = tool("find", query=TEXT)
    assert chosen_tool("", [able]) is able
    with pytest.raises(AskFailed, match=r"after a #; the server has find, find2"):
        chosen_tool("", [able, tool("find2", q=TEXT)])
    with pytest.raises(
        AskFailed, match=r"no tool 'fnd'; the server has find\. Did you mean find\?"
    ):
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
        (returned(text({"hits": BOTH})), ["a", "b"]),
        (returned(*map(text, BOTH)), ["a", "b"]),
        (returned(text(BOTH[0])), ["a"]),
        (returned(text({"b": 0.5, "a": 0.9})), ["a", "b"]),
        (returned(text({"n": "2"}), structured={"results": BOTH}), ["a", "b"]),
        (returned(text("found:"), LINK, HELD), ["file:///a.md", "file:///a.md"]),
        (returned(LINK, structured={"results": []}), ["file:///a.md"]),
        (returned(text("one"), text("two")), [None, None]),
        (returned(text("   ")), []),
        (returned(structured={"result": []}), []),
        (returned(structured={"result": "plain"}), []),
    ],
)
def test_results_are_found_wherever_they_are(result: Any, expected: list[Any]) -> None:
    rows = read_answer(read_result(result)).retrieved
    assert [row.id for row in rows] == expected


def test_paths_are_followed_in_what_is_structured_and_in_plain_text() -> None:
    found = read_result(returned(text("d1"), text("d2")))
    assert [row.text for row in read_answer(found).retrieved] == ["d1", "d2"]
    named = Layout.from_texts({"id": "$.text"})
    assert [row.id for row in read_answer(found, layout=named).retrieved] == ["d1", "d2"]
    layout = Layout.from_texts({"results": "$.found.rows[*]", "id": "$.ref"})
    found = read_result(returned(text("x"), structured={"found": {"rows": [{"ref": 7}]}}), True)
    assert read_answer(found, layout=layout).retrieved[0].id == "7"


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (returned(text({"status": "ok"})), r"\{'status': 'ok'\}, which is a dictionary with"),
        (returned(text("no such\n index"), failed=True), "tool error: no such index"),
        (returned(failed=True), "gives no reason"),
    ],
)
def test_what_a_tool_says_instead_of_results_is_heard(result: Any, words: str) -> None:
    with pytest.raises(AskFailed, match=words):
        read_answer(read_result(result))


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("serch", "there is no tool 'serch'; the server has search, as_text. Did you mean search?"),
        ("", "name the tool to ask after a #; the server has search, as_text."),
    ],
)
def test_a_wrong_tool_name_lists_the_tools(program: Path, tool: str, why: str) -> None:
    target = f"mcp:{shlex.quote(sys.executable)} {shlex.quote(str(program))}#{tool}"
    with pytest.raises(RetrieverFailed) as caught:
        retrieve(target, QUESTIONS, k=2)
    assert why in str(caught.value)
