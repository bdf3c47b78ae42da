"""Snippets give the order that was measured: each engine's documented formula, in plain Python."""

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from calipers.questions.fuse.result import FusedSetting
from calipers.questions.fuse.snippets import snippets
from calipers.questions.fuse.ways import Way, every_way
from tests.questions.fuse.test_ways import fused, lanes_of

NAMES = ("words", "vectors")
Scores = Mapping[str, Mapping[str, float]]
"""By lane and id."""


def setting(way: Way) -> FusedSetting:
    weights = dict(zip(NAMES, way.weights, strict=True))
    return FusedSetting("", way.kind, weights, way.constant, way.norm, {})


def lists(seed: int) -> dict[str, dict[str, float]]:
    draw = np.random.default_rng(seed)
    return {
        name: {f"d{j}": float(draw.random()) for j in draw.choice(40, 15, replace=False)}
        for name in NAMES
    }


def best_first(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda item: -scores[item])


def summed(lanes: Scores, value: Callable[[str, Mapping[str, float], int, str], float]) -> Any:
    """Ids by the sum over lanes of a value: by lane, its scores, the rank from 1, and the id."""
    found: dict[str, float] = {}
    for lane, scores in lanes.items():
        for rank, item in enumerate(best_first(scores), 1):
            found[item] = found.get(item, 0.0) + value(lane, scores, rank, item)
    return best_first(found)


def between(scores: Mapping[str, float], item: str) -> float:
    low, high = min(scores.values()), max(scores.values())
    return (scores[item] - low) / (high - low)


def elasticsearch(text: str, lanes: Scores) -> Any:
    [(kind, body)] = json.loads(text)["retriever"].items()
    weights = dict(zip(lanes, (one["weight"] for one in body["retrievers"]), strict=True))
    if kind == "linear":
        assert {one["normalizer"] for one in body["retrievers"]} == {"minmax"}
        return summed(lanes, lambda lane, scores, _, item: weights[lane] * between(scores, item))
    constant = body["rank_constant"]
    return summed(lanes, lambda lane, _, rank, __: weights[lane] / (constant + rank))


def opensearch(text: str, lanes: Scores) -> Any:
    [(name, body)] = json.loads(text)["phase_results_processors"][0].items()
    given = body["combination"]["parameters"]["weights"]
    assert sum(given) == pytest.approx(1.0)
    weights = dict(zip(lanes, given, strict=True))
    if name == "normalization-processor":
        assert body["normalization"]["technique"] == "min_max"
        assert body["combination"]["technique"] == "arithmetic_mean"
        return summed(lanes, lambda lane, scores, _, item: weights[lane] * between(scores, item))
    constant = body["combination"]["rank_constant"]
    return summed(lanes, lambda lane, _, rank, __: weights[lane] / (constant + rank))


def vespa(text: str, lanes: Scores) -> Any:
    terms = {}
    for term in text.split(" + "):
        weight, _, call = term.rpartition(" * ")
        name, argument = re.fullmatch(r"(\w+)\((.*)\)", call).groups()
        lane, _, constant = argument.partition(", ")
        terms[lane] = (float(weight or 1), name, float(constant or 60))

    def value(lane: str, scores: Mapping[str, float], rank: int, item: str) -> float:
        weight, name, constant = terms[lane]
        linear = name == "normalize_linear"
        return weight * (between(scores, item) if linear else 1 / (constant + rank))

    return summed(lanes, value)


def qdrant(text: str, lanes: Scores) -> Any:
    k = json.loads(text)["query"]["rrf"]["k"]
    return summed(lanes, lambda _, __, rank, ___: 1 / (k + rank - 1))  # positions from 0


def weaviate(text: str, lanes: Scores) -> Any:
    alpha = float(re.search(r"alpha=([\d.]+)", text)[1])
    weights = {"words": 1 - alpha, "vectors": alpha}
    if "RELATIVE_SCORE" in text:
        return summed(lanes, lambda lane, scores, _, item: weights[lane] * between(scores, item))
    return summed(lanes, lambda lane, _, rank, __: weights[lane] / (60 + rank - 1))


def python(text: str, lanes: Scores) -> Any:
    made: dict[str, Any] = {}
    exec(text, made)
    ordered = {
        name: {item: scores[item] for item in best_first(scores)} for name, scores in lanes.items()
    }
    return made["fuse"](ordered, k=100)


ENGINES = {
    one.__name__: one for one in (elasticsearch, opensearch, vespa, qdrant, weaviate, python)
}


@pytest.mark.parametrize("way", every_way(2, scored=True), ids=lambda way: way.called(NAMES))
def test_each_snippet_gives_the_order_that_was_measured(way: Way) -> None:
    found = snippets(setting(way))
    assert bool(found) == (way.kind in ("rrf", "sum", "mnz"))
    for seed in range(3 if found else 0):
        lanes = lists(seed)
        wanted = fused(lanes_of(*({"q": one} for one in lanes.values())), way)["q"]
        for engine, text in found.items():
            expected = wanted
            if engine == "weaviate" and way.kind == "rrf":
                assert "this is RRF 59" in text
                expected = fused(lanes_of(*({"q": one} for one in lanes.values())),
                                 Way("rrf", way.weights, 59))["q"]  # fmt: skip
            order = ENGINES[engine](text, lanes)
            values = [expected[item] for item in order]
            assert set(order) == set(expected)
            assert all(a >= b - 1e-12 for a, b in pairwise(values)), engine


@pytest.mark.parametrize("way", every_way(2, scored=True), ids=lambda way: way.called(NAMES))
def test_the_function_turns_distances_and_ranks_as_the_lists_do(way: Way) -> None:
    if "python" not in snippets(setting(way)):
        return
    lanes = lists(7)
    far = {item: 2.0 - lanes["vectors"][item] for item in best_first(lanes["vectors"])}
    made: dict[str, Any] = {}
    exec(snippets(setting(way), ["vectors"])["python"], made)
    words = {item: lanes["words"][item] for item in best_first(lanes["words"])}
    given = {"words": words, "vectors": far}
    order = made["fuse"](given, k=100)
    expected = python(snippets(setting(way))["python"], lanes)
    assert order == expected
    if way.norm in (None, "rank"):
        assert made["fuse"]({name: [*lane] for name, lane in given.items()}, k=100) == expected


def test_engines_that_cannot_do_it_get_no_snippet() -> None:
    def engines(way: Way) -> set[str]:
        return set(snippets(setting(way)))

    every = set(ENGINES)
    assert engines(Way("rrf", (0.5, 0.5), 60)) == every
    assert engines(Way("rrf", (0.3, 0.7), 20)) == every - {"qdrant", "weaviate"}
    assert engines(Way("sum", (0.3, 0.7), norm="min-max")) == every - {"qdrant"}
    assert engines(Way("sum", (0.3, 0.7), norm="z")) == {"python"}
    assert engines(Way("mnz", (0.5, 0.5), norm="rank")) == {"python"}
