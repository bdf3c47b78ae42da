"""Bad use of a command gets a sentence and exit code 2."""

import json

import pytest

from tests.command import calipers_command, refused
from tests.systems import tagged

BAD = {
    "compare": [
        (["old.jsonl"], "at least two systems"),
        ([], "at least two systems: found none"),
        (["old.jsonl", "old.jsonl"], "old.jsonl is given twice"),
        (["a=old.jsonl", "a=new.jsonl"], "Two systems are called 'a'"),
        (["old.jsonl", "none.jsonl"], "There is no file none.jsonl"),
        (["old.jsonl", "new.jsonl", "--against", "odl"], "Did you mean old?"),
        (["old.jsonl", "new.jsonl", "-m", "recal@5"], "Did you mean recall?"),
        (["old.jsonl", "new.jsonl", "-m", "first_rank"], "undefined for 2 queries of old"),
        (["old.jsonl", "new.jsonl", "--per-query", "out.doc"], "ending '.doc'"),
        (["gt.json", "new.jsonl"], "no results, so it is no system"),
        (["gt.json", "new.jsonl", "--changes"], "holds no results"),
    ],
    "diagnose": [
        (["old.jsonl", "-k", "x"], "The cut-off k is 'x'"),
        ([], "Nothing is given"),
    ],
    "sweep": [
        (["old.jsonl", "-m", "mrr@5"], "a sweep goes over k"),
        (["old.jsonl", "-k", "0"], "The cut-off k is '0'"),
    ],
    "convert": [
        ([], "paths are given"),
        (["old.jsonl"], "paths are given"),
        (["-g", "old.jsonl"], "paths are given"),
        (["-g", "old.jsonl", "new.jsonl", "out.json"], "paths are given"),
    ],
    "misses": [
        (["old.jsonl", "-k", "0"], "k must be a whole number"),
        (["old.jsonl", "--corpus", "nowhere"], "nowhere"),
        (["old.jsonl", "-o", "misses.xlsx"], "ending"),
    ],
    "gate": [
        (["new.jsonl"], "nothing to check"),
        (["new.jsonl", "--require", "mrr => "], "'mrr => ' cannot be read; write metric op"),
        (["new.jsonl", "--require", "mrr >= 0.5 for typ=odd"], "Did you mean type?"),
        (["new.jsonl", "--require", "mrr >= 0.5 for type=od"], "Did you mean odd?"),
        (["new.jsonl", "--require", "mr >= 0.5"], "no metric called 'mr'"),
        (["new.jsonl", "--baseline", "old.jsonl"], "old.jsonl is a run, and a baseline is"),
        (["new.jsonl", "--baseline", "main.json", "--allow", "-1"], "loss that is allowed"),
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bad")
    hits = {"old": [3, 2, None, 5, 4, None], "new": [1, 1, 4, 2, 1, 1]}
    for name, ranks in hits.items():
        rows = tagged({"even": ranks[::2], "odd": ranks[1::2]})
        (made / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (made / "gt.json").write_text('[{"query": "question 0", "ground_truth": ["a"]}]')
    saved = calipers_command("gate", "save", made / "new.jsonl", "-o", made / "main.json")
    assert saved.code == 0, saved.err
    return made


@pytest.mark.parametrize(
    ("command", "arguments", "sentence"),
    [(command, *case) for command, cases in BAD.items() for case in cases],
)
def test_a_sentence_and_exit_code_2(folder, monkeypatch, command, arguments, sentence):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    assert sentence in refused(command, *arguments)
    assert sorted(folder.iterdir()) == before
