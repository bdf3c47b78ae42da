"""The readers of traces, on what the libraries of the platforms really write."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import calipers
from calipers.io.load import load
from tests.loopback import JsonHandler, LoopbackServer, serving

pytestmark = pytest.mark.filterwarnings("ignore")
QUESTION = "Who owns the firm that built the bridge?"


def retriever() -> Any:
    """A real retriever: its answer depends on the step, and one document has its id noted."""
    pytest.importorskip("langchain_core", reason="needs langchain-core")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Steps(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            first = Document(id="c4", page_content="The firm is Acme.", metadata={"source": "a.md"})
            second = Document(page_content="Anna owns Acme.", metadata={"id": "c9"})
            return [first] if query.startswith("built") else [second]

    return Steps()


def ask_twice(search: Any) -> Any:
    """An agent that searches twice for its question."""
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(lambda _: [search.invoke(step) for step in ("built it", "owns Acme")])


@contextmanager
def langsmith_server() -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """A server that keeps every run as the API does: what is created, and then changed."""
    runs: dict[str, dict[str, Any]] = {}

    class Handler(JsonHandler):
        def keep(self) -> None:
            body = self.body()
            if "id" in body:
                runs.setdefault(body["id"], {}).update(body)
            self.send(200, {})

        do_GET = do_POST = do_PATCH = keep  # noqa: N815

    with serving(LoopbackServer(Handler)) as server:
        yield server.address, runs


PAGE = (Path(__file__).parents[2] / "docs" / "make-ground-truth.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    """The library remembers what it read, would trace the next test too, and leave this machine."""
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    if "langsmith.utils" in sys.modules:
        sys.modules["langsmith.utils"].get_env_var.cache_clear()


def run_snippet(name: str) -> None:
    """What the page shows for a library, as it stands there."""
    (code,) = re.findall(rf"^```python\n(# {name}\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/make-ground-truth.md", "exec"), {"__name__": "docs"})


def test_the_export_from_langsmith_that_the_page_shows(tmp_path, monkeypatch):
    pytest.importorskip("langsmith", reason="needs langsmith")
    number = "01a1df9c-f6c6-72ae-acce-c45ae607add5"
    run = {
        "id": "1",
        "trace_id": "1",
        "run_type": "RETRIEVER",
        "inputs": {"query": "Who?"},
        "outputs": {"documents": [{"id": "c1"}]},
        "start_time": "2026-01-02T03:04:05Z",
        "project_id": number,
    }

    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - as the base class calls it
            project = {
                "id": number,
                "tenant_id": number,
                "name": "search",
                "start_time": run["start_time"],
                "reference_dataset_id": None,
            }
            self.send(200, [project] if "/sessions" in self.path else {"version": "0.16.0"})

        def do_POST(self) -> None:  # noqa: N802 - as the base class calls it
            body = self.body()
            selected = {name.lower() for name in body["selects"]}
            assert (self.path, body["project_ids"]) == ("/api/v2/runs/query", [number])
            items = [{name: value for name, value in run.items() if name in selected}]
            self.send(200, {"items": items}, {"Content-Type": "application/json"})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANGSMITH_API_KEY", "key")
    with serving(LoopbackServer(Handler)) as server:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", server.address)
        run_snippet("langsmith")
    assert load("runs.jsonl", "run").run.frame.select("query", "item").rows() == [("Who?", "c1")]


def test_the_export_from_langfuse_that_the_page_shows(tmp_path, monkeypatch):
    pytest.importorskip("langfuse", reason="needs langfuse")
    from langfuse._client import resource_manager

    row = {
        "id": "o1",
        "traceId": "t1",
        "projectId": "p",
        "type": "RETRIEVER",
        "input": "Who?",
        "output": '[{"id": "c1"}]',
        "startTime": "2026-01-02T03:04:05Z",
    }
    pages = {None: {"data": [row], "meta": {"cursor": "next"}}, "next": {"data": [], "meta": {}}}

    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - as the base class calls it
            asked = parse_qs(urlsplit(self.path).query)
            assert "io" in asked["fields"][0].split(",")
            cursor = asked.get("cursor", [None])[0]
            self.send(200, pages[cursor], {"Content-Type": "application/json"})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-page")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk")
    monkeypatch.setenv("LANGFUSE_TRACING_ENABLED", "false")
    with serving(LoopbackServer(Handler)) as server:
        monkeypatch.setenv("LANGFUSE_BASE_URL", server.address)
        # Clients that other tests made would make `get_client` ask which one is meant.
        monkeypatch.setattr(resource_manager.LangfuseResourceManager, "_instances", {})
        run_snippet("langfuse")
    path = "observations.jsonl"
    assert load(path, "run").run.frame.select("query", "item").rows() == [("Who?", "c1")]


def test_runs_that_langsmith_gives(tmp_path, monkeypatch):
    langsmith = pytest.importorskip("langsmith", reason="needs langsmith")
    search = retriever()
    from langchain_core.tracers import LangChainTracer
    from langsmith.schemas import Run

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    with langsmith_server() as (address, kept):
        client = langsmith.Client(api_url=address, api_key="key", auto_batch_tracing=False)
        tracer = LangChainTracer(client=client, project_name="search")
        config = {"callbacks": [tracer]}
        ask_twice(search).invoke({"question": QUESTION}, config=config)
        search.invoke("built alone", config=config)
    # The newest first, as `client.list_runs` gives them.
    runs = [Run(**one) for one in reversed(kept.values())]
    assert sorted(run.run_type for run in runs) == ["chain", *["retriever"] * 3]
    flat = tmp_path / "runs.jsonl"
    flat.write_text("".join(run.model_dump_json() + "\n" for run in runs))
    # As `read_run(…, load_child_runs=True)` gives it: the root holds the others.
    root = next(run for run in runs if run.run_type == "chain")
    root.child_runs = [run for run in runs if run.parent_run_id == root.id]
    nested = tmp_path / "nested.json"
    nested.write_text(json.dumps([json.loads(root.model_dump_json())]))
    wanted = [(QUESTION, "c4", "a.md", 1), (QUESTION, "c9", None, 2)]
    alone = [("built alone", "c4", "a.md", None)]
    for path, more in ((flat, alone), (nested, [])):
        frame = load(path, "run").run.frame
        assert sorted(frame.select("query", "item", "document", "call").rows()) == wanted + more
        assert len(calipers.labels_traces(path).questions) == 1 + len(more)
    assert all(one >= 0 for one in load(flat, "run").run.queries["latency_ms"].to_list())


def observations(spans: Any) -> Iterator[Any]:
    """What Langfuse's API answers for spans: inputs and outputs as the texts that were sent."""
    from langfuse.api.commons.types.observation_v2 import ObservationV2

    for span in spans:
        said = {
            key.removeprefix("langfuse.observation."): one for key, one in span.attributes.items()
        }
        yield ObservationV2(
            id=f"{span.context.span_id:016x}",
            trace_id=f"{span.context.trace_id:032x}",
            project_id="p",
            type=said["type"].upper(),
            name=span.name,
            input=said.get("input"),
            output=said.get("output"),
            level=said.get("level"),
            status_message=said.get("status_message"),
            start_time=moment(span.start_time),
            end_time=moment(span.end_time),
            metadata={
                key.removeprefix("metadata."): json.loads(one)
                for key, one in said.items()
                if key.startswith("metadata.")
            },
        )


def moment(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds / 1e9, tz=UTC)


def test_observations_that_langfuse_gives(tmp_path):
    langfuse = pytest.importorskip("langfuse", reason="needs langfuse")
    search = retriever()
    from langfuse.api.observations.types import ObservationsV2Meta, ObservationsV2Response
    from langfuse.langchain import CallbackHandler
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    sent = InMemorySpanExporter()
    client = langfuse.Langfuse(
        public_key="pk-exports", secret_key="sk", base_url="http://127.0.0.1:9", span_exporter=sent
    )
    config = {"callbacks": [CallbackHandler(public_key="pk-exports")]}
    ask_twice(search).invoke({"question": QUESTION}, config=config)
    as_retriever = {"as_type": "retriever", "name": "search"}
    with client.start_as_current_observation(**as_retriever, input={"query": "by hand"}) as one:
        one.update(output=[{"id": "c2", "content": "A bridge.", "score": 0.5}])
    with client.start_as_current_observation(**as_retriever, input="failed") as one:
        one.update(level="ERROR", status_message="timeout")
    client.flush()
    made = list(observations(sent.get_finished_spans()))
    client.shutdown()

    rows = tmp_path / "observations.jsonl"
    rows.write_text("".join(one.json() + "\n" for one in made))
    answer = tmp_path / "answer.json"
    answer.write_text(ObservationsV2Response(data=made, meta=ObservationsV2Meta()).json())
    run = load(rows, "run").run
    assert sorted(run.frame.select("query", "item", "call").rows(), key=str) == [
        (QUESTION, "c4", 1),
        (QUESTION, "c9", 2),
        ("by hand", "c2", None),
    ]
    errors = dict(run.queries.select("query", "error").iter_rows())
    assert errors == {QUESTION: None, "by hand": None, "failed": "timeout"}
    for path in (rows, answer):
        assert {one.query for one in calipers.labels_traces(path).questions} == errors.keys()
