import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import retrieve
from calipers.errors import CalipersError
from calipers.live.questions import read_questions
from calipers.live.run_file import AnswerCounts, RunEntry, RunWriter, backup_path, meta_path
from tests.live.interrupted import recorded

QUESTIONS = {f"q{i}": f"question {i}" for i in range(6)}


def search(query: str, k: int) -> list[tuple[str, float]]:
    return [(f"{query[-1]}-{i}", 1 / (i + 1)) for i in range(k)]


def interrupt(output: Path, **changed: Any) -> None:
    """Turn a finished run into an interrupted one, by what stands beside it."""
    beside = meta_path(output)
    beside.write_text(json.dumps({**json.loads(beside.read_text()), "complete": False, **changed}))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, marked as interrupted."""
    output = tmp_path_factory.mktemp("whole") / "run.jsonl"
    retrieve(search, QUESTIONS, k=3, output=output, workers=1)
    interrupt(output)
    return output


def stopped_after(whole: Path, folder: Path, share: float) -> Path:
    """The run as a kill after this share of its bytes would leave it."""
    output, content = folder / "run.jsonl", whole.read_bytes()
    output.write_bytes(content[: round(share * len(content))])
    meta_path(output).write_bytes(meta_path(whole).read_bytes())
    return output


@given(share=st.floats(0, 1))
def test_a_file_cut_anywhere_is_completed(
    whole: Path, share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    output = stopped_after(whole, tmp_path_factory.mktemp("cut"), share)
    kept = output.read_bytes()
    asked = retrieve(search, QUESTIONS, k=3, output=output, workers=2).report.asked
    assert recorded(output) == recorded(whole)
    finished = sum(_is_json(line) for line in kept.split(b"\n"))
    assert asked == len(QUESTIONS) - finished


def test_a_whole_line_without_its_end_is_kept(whole: Path, tmp_path: Path) -> None:
    output = stopped_after(whole, tmp_path, 1)
    output.write_bytes(output.read_bytes().removesuffix(b"\n"))
    assert retrieve(search, QUESTIONS, k=3, output=output).report.asked == 0
    assert recorded(output) == recorded(whole)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def test_changed_settings_refuse_to_go_on(whole: Path, tmp_path: Path) -> None:
    output = stopped_after(whole, tmp_path, 0.5)
    before = output.read_bytes()
    about: Any = {"questions": QUESTIONS, "k": 3, "output": output}
    changes: list[tuple[dict[str, Any], str]] = [
        ({"k": 4}, "k was 3 and is 4"),
        ({"id": "$.x"}, r'id was not set and is "\$.x"'),
        ({"questions": {"q0": "question 0"}}, "belongs to another run: questions was"),
    ]
    for changed, words in changes:
        with pytest.raises(CalipersError, match=words):
            retrieve(search, **about | changed)
        assert output.read_bytes() == before
    assert retrieve(search, **about | {"k": 4, "restart": True}).report.asked == len(QUESTIONS)
    assert len(output.read_text().splitlines()) == len(QUESTIONS)


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_finished_run_is_asked_again_and_the_old_one_kept(tmp_path: Path) -> None:
    output = tmp_path / "run.jsonl"
    retrieve(search, QUESTIONS, k=3, output=output)
    old = output.read_bytes()
    again = retrieve(search, QUESTIONS, k=4, output=output)
    assert again.report.asked == len(QUESTIONS)
    assert again.report.earlier == f"The finished run of before is kept in {output}.bak."
    assert backup_path(output).read_bytes() == old
    assert names(tmp_path) == [
        "run.jsonl",
        "run.jsonl.bak",
        "run.jsonl.bak.meta.json",
        "run.jsonl.meta.json",
    ]


def test_failed_questions_of_another_run_are_not_asked_again(tmp_path: Path) -> None:
    output = tmp_path / "run.jsonl"
    retrieve(search, QUESTIONS, k=3, output=output)
    old = output.read_bytes()
    assert retrieve(search, QUESTIONS, k=3, output=output, retry_errors=True).report.asked == 0
    more = {**QUESTIONS, "q6": "question 6"}
    with pytest.raises(CalipersError, match="belongs to another run: questions was"):
        retrieve(search, more, k=3, output=output, retry_errors=True)
    assert output.read_bytes() == old


def test_changed_code_never_goes_on_in_silence(whole: Path, tmp_path: Path) -> None:
    output = stopped_after(whole, tmp_path, 0.5)
    about: Any = {"k": 3, "output": output}
    interrupt(output, code={"search.py": "other", "gone.py": "1"})
    with pytest.raises(CalipersError, match="an interrupted run, and its code was changed"):
        retrieve(search, QUESTIONS, **about)
    went_on = retrieve(search, QUESTIONS, **about, retry_errors=True).report
    assert 0 < went_on.asked < len(QUESTIONS)
    assert "a part of these answers its code was changed" in str(went_on.earlier)
    # Noted down anew: what was answered now is of this code.
    assert retrieve(search, QUESTIONS, **about, retry_errors=True).report.earlier is None
    interrupt(output, code={"search.py": "other"}, complete=True)
    assert retrieve(search, QUESTIONS, **about).report.asked == len(QUESTIONS)


def test_a_file_of_something_else_is_never_touched(tmp_path: Path) -> None:
    output = tmp_path / "questions.jsonl"
    output.write_text('{"query": "precious"}\n')
    for restart in (False, True):
        with pytest.raises(CalipersError, match="was not written by `calipers retrieve`"):
            retrieve(search, QUESTIONS, output=output, restart=restart)
    meta_path(output).write_text("{}")
    with pytest.raises(CalipersError, match="cannot be read; name another file"):
        retrieve(search, QUESTIONS, output=output)
    assert output.read_text() == '{"query": "precious"}\n'


def test_a_damaged_line_in_the_middle_is_named(whole: Path, tmp_path: Path) -> None:
    output = stopped_after(whole, tmp_path, 1)
    lines = output.read_text().splitlines()
    for damaged, words in (
        ([*lines[:2], "garbage", *lines[3:]], "is damaged: b'garbage'"),
        ([*lines, lines[0]], "the question 'q0' is unknown, or stands twice"),
        ([*lines[:3], lines[3].replace("q3", "q33")], "the question 'q33' is unknown"),
    ):
        output.write_text("\n".join(damaged) + "\n")
        with pytest.raises(CalipersError, match=words):
            retrieve(search, QUESTIONS, k=3, output=output)


@pytest.mark.parametrize(
    ("name", "words"),
    [("no/run.jsonl", "no folder"), ("run.csv", "ending"), ("", "folder")],
)
def test_places_that_cannot_be_written_are_told_first(
    tmp_path: Path, name: str, words: str
) -> None:
    asked = []
    with pytest.raises(CalipersError, match=words):
        retrieve(lambda query, k: asked.append(query), QUESTIONS, output=tmp_path / name)
    assert asked == []


def test_two_at_a_time_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="locks are those of Unix")
    about: Any = (tmp_path / "run.jsonl", {"k": 1}, read_questions(QUESTIONS), AnswerCounts(1))
    first = RunWriter(*about)
    with pytest.raises(CalipersError, match="Another process is writing"):
        RunWriter(*about)
    first.close()
    RunWriter(*about).close()


@given(order=st.permutations(range(6)), cuts=st.sets(st.integers(1, 5)))
def test_lines_written_in_any_order_end_in_that_of_the_questions(
    order: list[int], cuts: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the order and however many at a time, each line is found where it begins."""
    output = tmp_path_factory.mktemp("order") / "run.jsonl"
    questions = read_questions(QUESTIONS)
    writer = RunWriter(output, {}, questions, AnswerCounts(1))
    begin = [0, *sorted(cuts)]
    for first, last in zip(begin, [*begin[1:], 6], strict=True):
        some = order[first:last]
        lines = [f'{{"query": "q{i}", "retrieved": [], "x": "{"é" * i}"}}'.encode() for i in some]
        writer.write(some, lines)
    writer.close()
    again = RunWriter(output, {}, questions, AnswerCounts(1))
    assert list(again.unfinished()) == []
    again.finish({})
    again.close()
    assert [one["query"] for one in recorded(output)] == list(QUESTIONS)


LIMITED = """
import resource, sys
# Modules that are compiled below the limit would stay on the disk, cut short.
sys.dont_write_bytecode = True
from tests.live.test_run_file import QUESTIONS, search
from calipers import retrieve
resource.setrlimit(resource.RLIMIT_FSIZE, (700, resource.RLIM_INFINITY))
retrieve(search, QUESTIONS, k=3, output=sys.argv[1])
"""


def test_a_file_that_may_not_grow_keeps_whole_lines(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="limits are those of Unix")
    output = tmp_path / "run.jsonl"
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, str(output)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "WriteFailed: The run" in ended.stderr
    assert "cannot be written: File too large; what is there stays" in ended.stderr
    kept = recorded(output)
    assert 0 < len(kept) < len(QUESTIONS)
    again = retrieve(search, QUESTIONS, k=3, output=output)
    assert again.report.asked == len(QUESTIONS) - len(kept)
    assert [one["id"] for one in recorded(output)] == list(QUESTIONS)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.lists(st.floats(0, 1e6)))
def test_latencies_are_those_of_the_usual_calls(usual: list[float], warm_up: list[float]) -> None:
    counts = AnswerCounts(1)
    found = counts.latency_ms()
    assert found["p50"] is found["mean"] is found["max"] is None
    for milliseconds in warm_up:
        counts.add(RunEntry("q", [], latency_ms=milliseconds, warm_up=True))
    for milliseconds in usual:
        counts.add(RunEntry("q", [], latency_ms=milliseconds))
    found = counts.latency_ms()
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        # The smallest value that covers the share.
        covered = [t for t in usual if sum(o <= t for o in usual) >= share * len(usual) - 1e-9]
        assert found[name] == min(covered)
    assert (found["count"], found["max"]) == (len(usual), max(usual))
