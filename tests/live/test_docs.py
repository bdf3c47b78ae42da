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
    "An MCP server": "mcp",
    "LangChain": "langchain_core",
    "LlamaIndex": "llama_index.core",
    "Haystack": "haystack",
    "Search engines and vector databases": "faiss",
    "LangSmith and openevals": "openevals",
    "Langfuse": "langfuse",
    "MLflow": "mlflow.genai",
    "DSPy": "dspy",
}
TALKATIVE = {"LangSmith and openevals", "MLflow"}
"""Libraries that print a word of their own before what the page prints."""
HEADING = re.compile(r"^(##+) (.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTIONS = '{"query": "Who gave the party?", "id": "q1"}\n{"query": "When?", "id": "q2"}\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("SEARCH_TOKEN", "tok-123456789")
    # A database of MLflow takes its migrations, and seconds.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    (tmp_path / "questions.jsonl").write_text(QUESTIONS)
    yield tmp_path
    sys.modules.pop("my_search", None)


def sections(page: str) -> dict[str, str]:
    """The sections of a page that hold snippets; one inside another goes on where that stopped."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    outer = ""
    for depth, name, content in zip(*[iter(HEADING.split(text)[1:])] * 3, strict=True):
        if depth == "##":
            outer = content
        found[name] = content if depth == "##" else outer + content
    return {name: content for name, content in found.items() if BLOCK.search(content)}


SECTIONS = [
    ("retrieve", "", (DOCS / "retrieve.md").read_text(encoding="utf-8")),
    *(
        (page, name, content)
        for page in ("adapters", "platforms")
        for name, content in sections(page).items()
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "content"),
    [(name, content) for _, name, content in SECTIONS],
    ids=[f"{page}, {name}" for page, name, _ in SECTIONS],
)
def test_a_section(name: str, content: str, here: Path, server: Server) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"the section is about {name}")
    names: dict[str, object] = {"__name__": "docs"}
    printed: str | None = None
    ran = 0
    for kind, text in BLOCK.findall(content):
        if kind == "json":
            (here / "questions.jsonl").write_text(text)
        elif kind == "python" and text.startswith("# ") and ".py" in text.splitlines()[0]:
            (here / text.splitlines()[0].removeprefix("# ")).write_text(text)
        elif kind == "python":
            text = text.replace("sqlite:///mlflow.db", "file:./mlruns")
            printed = _run(text.replace("http://127.0.0.1:8000", server.address), names)
            ran += 1
        elif kind == "console":
            _console(text, server)
            ran += 1
        elif kind == "text":
            said = printed.endswith(text) if name in TALKATIVE else printed == text
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
            re.sub("^(cmd|mcp):python ", rf"\1:{shlex.quote(sys.executable)} ", word)
            for word in words
        ]
        result = calipers_command(*words[2:])
        assert (result.code, result.err) == (0, ""), line
