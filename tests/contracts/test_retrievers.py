"""What holds for every kind of retriever: the same index behind each gives the same run."""

import json
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from calipers import evaluate, retrieve
from calipers.errors import InvalidInput
from calipers.live.result import LiveRun
from tests.live.server import Server, answer_to, running

QUESTIONS = {f"q{i}": f"question number {i}" for i in range(12)}
TRUTH = {q: {answer_to(text, 5)[i % 5]["id"]: 1} for i, (q, text) in enumerate(QUESTIONS.items())}
K = 5

Ask = Callable[..., LiveRun]


def plain(query: str, k: int) -> list[tuple[str, float]]:
    return [(one["id"], one["score"]) for one in answer_to(query, k)]


async def later(query: str, k: int) -> list[dict[str, Any]]:
    return answer_to(query, k)


class Document:
    def __init__(self, item: str, score: float) -> None:
        self.id, self.score = item, score


def documents(query: str, k: int) -> list[tuple[Document, float]]:
    """As a vector store of LangChain answers."""
    return [(Document(one["id"], 0), one["score"]) for one in answer_to(query, k)]


def nodes(query: str, k: int) -> list[dict[str, Any]]:
    """As a retriever of LlamaIndex answers."""
    found = answer_to(query, k)
    return [{"node": {"node_id": one["id"]}, "score": one["score"]} for one in found]


IN_PROCESS: dict[str, Any] = {
    "function": plain,
    "async function": later,
    "langchain": documents,
    "llama_index": nodes,
}
KINDS = [*IN_PROCESS, "get", "post", "command"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as one:
        yield one


@pytest.fixture(params=KINDS)
def ask(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Ask:
    """A retrieval through one kind of retriever; only the further settings are left open."""
    options: dict[str, Any] = {}
    if request.param in IN_PROCESS:
        search = IN_PROCESS[request.param]
    elif request.param == "get":
        search, options = server.search, {"results": "$.hits[*]"}
    elif request.param == "post":
        search = f"{server.address}/search"
        options = {"results": "$.hits[*]", "request": {"q": "{query}", "top": "{k}"}}
    else:
        program = tmp_path / "search.py"
        root = Path(__file__).parents[2]
        program.write_text(
            textwrap.dedent(f"""
            import json, sys
            sys.path.insert(0, {str(root)!r})
            from tests.live.server import answer_to
            for line in sys.stdin:
                asked = json.loads(line)
                print(json.dumps({{"retrieved": answer_to(asked["query"], asked["k"])}}))
            """)
        )
        search = f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    return lambda **settings: retrieve(search, QUESTIONS, **{"k": K, **options, **settings})


def test_the_run_is_the_same_and_can_be_measured(ask: Ask) -> None:
    run = ask()
    expected = [
        (query, rank, one["id"], one["score"])
        for query, text in QUESTIONS.items()
        for rank, one in enumerate(answer_to(text, K), 1)
    ]
    assert run.frame.select("query", "rank", "item", "score").rows() == expected
    assert (run.report.answered, run.report.failed, run.report.asked) == (12, 0, 12)
    assert run.queries is not None
    assert (run.queries["latency_ms"] >= 0).sum() == 12
    found = evaluate(ground_truth=TRUTH, run=run, metrics="mrr")["mrr"].mean
    assert found == pytest.approx(sum(1 / (i % 5 + 1) for i in range(12)) / 12)


def test_a_file_and_its_continuation_equal_the_run_in_memory(ask: Ask, tmp_path: Path) -> None:
    output = tmp_path / "run.jsonl"
    whole = ask(output=output).frame
    lines = output.read_bytes().splitlines(keepends=True)
    output.write_bytes(b"".join(lines[:7]) + lines[7][:20])
    again = ask(output=output, retry_errors=True)
    assert again.report.asked == 5
    columns = ["query", "rank", "item", "score"]
    assert again.frame.select(columns).equals(whole.select(columns))
    assert [json.loads(line)["id"] for line in output.read_bytes().splitlines()] == list(QUESTIONS)
    with pytest.raises(InvalidInput, match="k was 5 and is 6"):
        ask(output=output, k=6, retry_errors=True)
