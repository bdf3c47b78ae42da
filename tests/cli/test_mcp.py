"""The server for agents: what its tools may read, run, write and show, and the official client."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from calipers.cli.mcp import Tools, next_call, plain_document
from calipers.errors import InvalidInput
from calipers.model.document import Document, Note, Table
from tests.command import calipers_command

OFFERED = {
    "evaluate": "data metrics k ground_truth run columns where rel match level",
    "compare": "systems ground_truth metrics k columns where rel match level baseline",
    "gate": "data ground_truth run columns where rel match level require baseline by allow must "
    "metrics k",
    "diagnose": "data ground_truth run columns where rel match level k corpus candidates price",
    "misses": "data ground_truth run columns where rel match level k corpus candidates exact "
    "worse_than",
    "explain": "question columns run ground_truth k corpus match",
    "grow": "data ground_truth run columns where rel match level corpus_size times to metrics k by",
    "audit": "ground_truth columns corpus traces match",
}
"""Every argument that an agent can set. A new one is to be looked at: does it name a file, run
code, or write? Then it belongs into FILES, NOT_OFFERED or WRITING."""


@pytest.fixture
def project(tmp_path):
    """A folder to serve, with secrets outside of it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "outside.jsonl").write_text('{"query": "secret", "ground_truth": ["a"]}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q0", "text": "secret"}\n')
    rows = [
        {"id": f"q{n}", "query": f"question {n}?", "ground_truth": [f"d{n}"], "results": [f"d{n}"]}
        for n in range(24)
    ]
    (folder / "evals.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    return folder


def test_an_agent_can_set_these_arguments_and_no_other(tmp_path):
    tools = Tools(tmp_path)
    assert {name: " ".join(one) for name, one in tools.offered.items()} == OFFERED
    more = Tools(tmp_path, write=True)
    assert {*more.offered["gate"]} - {*tools.offered["gate"]} == {"accept", "move_up"}


@pytest.mark.parametrize(
    "path",
    [
        *("../outside.jsonl", "/etc/passwd", "{outside}", "sub/../../outside.jsonl", "link.jsonl"),
        *("linked/outside.jsonl", "linked", "folder", "file://{outside}", "s3://bucket/run.jsonl"),
        *("https://example.org/run.jsonl", "@nightly", "-", "", "x\0y", "x" * 5000, "pipe"),
        *("cmd:cat {outside}", "search.py:search", "http://host/?q={query}", "~/.ssh/id_rsa"),
        *("beside/run.jsonl", "loop", "absent.jsonl", "postgresql://user@host/history", "nul\\x"),
        *([{"query": "q", "ground_truth": ["a"]}], {"a": "../outside.jsonl"}, 3, True),
    ],
)
@pytest.mark.parametrize(
    ("tool", "argument"), [("evaluate", "data"), ("compare", "systems"), ("gate", "must")]
)
def test_a_tool_reads_nothing_outside_of_the_folder(tool, argument, path, project):
    outside = project.parent / "outside.jsonl"
    (project / "link.jsonl").symlink_to(outside)
    (project / "linked").symlink_to(project.parent)
    (project / "loop").symlink_to("loop")
    for folder, link in (("folder", "a.txt"), ("beside", "run.jsonl.meta.json")):
        (project / folder).mkdir()
        (project / folder / link).symlink_to(outside)
    (project / "beside/run.jsonl").write_text("{}\n")
    os.mkfifo(project / "pipe")
    if isinstance(path, str):
        path = path.replace("{outside}", str(outside))
        if argument == "must" and path == "http://host/?q={query}":
            path = "/etc/x=y"
    with pytest.raises(InvalidInput, match="must be a file in the folder of this server"):
        Tools(project).settings(tool, {argument: [path] if argument != "data" else path})


def test_what_stands_in_the_folder_is_read(project):
    tools, plain = Tools(project), f".{os.sep}evals.jsonl"
    # Links that no reader follows say nothing against the file beside them.
    (project / ".venv").symlink_to(project.parent)
    (project / "loop").symlink_to("loop")
    for path in ("evals.jsonl", "./evals.jsonl", str(project / "evals.jsonl")):
        assert tools.settings("evaluate", {"data": path}) == {"data": plain}
    given = {"data": "evals.jsonl", "must": ["type=table"], "k": 5, "where": {"type": "a"}}
    found = tools.settings("gate", given)
    assert found == {"data": plain, "must": ["type=table"], "k": [5], "where": {"type": "a"}}
    (project / "@odd.jsonl").write_text("{}\n")
    assert tools.settings("evaluate", {"data": "@odd.jsonl"})["data"] == f".{os.sep}@odd.jsonl"


def test_judgements_do_not_bring_texts_from_above_the_folder(tmp_path):
    (tmp_path / "queries.jsonl").write_text('{"_id": "q0", "text": "secret"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq0\td0\t1\n")
    assert Tools(tmp_path).settings("audit", {"ground_truth": "qrels/test.tsv"})
    with pytest.raises(InvalidInput, match="in the folder of this server"):
        Tools(tmp_path / "qrels").settings("audit", {"ground_truth": "test.tsv"})


def test_settings_files_count_if_they_stand_in_the_folder_and_run_no_code(project):
    text = 'ground-truth = "evals.jsonl"\nretriever = "search:search"\nmetrics = ["mrr"]\n'
    (project / "calipers.toml").write_text(text)
    found = Tools(project).settings("evaluate", {})
    assert found == {"ground_truth": f".{os.sep}evals.jsonl", "metrics": ["mrr"]}
    (project / "calipers.toml").write_text('ground-truth = "../outside.jsonl"\n')
    with pytest.raises(InvalidInput, match="in the folder of this server"):
        Tools(project).settings("evaluate", {})
    (project / "calipers.toml").rename(project.parent / "calipers.toml")
    assert Tools(project).settings("evaluate", {}) == {}
    (project / "calipers.toml").symlink_to(project.parent / "calipers.toml")
    assert Tools(project).settings("evaluate", {}) == {}


def test_a_tool_runs_no_code_and_needs_what_is_required(project):
    for name in ("retriever", "headers", "accept", "output", "store"):
        with pytest.raises(InvalidInput, match=f"takes no {name}"):
            Tools(project).settings("gate", {name: "x"})
    with pytest.raises(InvalidInput, match=r"explain needs question\."):
        Tools(project).settings("explain", {"question": None, "run": "evals.jsonl"})


def test_an_answer_is_short_and_has_no_control_characters():
    rows = [(f"\x1b[31m{n}", "x" * 10_000) for n in range(100)]
    notes = [Note("next", "calipers misses --all"), Note("doubt", "a\u202eb")]
    found = plain_document(Document("A\x00b.", "failed", [Table(("n", "text"), rows)], notes))
    assert found["answer"] == "✗ A�b."
    assert len(json.dumps(found)) < 10_000
    assert "\x1b" not in str(found)
    assert found["tables"][0]["more"] == "80 rows are left out."
    assert found["notes"] == ["a�b"]


def test_cells_have_no_blanks_that_align_them():
    found = plain_document(Document("A.", None, [Table(("n",), [["0.875     "], [" ✗"]])], []))
    assert found["tables"][0]["rows"] == [["0.875"], ["✗"]]


def test_the_next_call_has_all_that_its_tool_needs(project):
    tools = Tools(project)
    files = {"ground_truth": "evals.jsonl", "run": "evals.jsonl"}
    assert next_call(tools, "evaluate", files) == {"tool": "misses", "arguments": files}
    assert next_call(tools, "audit", {"ground_truth": "evals.jsonl"}) is None


def test_bad_use_is_said_before_a_client_waits(tmp_path):
    pytest.importorskip("mcp", reason="the library mcp is not installed")
    done = calipers_command("mcp", str(tmp_path / "absent"))
    assert done.code == 2
    assert "is no folder to serve" in done.err


# With the official client, over standard input and output


def talk(folder: Path, *options: str, calls):
    """Start the server, call its tools one after another, and return the list and the answers."""
    mcp = pytest.importorskip("mcp", reason="the library mcp is not installed")
    source = str(Path(__file__).parents[2] / "src")
    program = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "calipers", "mcp", str(folder), *options],
        env={**os.environ, "PYTHONPATH": source},
    )

    async def ask():
        async with mcp.Client(mcp.stdio_client(program)) as client:
            listed = (await client.list_tools()).tools
            found = []
            for call in calls:
                name, arguments = call() if callable(call) else call
                answer = await client.call_tool(name, arguments)
                text = answer.content[0].text
                found.append(SimpleNamespace(error=answer.is_error, text=text))
                if not answer.is_error:
                    assert json.loads(text) == answer.structured_content
                    found[-1].plain = answer.structured_content
            return listed, found

    return asyncio.run(ask())


def test_the_official_client_reads_tools_and_answers(project):
    done = calipers_command("seal", str(project / "evals.jsonl"), "--share", "0.5")
    assert done.code == 0, done.err
    numbers = re.findall(r"question (\d+)", (project / "evals.open.jsonl").read_text())
    rows = [{"id": f"q{n}", "retrieved": [f"d{n}"]} for n in dict.fromkeys(numbers)]
    (project / "run.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    before = {path: path.read_bytes() for path in project.rglob("*")}
    files = {"ground_truth": "evals.open.jsonl", "run": "run.jsonl"}
    calls = [
        ("evaluate", {**files, "k": 3}),
        ("gate", {**files, "require": ["recall@3 >= 0.5 for type=x"]}),
        ("misses", {"data": "evals.sealed.jsonl"}),
        ("explain", {"question": "q1", "run": "evals.sealed.jsonl"}),
        ("audit", {"ground_truth": "evals.sealed.jsonl"}),
        ("evaluate", {"data": "evals.jsonl"}),
        ("evaluate", {"data": "../outside.jsonl"}),
        ("shell", {}),
    ]
    listed, found = talk(project, calls=calls)
    assert [one.name for one in listed] == list(OFFERED)
    assert all(one.annotations.read_only_hint for one in listed)
    good, bad, *sealed, outside, unknown = found
    assert not good.error, good.text
    assert good.plain["answer"].startswith("Finds all of what it should in the first 3 results")
    assert good.plain["next"] == {"tool": "misses", "arguments": {**files, "k": 3}}
    assert good.plain["tables"][0]["rows"][0][0] == "hit_rate"
    assert bad.error
    assert "type" in bad.text
    assert len(sealed) == 4
    for one in sealed:
        assert one.error
        assert "sealed queries" in one.text
        assert "question" not in one.text
    assert "in the folder of this server" in outside.text
    assert "There is no tool 'shell'" in unknown.text
    assert {path: path.read_bytes() for path in project.rglob("*")} == before
