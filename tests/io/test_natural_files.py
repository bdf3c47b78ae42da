"""Files as people have them: the value that is meant, or a sentence; never another value.

Whatever line a sentence proposes is followed until it ends: each line that is shown gives a number,
and none leads back. ``CALIPERS_NATURAL_FILES=5000`` draws so many files and prints how many were
read right at once, and after the first line that the refusal proposes.
"""

import collections
import os
import re
import shlex

import pytest

from calipers import evaluate
from calipers.errors import CalipersError, command_line
from tests.io.natural_files import File, draw_file

N = int(os.environ.get("CALIPERS_NATURAL_FILES", "60"))
_OPTION = r"--(?:column|distance|grades|map-ids) (?:'[^']*'|[^\s;'(]*[^\s;,'(.:])"
PROPOSED = re.compile(rf"{_OPTION}(?: {_OPTION})*")
MOST_STEPS = 5
MAPS = "map-ids="


def value_of(file: File, path, columns=()):
    run = file.run
    if file.shape == "quoted":
        run = [{"query": q, "retrieved": [{"text": t} for t in one]} for q, one in run.items()]
    given = {"truth": {"ground_truth": path, "run": run}}
    given["run"] = {"ground_truth": file.truth, "run": path}
    given["both"] = {"data": path}
    maps = [one.removeprefix(MAPS) for one in columns if one.startswith(MAPS)]
    named = [one for one in columns if not one.startswith(MAPS)]
    map_ids = maps[-1] if maps else None
    scores = evaluate(**given[file.holds], metrics=file.metrics, columns=named, map_ids=map_ids)
    return tuple(scores[name].mean for name in file.metrics.split(","))


def said(line: str) -> list[str]:
    """What a proposed line says, as ``columns=`` takes it."""
    words = iter(shlex.split(line))
    return [f"{option[2:]}={next(words)}".removeprefix("column=") for option in words]


def fits(file: File, line: str) -> bool:
    """Whether the author, who knows which columns mean nothing, could take a line."""
    pairs = [one.split("=", 1) for one in said(line)]
    return all(
        (ours in ("grades", "map-ids")) or (ours == "ignore") == (theirs in file.nothing)
        for ours, theirs in pairs
    )


def outcome(file: File, path) -> str:
    columns: list[str] = []
    taken = "right"
    for _ in range(MOST_STEPS):
        try:
            with command_line():
                found = value_of(file, path, columns)
        except CalipersError as error:
            lines = [match[0] for match in PROPOSED.finditer(str(error))]
            for line in lines:
                try:
                    value_of(file, path, [*columns, *said(line)])
                except CalipersError as further:
                    return f"nowhere: {line} -> {further}"
            chosen = next((line for line in lines if fits(file, line)), None)
            if chosen is None:
                return f"refused: {file.shape}"
            if not [one for one in said(chosen) if one not in columns]:
                return "circle"
            first = chosen == lines[0] and taken == "right"
            taken = "first line" if first else "another line"
            columns += said(chosen)
            continue
        right = found == pytest.approx(file.value)
        return taken if right else f"wrong {columns}"
    return "circle"


def test_a_file_gives_the_value_that_is_meant_or_a_sentence(tmp_path):
    outcomes: collections.Counter[str] = collections.Counter()
    must = 0
    for seed in range(N):
        file = draw_file(seed)
        path = tmp_path / f"data{file.ending}"
        path.write_bytes(file.content.encode(file.encoding))
        found = outcome(file, path)
        bad = found.startswith(("wrong", "nowhere", "circle"))
        assert not bad, (seed, found, file.shape, file.content)
        if file.refused:
            must += 1
            assert found.startswith("refused"), (seed, found, file.content)
            continue
        outcomes[found] += 1
    if "CALIPERS_NATURAL_FILES" in os.environ:
        print(f"{must} refused as they must", outcomes.most_common())  # noqa: T201
    read = N - must
    assert outcomes["right"] >= 0.55 * read, outcomes.most_common()
    assert outcomes["right"] + outcomes["first line"] >= 0.95 * read, outcomes.most_common()
