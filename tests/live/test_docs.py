"""Every snippet of the pages about live retrievers does what the page says."""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import calipers_command
from tests.live.server import Server

DOCS = Path(__file__).parents[2] / "docs"
NEEDS = {
    "langchain": "langchain_core",
    "llama-index": "llama_index.core",
    "haystack": "haystack",
    "faiss": "faiss",
    "chroma": "chromadb",
    "qdrant": "qdrant_client",
    "lancedb": "lancedb",
    "langsmith": "openevals",
    "langfuse": "langfuse",
    "mlflow": "mlflow.genai",
    "dspy": "dspy",
}
TALKATIVE = {"langsmith", "mlflow"}
"""Libraries that print a word of their own before what the page prints."""
PAGES = [DOCS / "retrieve.md", *sorted((DOCS / "adapters").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTIONS = '{"query": "Who gave the party?", "id": "q1"}\n{"query": "When?", "id": "q2"}\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("SEARCH_TOKEN", "tok-123456789")
    (tmp_path / "questions.jsonl").write_text(QUESTIONS)
    yield tmp_path
    sys.modules.pop("my_search", None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page(page: Path, here: Path, server: Server) -> None:
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem], reason=f"the page is about {page.stem}")
    names: dict[str, object] = {"__name__": "docs"}
    printed: str | None = None
    ran = 0
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "json":
            (here / "questions.jsonl").write_text(text)
        elif kind == "python" and text.startswith("# ") and ".py" in text.splitlines()[0]:
            (here / text.splitlines()[0].removeprefix("# ")).write_text(text)
        elif kind == "python":
            printed = _run(text.replace("http://127.0.0.1:8000", server.address), names)
            ran += 1
        elif kind == "console":
            _console(text, server)
            ran += 1
        elif kind == "text":
            said = printed.endswith(text) if page.stem in TALKATIVE else printed == text
            assert said, printed
            printed = None
    assert ran
    assert not printed


def _run(code: str, names: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs", "exec"), names)
    return out.getvalue()


def _console(text: str, server: Server) -> None:
    for line in text.splitlines():
        words = shlex.split(line.replace("http://127.0.0.1:8000", server.address))
        assert words[:2] == ["$", "calipers"]
        words = [
            word.replace("cmd:python ", f"cmd:{shlex.quote(sys.executable)} ") for word in words
        ]
        result = calipers_command(*words[2:])
        assert (result.code, result.err) == (0, ""), line


def test_every_adapter_has_its_page() -> None:
    from calipers.live.adapters.libraries import ADAPTERS

    stems = {page.stem.replace("-", "_") for page in PAGES}
    assert {name for name, _, _ in ADAPTERS} <= stems
