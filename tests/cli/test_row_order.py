"""The same data with its rows in another order gives the same numbers, to the last bit."""

import json
import random
from pathlib import Path

import pytest

from tests.command import calipers_command
from tests.systems import records

HITS = [3, 2, None, 5, 4, 2, 7, 3, 9, 2, None, 4, 1, 1, 6, 2, 3, 1, 8, 2]


def write(name, data):
    Path(name).write_text("".join(json.dumps(one) + "\n" for one in data))


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "old.jsonl", "new.jsonl"),
        ("sweep", "old.jsonl"),
        ("gate", "new.jsonl", "--require", "mrr >= 0.9", "--baseline", "old.json"),
        ("plan", "old.jsonl", "new.jsonl", "--queries", "80"),
    ],
    ids=lambda words: words[0],
)
def test_shuffled_rows_change_nothing(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old, new = records(HITS), records([*HITS[7:], *HITS[:7]])
    printed = []
    for seed in (None, 1, 2):
        if seed is not None:
            for data in (old, new):
                random.Random(seed).shuffle(data)
        write("old.jsonl", old)
        write("new.jsonl", new)
        calipers_command("baseline", "save", "old.jsonl", "-o", "old.json")
        found = json.loads(calipers_command(*arguments, "--json").out)
        found.pop("baseline_saved", None)
        printed.append(found)
    assert printed[1] == printed[0]
    assert printed[2] == printed[0]
