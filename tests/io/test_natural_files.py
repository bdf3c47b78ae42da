"""Files as people have them: the value that is meant, or a sentence; never another value.

``CALIPERS_NATURAL_FILES=5000`` draws so many of them and prints how many were read right at once,
and after the one line that the refusal proposes.
"""

import collections
import os
import re
import shlex

import pytest

from calipers import evaluate
from calipers.errors import CalipersError, command_line
from tests.io.natural_files import EXTRA, File, draw_file

N = int(os.environ.get("CALIPERS_NATURAL_FILES", "160"))
_OPTION = r"--(?:column|distance|grades) (?:'[^']*'|[^\s;,'(]+[^\s;,'(.])"
PROPOSED = re.compile(rf"{_OPTION}(?: {_OPTION})*")


def value_of(file: File, path, columns=()):
    run = file.run
    if file.shape == "quoted":
        run = [{"query": q, "retrieved": [{"text": t} for t in one]} for q, one in run.items()]
    given = {"truth": {"ground_truth": path, "run": run}}
    given["run"] = {"ground_truth": file.truth, "run": path}
    given["both"] = {"data": path}
    scores = evaluate(**given[file.holds], metrics="mrr,ndcg@5", columns=list(columns))
    return scores["mrr"].mean, scores["ndcg@5"].mean


def said(line: str) -> list[str]:
    """What a proposed line says, as ``columns=`` takes it; its author knows what is beside it."""
    words = iter(shlex.split(line))
    told = [f"{option[2:]}={next(words)}".removeprefix("column=") for option in words]
    beside = [f"ignore={one.split('=')[1]}" for one in told if one.split("=")[1] in EXTRA]
    return [
        *beside,
        *(one for one in told if one.split("=")[1] not in EXTRA and not one.startswith("ignore")),
    ]


def outcome(file: File, path) -> str:
    columns: list[str] = []
    for number in range(2):
        try:
            with command_line():
                found = value_of(file, path, columns)
        except CalipersError as error:
            proposed = PROPOSED.search(str(error))
            if proposed is None or not (new := [o for o in said(proposed[0]) if o not in columns]):
                return f"refused: {file.shape}"
            columns += new
            continue
        right = found == pytest.approx(file.value)
        return ("right", "proposed")[number] if right else f"wrong {columns}"
    return f"refused: {file.shape}"


def test_a_file_gives_the_value_that_is_meant_or_a_sentence(tmp_path):
    outcomes: collections.Counter[str] = collections.Counter()
    for seed in range(N):
        file = draw_file(seed)
        path = tmp_path / f"data{file.ending}"
        path.write_bytes(file.content.encode(file.encoding))
        found = outcome(file, path)
        outcomes[found] += 1
        assert not found.startswith("wrong"), (seed, found, file.shape, file.content)
    if "CALIPERS_NATURAL_FILES" in os.environ:
        print(outcomes.most_common())  # noqa: T201
    assert outcomes["right"] >= 0.7 * N, outcomes.most_common()
    assert outcomes["right"] + outcomes["proposed"] >= 0.95 * N, outcomes.most_common()
