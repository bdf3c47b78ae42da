import re
import shlex
import sys
from pathlib import Path

import pytest

from calipers import retrieve
from calipers.errors import InvalidInput, RetrieverFailed
from calipers.live.adapters.command import from_command
from tests.command import calipers_command, refused

PROGRAM = """
import json, os, sys, time
starts = open(sys.argv[1], "a"); starts.write("x"); starts.close()
for line in sys.stdin:
    asked = json.loads(line)
    query, k = asked["query"], asked["k"]
    if query == "die":
        print("index not found", file=sys.stderr); sys.exit(3)
    if query == "hang":
        time.sleep(30)
    if query == "refuse":
        print(json.dumps({"retrieved": [], "error": "no such index"})); continue
    print(json.dumps({"id": asked["id"], "retrieved": [f"{query}-{i}" for i in range(k)]}))
"""


@pytest.fixture
def command(tmp_path: Path) -> str:
    program = tmp_path / "search.py"
    program.write_text(PROGRAM)
    words = [sys.executable, str(program), str(tmp_path / "starts")]
    return "cmd:" + " ".join(map(shlex.quote, words))


def test_one_process_answers_line_by_line(command: str, tmp_path: Path) -> None:
    run = retrieve(command, [f"q{i}" for i in range(30)], k=2)
    assert run.frame["item"].to_list() == [f"q{i}-{j}" for i in range(30) for j in range(2)]
    assert (tmp_path / "starts").read_text() == "x"


def test_every_trouble_is_one_error_and_the_command_starts_again(
    command: str, tmp_path: Path
) -> None:
    questions = ["a", "die", "b", "hang", "c", "refuse", "d"]
    run = retrieve(command, questions, k=1, timeout=1.0, retries=0)
    assert dict(run.report.errors) == {"command": 2, "timeout": 1}
    assert run.frame["item"].to_list() == [f"{one}-0" for one in "abcd"]
    assert run.report.first_error == (
        "command: the command ended with code 3 instead of answering; its last words: "
        "index not found"
    )
    assert (tmp_path / "starts").read_text() == "xxx"


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(RetrieverFailed, match=r"'./not-there' cannot be started: No such file"):
        retrieve("cmd:./not-there --fast", ["a", "b"])


@pytest.mark.parametrize(
    ("line", "words"), [("", "is empty"), ("a 'b", "quotation"), ("a $NOT_SET_X", "NOT_SET_X")]
)
def test_commands_that_cannot_be_read(line: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        from_command(line)


@pytest.mark.parametrize(
    "line",
    ["s --api-key abcd1234", "s --token=abcd1234", "env PASSWORD=abcd1234 s", "s --key $MY_KEY_X"],
)
def test_secrets_of_the_command_line_and_the_environment_are_hidden(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY_X", "abcd1234")
    retriever = from_command(line)
    assert "abcd1234" not in retriever.name + str(retriever.settings)
    assert ("$MY_KEY_X" in line) == ("$MY_KEY_X" in retriever.name)
    assert retriever.secrets.redact("key abcd1234 refused") == "key *** refused"


def test_a_command_that_keeps_its_lines_to_itself_is_given_up_at_once(tmp_path: Path) -> None:
    silent = tmp_path / "silent.py"
    silent.write_text("import sys\nfor line in sys.stdin: pass\n")
    line = f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(silent))}"
    with pytest.raises(RetrieverFailed, match=r"no line within 0.3 s; .* flush its output"):
        retrieve(line, [f"q{i}" for i in range(100)], timeout=0.3)


def test_a_line_without_end_is_no_answer(tmp_path: Path) -> None:
    program = tmp_path / "zeros.py"
    program.write_text("import sys\nwhile True: sys.stdout.write('0' * 65536)\n")
    with pytest.raises(RetrieverFailed, match=r"longer than 64 MB|ended with code"):
        retrieve(f"cmd:{sys.executable} {program}", ["Who?"], retries=0)


def test_one_line_says_what_was_understood(command: str, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"query": "Who?"}\n{"query": "die"}\n')
    printed = calipers_command("retrieve", command, str(questions), "--check", "-k", "2")
    assert printed.code == 0
    assert re.fullmatch(
        r"cmd:.* answered 'Who\?' with 2 results in .* the first has id 'Who\?-0'\.\n", printed.out
    )
    assert sorted(one.name for one in tmp_path.iterdir()) == ["q.jsonl", "search.py", "starts"]
    assert "returned 7" in refused(
        "retrieve", 'cmd:sh -c "read line; echo 7"', str(questions), "--check"
    )
    assert "give -o run.jsonl" in refused("retrieve", command, str(questions))
