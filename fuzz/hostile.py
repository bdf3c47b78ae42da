"""Retrievers that misbehave; a case holds this file, and names one of them."""

import math
import sys


class Odd:
    id = property(lambda self: 1 / 0)

    def __repr__(self):
        raise RuntimeError("no")

    __str__ = __repr__


class Broken(Exception):
    def __str__(self):
        return 1 / 0


def endless(query, k):
    while True:
        yield {"id": "a" * 100}


def raising(query, k):
    raise Broken


def leaving(query, k):
    sys.exit(1)


def deep(query, k):
    found = []
    for _ in range(2000):
        found = [found]
    return found


def changing(query, k):
    changing.turn = getattr(changing, "turn", 0) + 1
    return ANSWERS[changing.turn % len(ANSWERS)]


ANSWERS = [
    *(None, 5, math.nan, "text", b"bytes", [], {}, [None], [[]], [{}], [Odd()], Odd(), {"a"}),
    *({"a": math.nan}, {"a": "x"}, [("a",)], [("a", "b", "c", "d")], [{"id": []}]),
    *([{"id": "\ud800"}], [{"id": "a\x00"}], [{"id": "a", "score": math.inf}]),
    *([{"id": "a", "score": 10**400}], [{"document": "a", "start": -1}]),
    *([{"document": "a", "start": 2**70, "end": 1}], [{"text": "x" * 100_000}], {"retrieved": 5}),
    *({"retrieved": [], "stages": []}, {"retrieved": ["a"], "stages": {"other": ["b"]}}),
    *({"ids": [["a"]], "scores": []}, (["a"], [1, 2]), ["a"] * 100_000, [True, False], [1.5]),
    *([object()], [Exception("x")], range(3), iter([1, None]), {"hits": {"hits": [{"_id": None}]}}),
    *([{"id": "\x1b[31m", "text": "\x1b]0;x\x07"}], type, print),
]
answers = [lambda query, k, one=one: one for one in ANSWERS]
for number, one in enumerate(answers):
    globals()[f"answer{number}"] = one
