"""What is refused is said in two lines, and what a sentence proposes works when it is pasted."""

import ast
import re
import shlex
from pathlib import Path

import pytest

import calipers.io
from calipers.errors import CalipersError
from calipers.io.tables.columns import TWO_LINES
from tests.command import typed
from tests.io.test_natural_files import PROPOSED

IO = Path(calipers.io.__file__).parent
FILES = {
    "questions.csv": "question,chunk_id\nq,a\np,b\n",
    "asked.csv": "question,chunk_id\nWho is it?,a\nWhat is it?,b\n",
    "run.csv": "query,item,score\nq,a,2\nq,b,1\np,c,1\n",
    "my search.py": "def search(query, k=5):\n    return ['a']\n",
    "verdict.csv": "question,chunk_id,our view\nq,a,0\nq,b,1\n",
    "strange.csv": "Was denn,Woher\nq,a\np,b\n",
    "unordered.csv": "query,item,strength\nq,a,3\nq,b,7\nq,c,5\n",
    "sheet.csv": "Frage;Erwartetes Dokument;Treffer 1;Treffer 2\nWo?;a.md;a.md;b.md\n",
    "wide.csv": "Kysymys;Odotettu;Löydetty\nWho is it?;a1, a2;a1, b2, a2\n",
    "half.csv": "question;expected_ids;Löydetty\nWho is it?;a1;b2, a1\n",
    "ids.csv": "query_id,Kysymys,Kohta,Osuvuus\nq,Who is it?,a,yes\nq,Who is it?,b,no\n",
    "came.jsonl": '{"question": "q", "right_chunks": ["a"], "what_came": ["a", "b"]}\n',
    "judged.csv": "query,item,score,passt\nq,a,2,ja\nq,b,1,nein\n",
    "stars.jsonl": '{"query": "q", "ground_truth": [{"id": "a", "stars": 0}, {"id": "b", '
    '"stars": 1}]}\n',
    "two.jsonl": '{"qid": "1", "query": "q", "retrieval_gt": [["a"]], "retrieved_ids_lexical": '
    '["a"], "retrieved_ids_semantic": ["b"]}\n',
    "map.json": '{"q": {"a": 1}, "p": {"b": 1}}',
    "qrels.txt": "q 0 a 1\np 0 b 1\n",
    "letter.txt": "Dear reader\n",
    "context.csv": "id,title,context,question,answers\n1,a,b c d,q,x\n",
}
PASTED = {
    "eval -g verdict.csv -r run.csv": "",
    "eval -g strange.csv -r run.csv": "",
    "eval -g questions.csv -r unordered.csv": "",
    "eval -g stars.jsonl -r run.csv": "",
    "eval two.jsonl": "",
    "eval sheet.csv": "",
    "eval wide.csv": "",
    "eval half.csv": "",
    "eval came.jsonl": "",
    "audit ids.csv": "",
    "eval judged.csv": "",
    "eval questions.csv": "eval questions.csv --run run.csv",
    "eval -g asked.csv -r 'my search.py'": "eval -g asked.csv --retriever 'my search.py:search'",
    "eval map.json": "eval --ground-truth map.json --run run.csv",
    "eval run.csv": "eval run.csv --ground-truth qrels.txt",
    "eval -g run.csv -r qrels.txt": "eval -g qrels.txt -r run.csv",
    "convert run.csv out.parquet.gz": "convert run.csv out.parquet",
    "eval -g questions.csv -r run.cvs": "eval -g questions.csv -r run.csv",
    "audit context.csv": "",
    "eval -g letter.txt -r run.csv": None,
}
"""A refused line, and what it becomes: with the options proposed, or as its sentence says."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("line", PASTED)
def test_a_refusal_is_two_lines_and_what_it_proposes_works(line):
    printed = typed(line)
    said = printed.err.strip()
    assert (printed.code, printed.out) == (2, "")
    sentence, *looks = said.split("\n  ")
    assert len(sentence) <= TWO_LINES + len("Error: "), said
    assert len(looks) <= 3
    assert all(len(look) <= TWO_LINES for look in looks)
    fixed, proposed = PASTED[line], PROPOSED.search(said)
    if fixed is None:
        return
    for option in re.findall(r"--[a-z-]+", fixed):
        assert option in said or option in line, (option, said)
    again = typed(fixed or f"{line} {proposed and proposed[0]}")
    assert again.code == 0, again.err


def sentences() -> dict[str, str]:
    """Every error that a module of io raises in one text, with 12 characters for each value."""
    found = {}
    errors = {one.__name__ for one in _below(CalipersError)}
    for path in sorted(IO.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in errors and node.args:
                parts = getattr(node.args[0], "values", [node.args[0]])
                texts = (
                    part.value if isinstance(part, ast.Constant) else "x" * 12 for part in parts
                )
                found[f"{path.relative_to(IO).as_posix()}:{node.lineno}"] = "".join(map(str, texts))
    return found


def _below(kind: type) -> set[type]:
    return {kind}.union(*map(_below, kind.__subclasses__()))


def test_no_sentence_is_longer_than_two_lines():
    found = sentences()
    assert len(found) > 100
    assert not {place: text for place, text in found.items() if len(text) > TWO_LINES}


def test_what_is_proposed_is_quoted_for_the_shell():
    said = typed("eval -g verdict.csv -r run.csv").err
    assert shlex.split(PROPOSED.search(said)[0]) == ["--column", "grade=our view"]
