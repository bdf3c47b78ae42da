"""calipers retrieve and eval --retriever, as a user meets them."""

import json
import shlex
from pathlib import Path

import pytest

from tests.command import calipers_command, refused, typed
from tests.live.server import running

MODULE = """
def search(query: str, k: int):
    return [(f"d{i}", 1 / (i + 1)) for i in range(k)]

def sometimes(query: str, k: int):
    if "two" in query:
        raise KeyError("\\x1b[31mred")
    return search(query, k)

def nothing(query, k):
    return None

def flexible(query, k, depth=0, name=""):
    return [f"{name}{depth + 1}"]
"""

CLOSED = "http://127.0.0.1:1/?q={query}"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    Path("live_search.py").write_text(MODULE)
    records = [
        {"query": "question one", "id": "q1", "ground_truth": {"d0": 1}},
        {"query": "question two", "id": "q2", "ground_truth": {"d1": 1}},
    ]
    Path("questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    return tmp_path


def test_a_run_is_written_and_measured() -> None:
    printed = typed("retrieve live_search.py:search questions.jsonl -k 3 -o run.jsonl")
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith("2 of 2 questions answered; 2 asked in ")
    assert "latency " in printed.out
    assert "Measure it: calipers eval -g questions.jsonl --run run.jsonl\n" in printed.out
    lines = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert [one["id"] for one in lines] == ["q1", "q2"]
    from_file = typed("eval questions.jsonl --run run.jsonl -m mrr --json")
    live = typed("eval questions.jsonl --retriever live_search.py:search -m mrr --json")
    assert (from_file.code, live.code) == (0, 0)
    first, second = json.loads(from_file.out), json.loads(live.out)
    assert first["summaries"][0]["mean"] == second["summaries"][0]["mean"] == 0.75


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("questions.csv", "question,chunk_id\nquestion one,d0\nquestion two,d1\n"),
        ("plain.jsonl", '{"query": "question one"}\n{"query": "question two"}\n'),
    ],
)
def test_the_command_that_is_suggested_works(name: str, content: str) -> None:
    Path(name).write_text(content)
    printed = calipers_command("retrieve", "live_search.py:search", name, "-o", "run.jsonl")
    assert printed.code == 0, printed.err
    copied = next(line for line in printed.out.splitlines() if ": calipers " in line)
    words = shlex.split(copied.partition(": calipers ")[2])
    assert calipers_command(*words).code == 0, copied


def test_errors_are_counted_shown_and_can_be_asked_again() -> None:
    arguments = "retrieve live_search.py:sometimes questions.jsonl -o run.jsonl --workers 1"
    printed = typed(arguments)
    assert printed.code == 0
    assert "1 question failed (1 KeyError);" in printed.out
    assert "--retry-errors" in printed.out
    assert "\x1b" not in printed.out
    retried = typed(f"{arguments} --retry-errors")
    assert "1 of 2 questions answered; 1 asked in" in retried.out


def test_parameters_are_numbers_where_they_look_like_numbers() -> None:
    asked = "retrieve live_search.py:flexible questions.jsonl -o run.jsonl -k 1"
    typed(f"{asked} --param depth=4 --param name=d")
    assert '"id":"d5"' in Path("run.jsonl").read_text()


def test_an_address_with_headers_and_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", "tok-123456789")
    with running() as server:
        printed = typed(
            f"retrieve {server.address}/search questions.jsonl -o run.jsonl -k 2 "
            """--request '{"q": "{query}", "top": "{k}"}' --results '$.hits[*]' --id '$.id' """
            "--header 'Authorization: Bearer $SEARCH_TOKEN' --stage 'candidates=$.candidates[*]'"
        )
        assert printed.code == 0, printed
        assert server.headers[0]["Authorization"] == "Bearer tok-123456789"
    for path in Path().iterdir():
        assert "tok-123456789" not in path.read_text()
    assert '"stages":{"candidates":[' in Path("run.jsonl").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["live_search.py:nothing", "questions.jsonl"], "returned None"),
        (["live_search.py:serch", "questions.jsonl"], "Did you mean search?"),
        (["live_search.py:search", "none.jsonl"], "no file none.jsonl"),
        (["live_search.py:search", "questions.jsonl", "-k", "0"], "k is 0"),
        (["live_search.py:search", "questions.jsonl", "--workers", "0"], "workers is 0"),
        (["live_search.py:search", "questions.jsonl", "--request", "{}"], "nothing for a function"),
        ([CLOSED, "questions.jsonl", "--header", "tok-12345", "--retries", "0"], "no ':' in it"),
        ([CLOSED, "questions.jsonl", "--retries", "0"], "cannot be reached"),
        ([CLOSED, "questions.jsonl", "--stage", "x"], "--stage"),
    ],
)
def test_bad_use_is_a_sentence_and_leaves_no_file(arguments: list[str], words: str) -> None:
    sentence = refused("retrieve", *arguments, "-o", "run.jsonl")
    assert words in sentence
    assert "tok-12345" not in sentence
    assert not Path("run.jsonl").exists()


def test_a_retriever_that_finds_nothing_at_all_is_refused() -> None:
    calipers_command("retrieve", "live_search.py:search", "questions.jsonl", "-o", "run.jsonl")
    old = Path("run.jsonl").read_bytes()
    Path("live_search.py").write_text("def search(query, k):\n    return []\n")
    for arguments in (
        ("retrieve", "live_search.py:search", "questions.jsonl", "-o", "run.jsonl"),
        ("eval", "questions.jsonl", "--retriever", "live_search.py:search"),
    ):
        sentence = refused(*arguments)
        assert "was asked 2 questions and returned no result for any of them" in sentence
    assert Path("run.jsonl").read_bytes() == old, "the run of before is in its place again"


def test_a_module_that_leaves_while_it_is_imported_is_a_sentence() -> None:
    Path("leaving.py").write_text("import sys\nsys.exit(0)\n")
    for target in ("leaving:search", "leaving.py:search"):
        assert "raises SystemExit" in refused("eval", "questions.jsonl", "--retriever", target)
