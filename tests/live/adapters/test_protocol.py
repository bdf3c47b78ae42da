"""The lines of a search command belong to their questions, or the run stops."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import calipers
from calipers.errors import RetrieverFailed
from tests.command import calipers_command

QUESTIONS = [f"{number}" for number in range(8)]
"""Each question is the number of its only target."""

LANGUAGES = {
    "python": (
        "search.py",
        """
import json, sys
@START
for line in sys.stdin:
    asked = json.loads(line)
    n = asked["query"]
    answer = @ANSWER
    @BEFORE
    print(answer, flush=True)
    @AFTER
@END
""",
    ),
    "perl": (
        "search.pl",
        r"""
$| = 1;
@START
while (my $line = <STDIN>) {
    my ($n) = $line =~ /"query":"(\d+)"/;
    my $answer = @ANSWER;
    @BEFORE
    print "$answer\n";
    @AFTER
}
@END
""",
    ),
    "awk": (
        "search.awk",
        r"""
BEGIN { @START }
{
    match($0, /"query":"[0-9]+"/); n = substr($0, RSTART + 9, RLENGTH - 10)
    answer = @ANSWER
    @BEFORE
    print answer; fflush()
    @AFTER
}
END { @END }
""",
    ),
    "node": (
        "search.mjs",
        """
import { createInterface } from "node:readline";
@START
for await (const line of createInterface({ input: process.stdin })) {
    const n = JSON.parse(line).query;
    const answer = @ANSWER;
    @BEFORE
    console.log(answer);
    @AFTER
}
@END
""",
    ),
    "sh": (
        "search.sh",
        r"""
@START
while read -r line; do
    n=$(printf '%s' "$line" | sed 's/.*"query":"\([0-9]*\)".*/\1/')
    answer=@ANSWER
    @BEFORE
    echo "$answer"
    @AFTER
done
@END
""",
    ),
    "tclsh": (
        "search.tcl",
        r"""
fconfigure stdout -buffering line
@START
while {[gets stdin line] >= 0} {
    regexp {"query":"(\d+)"} $line all n
    set answer @ANSWER
    @BEFORE
    puts $answer
    @AFTER
}
@END
""",
    ),
}
PRINTS = {
    "python": "print({!r}, flush=True)",
    "perl": "print '{}' . qq(\\n);",
    "awk": 'print "{}"; fflush()',
    "node": "console.log('{}');",
    "sh": "echo '{}'",
    "tclsh": "puts {{{}}}",
}
"""How each prints a line of its own."""
AGAIN = {
    "python": "print(answer, flush=True)",
    "perl": 'print "$answer\\n";',
    "awk": "print answer; fflush()",
    "node": "console.log(answer);",
    "sh": 'echo "$answer"',
    "tclsh": "puts $answer",
}
BARE = {
    "python": "json.dumps([n])",
    "perl": r'"[\"$n\"]"',
    "awk": r'"[\"" n "\"]"',
    "node": "JSON.stringify([n])",
    "sh": r'"[\"$n\"]"',
    "tclsh": r'"\[\"$n\"\]"',
}
"""The answer without the id of its question."""
ECHOING = {
    "python": 'json.dumps({"id": asked["id"], "retrieved": [n]})',
    "perl": r'"{\"id\": \"$n\", \"retrieved\": [\"$n\"]}"',
    "awk": r'"{\"id\": \"" n "\", \"retrieved\": [\"" n "\"]}"',
    "node": "JSON.stringify({ id: n, retrieved: [n] })",
    "sh": r'"{\"id\": \"$n\", \"retrieved\": [\"$n\"]}"',
    "tclsh": r'"{\"id\": \"$n\", \"retrieved\": \[\"$n\"\]}"',
}
"""The answer with it: each question is its own id here."""
STARTED = {"python": sys.executable, "awk": "awk -W interactive -f"}
WORDS = "loading the index"
STATUS = '{"status": "ready"}'
FAULTS = {
    "words at the start": ("@START", WORDS),
    "a status at the start": ("@START", STATUS),
    "an empty list at the start": ("@START", "[]"),
    "words before each answer": ("@BEFORE", WORDS),
    "each answer twice": ("@AFTER", None),
    "words after each answer": ("@AFTER", WORDS),
    "words at the end": ("@END", "bye"),
    "a status at the end": ("@END", STATUS),
}
IN_NODE = ("a status at the start", "each answer twice")
"""Node takes long to start, so it is tried with these only."""


def written(folder: Path, language: str, *, echo: bool, fault: str | None = None) -> str:
    """Write a search in a language, with a fault or without, and return what starts it."""
    name, program = LANGUAGES[language]
    tool = STARTED.get(language, language)
    if shutil.which(tool.split()[0]) is None:
        pytest.skip(f"{tool} is not installed")
    place, line = FAULTS[fault] if fault else (None, None)
    for hole in ("@START", "@BEFORE", "@AFTER", "@END"):
        extra = ""
        if hole == place:
            text = line if line is None or language != "awk" else line.replace('"', '\\"')
            extra = AGAIN[language] if text is None else PRINTS[language].format(text)
        program = program.replace(hole, extra)
    program = program.replace("@ANSWER", (ECHOING if echo else BARE)[language])
    (folder / name).write_text(program)
    return f"cmd:{tool} {shlex.quote(str(folder / name))}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("echo", [True, False], ids=["with id", "without id"])
def test_every_question_gets_its_own_answer(language: str, echo: bool, tmp_path: Path) -> None:
    run = calipers.retrieve(written(tmp_path, language, echo=echo), QUESTIONS, k=1, timeout=10)
    assert dict(zip(run.frame["query"], run.frame["item"], strict=True)) == dict(
        zip(QUESTIONS, QUESTIONS, strict=True)
    )


@pytest.mark.parametrize(
    ("language", "fault"),
    [
        (language, fault)
        for language in LANGUAGES
        for fault in (IN_NODE if language == "node" else FAULTS)
    ],
)
@pytest.mark.parametrize("echo", [True, False], ids=["with id", "without id"])
def test_a_line_too_many_stops_the_run_and_leaves_no_wrong_answer(
    language: str, echo: bool, fault: str, tmp_path: Path
) -> None:
    target = written(tmp_path, language, echo=echo, fault=fault)
    output = tmp_path / "run.jsonl"
    with pytest.raises(RetrieverFailed, match="one line of JSON for each question"):
        calipers.retrieve(target, QUESTIONS, k=1, output=output, timeout=10)
    kept = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    assert all(one["retrieved"] == [{"id": one["query"]}] for one in kept if "error" not in one)
    if not echo:
        assert not kept


def test_the_sentence_names_the_line_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text("".join(f'{{"query": "{n}"}}\n' for n in QUESTIONS))
    target = written(tmp_path, "python", echo=False, fault="words at the start")
    output = tmp_path / "run.jsonl"
    printed = calipers_command(
        "retrieve", target, str(tmp_path / "q.jsonl"), "-k", "1", "-o", str(output)
    )
    assert printed.code == 2
    assert "It printed a line that is not JSON: 'loading the index'." in printed.err
    assert "print everything else to standard error" in printed.err
    assert "No file was written." in printed.err
    assert not output.exists()


BEHIND = """
import json, subprocess, sys, time
if @EXTRA:
    print("[]", flush=True)
for line in sys.stdin:
    query = json.loads(line)["query"]
    time.sleep(@LASTS)
    print(json.dumps([query]), flush=True)
if @HOLDS:
    subprocess.Popen(["sleep", "3"])
else:
    time.sleep(@LINGERS)
"""


@pytest.mark.parametrize(
    ("extra", "lasts", "lingers", "holds", "sentence"),
    [
        (True, 0.5, 0, False, r"It printed a line after its last answer: '\[\"0\"\]'"),
        (True, 60, 0, False, r"it went on running for \S+ s after its input had ended"),
        (False, 0.1, 60, False, r"it went on running for \S+ s after its input had ended"),
        (False, 0, 0, True, "another process holds its standard output open"),
    ],
    ids=["slow", "hangs", "lingers", "leaves another"],
)
def test_without_ids_a_last_line_is_waited_for_as_long_as_an_answer_may_take(
    extra: bool, lasts: float, lingers: float, holds: bool, sentence: str, tmp_path: Path
) -> None:
    """One line behind, and slower than a process may usually be in ending."""
    holes = {"@EXTRA": extra, "@LASTS": lasts, "@LINGERS": lingers, "@HOLDS": holds}
    source = BEHIND
    for hole, value in holes.items():
        source = source.replace(hole, str(value))
    program = tmp_path / "slow.py"
    program.write_text(source)
    output = tmp_path / "run.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calipers.live.adapters.command.PATIENCE_SECONDS", 0.2)
        with pytest.raises(RetrieverFailed, match=sentence):
            calipers.retrieve(
                f"cmd:{sys.executable} {program}", QUESTIONS[:3], k=1, timeout=1, output=output
            )
    assert not output.exists()


BALANCED = {
    "an extra line and a missing one": (
        'print("[]", flush=True)',
        "if query != '5':\n        print(json.dumps([query]), flush=True)",
    ),
    "an answer twice, then it exits with 0": (
        "",
        "print(json.dumps([query]), flush=True)\n"
        "    if query == '1':\n"
        "        time.sleep(0.2)\n        print(json.dumps([query]), flush=True)\n"
        "    if query == '6':\n        sys.exit(0)",
    ),
}


@pytest.mark.parametrize("fault", BALANCED)
def test_without_ids_a_balanced_fault_moves_no_answer(fault: str, tmp_path: Path) -> None:
    """As many lines as questions, and exit code 0: only one process for each question shows it."""
    first, rest = BALANCED[fault]
    program = tmp_path / "search.py"
    program.write_text(
        f"import json, sys, time\n{first}\nfor line in sys.stdin:\n"
        f"    query = json.loads(line)['query']\n    {rest}\n"
    )
    output = tmp_path / "run.jsonl"
    with pytest.raises(RetrieverFailed, match="It printed a line after its last answer"):
        calipers.retrieve(f"cmd:{sys.executable} {program}", QUESTIONS, k=1, output=output)
    kept = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    assert all(one["retrieved"] == [{"id": one["query"]}] for one in kept)


@pytest.mark.parametrize("echo", [True, False], ids=["with id", "without id"])
def test_one_process_answers_all_with_ids_and_one_each_without(echo: bool, tmp_path: Path) -> None:
    target = written(tmp_path, "sh", echo=echo)
    program = tmp_path / "search.sh"
    program.write_text(f"echo >> {shlex.quote(str(tmp_path / 'starts'))}\n{program.read_text()}")
    run = calipers.retrieve(target, QUESTIONS, k=1)
    assert run.frame["item"].to_list() == QUESTIONS
    # Without ids another process is asked nothing, to see that it writes nothing.
    assert len((tmp_path / "starts").read_text()) == (1 if echo else len(QUESTIONS) + 1)
    assert ("the command is started" in f"{run}") != echo


STOPPED = {
    "a status that is no answer": (
        "print('\"ready\"')",
        "[query]",
        "It printed a line that is no answer",
    ),
    "no id after ids": (
        "",
        '[] if query == "3" else {"id": query, "hits": [query]}',
        "It printed a line without an id after answers with one",
    ),
    "it dies at its last question": (
        "print([])",
        '[query] if query != "7" else sys.exit(1)',
        "It printed a line after its last answer",
    ),
    "it dies at its end": (
        "import atexit, os; atexit.register(os._exit, 1)",
        "[query]",
        "it ended with code 1: a line may be missing",
    ),
}


@pytest.mark.parametrize("fault", STOPPED)
def test_what_cannot_be_told_from_a_line_too_many_stops_the_run(fault: str, tmp_path: Path) -> None:
    first, answer, sentence = STOPPED[fault]
    program = tmp_path / "search.py"
    program.write_text(
        f"import json, sys, time\n{first}\nfor line in sys.stdin:\n"
        "    query = json.loads(line)['query']\n"
        f"    answer = {answer}\n    time.sleep(0.02)\n    print(json.dumps(answer))\n"
    )
    output = tmp_path / "run.jsonl"
    with pytest.raises(RetrieverFailed, match=sentence):
        calipers.retrieve(f"cmd:{sys.executable} {program}", QUESTIONS, k=1, output=output)
    kept = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    assert [one["query"] for one in kept] == (["0", "1", "2"] if fault == "no id after ids" else [])


def test_an_answer_to_the_question_before_stops_the_run(tmp_path: Path) -> None:
    """Also where the results stand under a name that is not ours."""
    program = tmp_path / "behind.py"
    program.write_text(
        "import json, sys\nlast = None\n"
        "for line in sys.stdin:\n"
        "    last = last or json.loads(line)['id']\n"
        "    print(json.dumps({'id': last, 'hits': [last]}), flush=True)\n"
    )
    with pytest.raises(RetrieverFailed, match=r"It answered question '0' when asked '1'"):
        calipers.retrieve(f"cmd:{sys.executable} {program}", QUESTIONS, k=1)


PROXY = """
import json, sys
for line in sys.stdin:
    query = json.loads(line)["query"]
    print(json.dumps({"id": @ID, "@NAME": [query]}), flush=True)
"""


def proxy(folder: Path, own_id: str, name: str) -> str:
    """Write a search that answers with an id of its own, and return what starts it."""
    program = folder / "proxy.py"
    program.write_text(PROXY.replace("@ID", own_id).replace("@NAME", name))
    return f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(program))}"


@pytest.mark.parametrize(
    ("own_id", "shown", "name"),
    [
        ("'zzz'", "'zzz'", "results"),
        ("'zzz'", "'zzz'", "retrieved"),
        ("'resp-' + query", "'resp-0'", "data"),
        ("1.5", "'1.5'", "hits"),
    ],
)
def test_an_id_that_is_not_the_question_s_stops_the_run(
    own_id: str, shown: str, name: str, tmp_path: Path
) -> None:
    """Under whatever name the results stand, and though no question was answered twice."""
    output = tmp_path / "run.jsonl"
    sentence = f"It answered question '0' with the id {shown}, which is not the question's. "
    with pytest.raises(RetrieverFailed, match=sentence) as stopped:
        calipers.retrieve(proxy(tmp_path, own_id, name), QUESTIONS, k=1, output=output)
    assert "Repeat the id that came with the question" in str(stopped.value)
    assert not output.exists()


@pytest.mark.parametrize("own_id", ["query", "int(query)", "None"])
def test_the_id_of_the_question_or_none_is_taken(own_id: str, tmp_path: Path) -> None:
    run = calipers.retrieve(proxy(tmp_path, own_id, "results"), QUESTIONS, k=1)
    assert run.frame["item"].to_list() == QUESTIONS


def test_an_id_of_another_service_is_no_echo_where_the_results_are_named(tmp_path: Path) -> None:
    target = proxy(tmp_path, "'resp-' + query", "data")
    run = calipers.retrieve(target, QUESTIONS, k=1, results="$.data[*]")
    assert run.frame["item"].to_list() == QUESTIONS


@pytest.mark.parametrize("command", ["eval", "retrieve"])
def test_a_command_refuses_an_id_that_is_not_the_question_s(command: str, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "q1", "query": "Who gave it?", "expected_ids": ["c1"]}\n')
    target = proxy(tmp_path, "'zzz'", "results")
    words = {
        "eval": ("eval", str(questions), "--retriever", target),
        "retrieve": ("retrieve", target, str(questions), "--check"),
    }
    printed = calipers_command(*words[command])
    assert printed.code == 2
    assert "answered question 'q1' with the id 'zzz', which is not" in printed.err


def test_a_script_that_answers_once_and_ends_is_started_again(tmp_path: Path) -> None:
    program = tmp_path / "once.sh"
    program.write_text(
        'read -r line\nn=$(printf %s "$line" | sed \'s/.*"query":"\\([0-9]*\\)".*/\\1/\')\n'
        'echo "{\\"id\\": \\"$n\\", \\"retrieved\\": [\\"$n\\"]}"\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calipers.live.driver.FIRST_PAUSE", 0.001)
        run = calipers.retrieve(f"cmd:sh {program}", QUESTIONS, k=1)
    assert run.frame["item"].to_list() == QUESTIONS


def test_check_says_when_the_id_is_missing(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"query": "3"}\n')
    for echo in (True, False):
        target = written(tmp_path, "python", echo=echo)
        asked = ("retrieve", target, str(tmp_path / "q.jsonl"), "-k", "1", "--check")
        printed = calipers_command(*asked)
        assert printed.code == 0
        assert ("does not repeat the id of its question" in printed.out) != echo
        answer = json.loads(calipers_command(*asked, "--json").out)
        assert (answer["results"], answer["first"]) == (1, {"id": "3"})
        assert (answer["remark"] is None) == echo


def test_check_refuses_a_line_too_many(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"query": "3"}\n')
    target = written(tmp_path, "python", echo=False, fault="a status at the start")
    printed = calipers_command("retrieve", target, str(tmp_path / "q.jsonl"), "--check")
    assert printed.code == 2
    assert "one line of JSON for each question" in printed.err


LOSES_ITS_ANSWER = """
import json, os, sys, threading, time

def answer(asked):
    time.sleep(0.3)
    print(json.dumps(@ANSWER), flush=True)

print(@EARLY, flush=True)
for line in sys.stdin:
    @LATE
    threading.Thread(target=answer, args=(json.loads(line),)).start()
os._exit(0)
"""
"""Ends with its input, as programs with callbacks do: the line of its start is its only one."""


@pytest.mark.parametrize("answer", ['[asked["query"]]', '{"id": asked["id"], "retrieved": []}'])
@pytest.mark.parametrize("when", ["early", "late"])
def test_a_line_of_the_start_is_no_answer_though_the_end_of_the_input_takes_the_real_one(
    when: str, answer: str, tmp_path: Path
) -> None:
    status = '{"documents": 1000}'
    holes = {
        "@ANSWER": answer,
        "@EARLY": f"'{status}'" if when == "early" else "end=''",
        "@LATE": f"print('{status}', flush=True)" if when == "late" else "pass",
    }
    source = LOSES_ITS_ANSWER
    for hole, value in holes.items():
        source = source.replace(hole, value)
    program = tmp_path / "search.py"
    program.write_text(source)
    output = tmp_path / "run.jsonl"
    with pytest.raises(RetrieverFailed, match="It printed a line after its last answer"):
        calipers.retrieve(f"cmd:{sys.executable} {program}", QUESTIONS, k=1, output=output)
    assert not output.exists()


def test_a_line_of_the_start_is_no_answer_though_no_other_ever_comes(tmp_path: Path) -> None:
    program = tmp_path / "search.py"
    program.write_text("import sys\nprint('{\"documents\": 9}', flush=True)\nsys.stdin.read()\n")
    output = tmp_path / "run.jsonl"
    sentence = "It printed a line that no question asked for: '{\"documents\": 9}'"
    with pytest.MonkeyPatch.context() as patch:
        # Its question must be out before the line comes.
        patch.setattr("calipers.live.adapters.command._Session._waiting_line", lambda _: None)
        with pytest.raises(RetrieverFailed, match=sentence):
            calipers.retrieve(f"cmd:{sys.executable} {program}", QUESTIONS, k=1, output=output)
    assert not output.exists()


def test_the_time_to_see_whether_an_answer_may_count_is_not_its_latency(tmp_path: Path) -> None:
    program = tmp_path / "search.sh"
    program.write_text("read -r line; echo '[\"7\"]'; sleep 1.5\n")
    run = calipers.retrieve(f"cmd:sh {program}", ["Which number?"], k=1)
    assert run.report.latency_ms["max"] < 1500
