"""Every command says its answer plainly: one sentence, one table, at most three lines.

Each command runs on six small inputs as a user would run it, and what it prints by default is held
to the rules: a first sentence of at most 100 characters, nothing wider than 80 columns but a
command to paste, few lines, no words that have to be learned.
"""

import json
import os
import re
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from calipers.cli import group
from calipers.errors import CalipersError

MOST_IN_SENTENCE = 100
WIDTH = 80
SIGNS = "▲▼~✓✗"
NEWS = re.compile(r"^(Written to|Saved|Keeping|Reading)\b")
"""What a command says about files it wrote, beside its answer."""
HOUSE_WORDS = re.compile(
    r"\b(not shown|is shown|turned signs?|told apart|cannot tell|is not said|decides nothing|"
    r"standing|the run does not tell|by people|ruled out)\b",
    re.IGNORECASE,
)


def _record(i: int, found: list[str], kind: str) -> dict[str, object]:
    return {
        "id": f"q{i:03}",
        "query": f"How do I reach step {i}?",
        "retrieved": [{"id": item, "score": 1 - rank / 30} for rank, item in enumerate(found)],
        "ground_truth": [f"d{i}"],
        "tags": {"type": kind},
    }


def _ranked(i: int, rank: int | None) -> list[str]:
    """Twenty results; the target stands at a rank, or nowhere."""
    found = [f"x{i}-{j}" for j in range(20)]
    if rank is not None:
        found[rank - 1] = f"d{i}"
    return found


def _rows(n: int, rank: Callable[[int], int | None]) -> list[dict[str, object]]:
    return [_record(i, _ranked(i, rank(i)), "fact" if i % 3 else "how-to") for i in range(n)]


INPUTS = {
    "one query": (_rows(1, lambda _: 1), _rows(1, lambda _: 3)),
    "three queries": (_rows(3, lambda i: i + 1), _rows(3, lambda i: i or None)),
    "thirty questions": (
        _rows(30, lambda i: (i % 12) + 1 if i % 5 else None),
        _rows(30, lambda i: (i % 9) + 1 if i % 6 else None),
    ),
    "perfect": (_rows(40, lambda _: 1), _rows(40, lambda _: 1)),
    "a collapse": (_rows(80, lambda _: 1), _rows(80, lambda i: 2 if i < 12 else None)),
    "two hundred": (
        _rows(200, lambda i: 1 + i % 15),
        _rows(200, lambda i: 1 + (i + 2) % 15 if i % 20 else None),
    ),
}
COMMANDS = {
    "eval": "eval new.jsonl",
    "eval --by": "eval new.jsonl --by type",
    "compare": "compare old.jsonl new.jsonl",
    "compare 4": "compare old.jsonl new.jsonl third.jsonl fourth.jsonl",
    "gate": "gate new.jsonl --baseline main.json",
    "gate conditions": 'gate new.jsonl --require "recall@10 >= 0.6"',
    "sweep": "sweep new.jsonl -k 1,3,5,10,20",
    "diagnose": "diagnose new.jsonl",
    "misses": "misses new.jsonl -k 10",
    "audit": "audit new.jsonl",
    "plan": "plan old.jsonl new.jsonl --difference 0.05",
    "explain": "explain q000 -r new.jsonl",
    "fuse": "fuse old.jsonl turned.jsonl",
    "confirm": "confirm old.jsonl new.jsonl --sealed sealed/q.sealed.jsonl --ledger q.ledger.jsonl",
    "retrieve": "retrieve search.py:search new.jsonl -o run.jsonl --restart",
    "grid": "grid calipers.toml",
    "convert": "convert new.jsonl new.csv",
    "labels draft": "labels draft old.jsonl new.jsonl -o label.csv",
    "history": "history --store store.db",
    "history alarm": "history alarm nightly --store store.db",
    "history trend": "history trend nightly --store store.db",
}
VARY = ("retrieve", "grid", "history", "history alarm", "history trend")
"""What names a time: it is not kept."""
KEPT = Path(__file__).parents[1] / "data" / "printed"
MOST_LINES = {"compare": 15, "gate": 10, "sweep": 20}


SEARCH = "def search(query, k, near=3):\n    return [f'd{i}' for i in range(near, near + k)]\n"
GRID = """ground-truth = "old.jsonl"
[grid.retrievers.near]
search = "search.py:search"
[grid.retrievers.far]
search = "search.py:search"
params = {near = 9}
"""


@pytest.fixture(scope="module", params=INPUTS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of one input, with a baseline and three nights in a history."""
    path = tmp_path_factory.mktemp("voice")
    before, after = INPUTS[request.param]
    for name, rows in (("old", before), ("new", after), ("third", before), ("fourth", after)):
        (path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    turned = [{**row, "retrieved": row["retrieved"][::-1]} for row in before]  # type: ignore[index]
    (path / "turned.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in turned))
    (path / "search.py").write_text(SEARCH)
    (path / "calipers.toml").write_text(GRID)
    (path / "sealed").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        _run("seal old.jsonl -o sealed/q")
        _run("gate save old.jsonl -m recall@10,ndcg@10 -o main.json")
        for night in ("old", "old", "new"):
            _run(f"eval {night}.jsonl --save nightly --store store.db")
    return path


def _run(line: str) -> str:
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]
    done = CliRunner(env={"COLUMNS": str(WIDTH)}).invoke(group, words, terminal_width=WIDTH)
    if isinstance(done.exception, CalipersError):
        return ""  # refused: there is no answer to read
    assert done.exit_code in (0, 1), f"{line}: {done.output}"
    return done.stdout


@cache
def _printed(folder: Path, command: str) -> str:
    """What a command prints in a folder, asked once: a confirmation, for one, spends a look."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return _run(COMMANDS[command])


def problems_of(text: str, most: int = 40) -> list[str]:
    """What is wrong with an answer as people read it."""
    lines = text.split("\n")
    said = " ".join(text.partition("\n\n")[0].split()).lstrip(SIGNS).strip()
    first = re.split(r"(?<=[.!?])\s", said)[0]
    problems: list[str] = []
    if len(first) > MOST_IN_SENTENCE or not first.endswith(".") or "→" in first:
        problems.append(f"first sentence ({len(first)}): {first}")
    if wide := [line for line in lines if len(line) > WIDTH and "calipers " not in line]:
        problems.append(f"wide: {wide}")
    if found := HOUSE_WORDS.search(text):
        problems.append(f"house word: {found[0]}")
    if len(lines) > most:
        problems.append(f"{len(lines)} lines")
    return problems


def kept(printed: str, name: str) -> bool:
    """Whether that is the text that a person has read; CALIPERS_WRITE_PRINTED=1 writes it anew."""
    path = KEPT / f"{name}.txt"
    if "CALIPERS_WRITE_PRINTED" in os.environ:
        path.write_text(printed, "utf-8")
    assert printed == path.read_text("utf-8")
    return True


@pytest.mark.parametrize("command", COMMANDS)
def test_the_answer_is_plain(command: str, folder: Path) -> None:
    lines = _printed(folder, command).rstrip().split("\n")
    text = "\n".join(line for line in lines if not NEWS.match(line)).strip()
    assert not text or not problems_of(text, MOST_LINES.get(command, 40)), text


@pytest.mark.parametrize("command", [one for one in COMMANDS if one not in VARY])
@pytest.mark.parametrize("folder", ["thirty questions"], indirect=True)
def test_what_thirty_questions_print_is_kept(command: str, folder: Path) -> None:
    printed = "".join(f"{line.rstrip()}\n" for line in _printed(folder, command).splitlines())
    assert kept(printed, f"thirty-{command.replace(' --', '-').replace(' ', '-')}")


ADVISED = re.compile(r"(?:^|[ `(])(calipers [a-z][^`]*?)(?:`|$|\)(?:\s|$)|\.(?:\s|$))")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_is_advised_runs(command: str, folder: Path) -> None:
    lines = _printed(folder, command).splitlines()
    advised = [found[1] for line in lines for found in ADVISED.finditer(line)]
    assert len(advised) == len(set(advised)), "nothing is advised twice"
    for one in advised:
        code, said = _followed(folder, one)
        assert code in (0, 1), f"{one}\n{said}"


@cache
def _followed(folder: Path, advice: str) -> tuple[int, str]:
    """How a command that is advised ends in a folder, asked once: many give the same advice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner(env={"COLUMNS": str(WIDTH)}).invoke(group, shlex.split(advice)[1:])
    return done.exit_code, done.output
