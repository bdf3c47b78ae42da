"""calipers labels and calipers serve, as a user meets them."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import calipers
from tests.command import CALIPERS, calipers_command, refused
from tests.store.judged import BM25, DENSE, TRUTH, pool
from tests.web.served import Visitor

ROOT = Path(__file__).parents[2]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, records in {"bm25": BM25, "dense": DENSE, "gt": TRUTH}.items():
        lines = "".join(json.dumps(one) + "\n" for one in records)
        Path(f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_labels_in_words(files):
    desk = pool("history.db")
    desk.give("anna", 0, 3)
    desk.give("anna", 1, 1)
    desk.give("ben", 1, 0)
    listed = calipers_command("labels", "export", "--list", "--store", "history.db")
    assert re.search(r"^first +2 of 10 +4 +3 +20", listed.out, re.MULTILINE)
    done = calipers_command("labels", "export", "first", "-o", "out.qrels", "--store", "history.db")
    assert done.code == 0
    assert "1 result left out as a tie" in done.out
    assert len(Path("out.qrels").read_text().splitlines()) == 5
    said = refused("labels", "export", "first", "-o", "out.qrels", "--store", "history.db")
    assert "out.qrels exists already" in said
    said = refused("labels", "export", "frist", "-o", "x.jsonl", "--store", "history.db")
    assert "There is no pool called 'frist' in history.db; there are first. Did you mean" in said


def test_a_draft_goes_over_no_grade_that_somebody_filled_in(files):
    draft = ("labels", "draft", "bm25.jsonl", "-o", "label.csv")
    for _ in range(2):  # what nobody has filled in is written anew
        assert calipers_command(*draft).code == 0
    text = Path("label.csv").read_text(encoding="utf-8")
    head, first, *rest = text.split("\n")
    at = head.replace('"', "").strip("\ufeff\r").split(",").index("grade")
    cells = first.split('","')
    cells[at] = "2" + cells[at]
    Path("label.csv").write_text("\n".join([head, '","'.join(cells), *rest]), encoding="utf-8")
    assert "label.csv holds 1 grade that somebody filled in" in refused(*draft)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--judge"], "Nothing is given to judge"),
        (["--judge", "bm25.jsonl", "--judges", ","], "Nobody is named to judge"),
        (["--judge", "bm25.jsonl", "--judges", "machine:x"], "name a person"),
        (["--judge", "bm25.jsonl", "-m", "ndgc@10"], "Did you mean ndcg"),
        (["--host", "0.0.0.0"], "opens the server to other machines"),
        (["--guidelines", "nowhere.txt"], "There is no file nowhere.txt"),
        (["--guidelines", "/dev/zero"], "/dev/zero"),
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["--pool", "mine"], "There is no history h.db"),
        (["bm25.jsonl", "--corpus", "c.jsonl"], "--corpus goes with --judge"),
        (["bm25.jsonl", "--questions", "gt.jsonl"], "--questions goes with --judge"),
    ],
)
def test_bad_use_gets_a_sentence_before_anything_is_served(files, arguments, sentence):
    assert sentence in refused("serve", *arguments, "--store", "h.db")
    assert not Path("h.db").exists()


def test_the_command_serves_and_goes_on_with_its_pool(files):
    judging = "bm25.jsonl dense.jsonl -g gt.jsonl --judges anna,ben --port 0 --store history.db"
    command = [*CALIPERS, "serve", "--judge", *judging.split()]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    runs = {"bm25": "bm25.jsonl", "dense": "dense.jsonl"}
    made = calipers.labels_pool("bm25-dense", runs, ground_truth="gt.jsonl", store="history.db")
    made.give("carl", 1, 1)
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
    )
    try:
        lines = [process.stdout.readline().strip().split(": ", 1) for _ in range(3)]
        assert [name for name, _ in lines] == ["me (owner)", "anna", "ben"]
        host = re.findall(r"http://([^/]+)/", lines[0][1])[0]
        owner, visitor = Visitor(host), Visitor(host)
        for _ in range(100):
            try:
                owner.enter(lines[0][1])
                break
            except ConnectionRefusedError:
                continue
        visitor.enter(lines[1][1])
        assert "1 of 10" in owner.get("/pools").text
        label = {"request": "abcdefgh", "item": 0, "grade": 1}
        assert visitor.post("/api/v1/pools/1/labels", label).status == 200
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert "The pool is called bm25-dense" in said
    assert "token" not in said


def test_what_is_open_to_other_machines_is_said(capsys):
    from calipers.cli.serve import _say
    from calipers.web.app import listen

    for host, opened in (("0.0.0.0", True), (None, False)):
        listening = listen(host, 0, "https://judge.example.org" if host else None)
        with listening.socket:
            _say({"anna": "https://judge.example.org/enter?token=x"}, listening, "anna")
        printed = capsys.readouterr()
        assert printed.out == "https://judge.example.org/enter?token=x\n"
        assert ("whoever has the link of anna" in printed.err) is opened
