"""A module of retrievers, and a file that names them: what the tests of grids share."""

import textwrap

MODULE = '''
import os
from pathlib import Path

HERE = Path(__file__).parent


def told(line):
    with (HERE / "log.txt").open("a") as log:
        log.write(line + "\\n")


def make(right, size=1, token=None):
    """Right about the first questions, as many as it is told."""
    told(f"make {right} {size}")

    def search(query, k):
        told("ask")
        number = int(query.removeprefix("question "))
        if (HERE / "stop").exists() and number == 3 and right == 11:
            os.kill(os.getpid(), 9)
        return (["good"] if number < right else []) + [f"bad{i}" for i in range(k - 1)]

    return search


def plain(query, k, right=0):
    return (["good"] if int(query.removeprefix("question ")) < right else ["bad"])[:k]


def fails(**params):
    raise RuntimeError("no index here")


def tells(token):
    raise RuntimeError("no index for " + token)


def fails_later(**params):
    def search(query, k):
        raise RuntimeError(f"no answer for {params.get('token')}")
    return search


not_callable = 3
'''


def write(folder, text):
    path = folder / "calipers.toml"
    path.write_text(
        'ground-truth = "questions.jsonl"\nmetrics = "recall@1"\n' + textwrap.dedent(text)
    )
    return path


TWO = """
    [grid]
    [grid.retrievers.some]
    make = "finders:make"
    params = {right = [2, 11]}
    """


def log(folder):
    path = folder / "log.txt"
    return path.read_text().split("\n")[:-1] if path.exists() else []
