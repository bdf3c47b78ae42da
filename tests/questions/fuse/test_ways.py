"""Every way to fuse gives the numbers of a naive reference, and of ranx where it is there."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.run import Run
from calipers.questions.fuse.fuser import Fuser, first_of, ranks_of
from calipers.questions.fuse.lanes import Lanes
from calipers.questions.fuse.ways import Way, every_way

Lists = dict[str, dict[str, float]]


def lanes_of(*lists: Lists) -> Lanes:
    runs = {}
    for number, queries in enumerate(lists):
        rows = [
            (query, item, score)
            for query, results in queries.items()
            for item, score in sorted(results.items(), key=lambda pair: -pair[1])
        ]
        frame = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
        runs[f"lane{number}"] = Run.from_frame(frame, order="listed")
    return Lanes.of(runs, pl.Series("query", sorted(lists[0])))


def fused(lanes: Lanes, way: Way) -> dict[str, dict[str, float]]:
    """Every candidate's number, by query and item."""
    found: dict[str, dict[str, float]] = {}
    for block in lanes.blocks():
        numbers = Fuser(block)(way)
        for i, row in enumerate(numbers):
            query = block.first + i
            items = lanes.keys(np.arange(lanes.start[query], lanes.start[query + 1]))
            found[lanes.queries[query]] = {
                item: value
                for item, value in zip(items, row.tolist(), strict=False)
                if not math.isinf(value)
            }
    return found


def reference(lists: list[dict[str, float]], way: Way) -> dict[str, float]:
    """One query, with loops that can be read."""
    total: dict[str, float] = {}
    count: dict[str, int] = {}
    for results, weight in zip(lists, way.weights, strict=True):
        if not weight:
            continue
        order = sorted(results, key=lambda item: -results[item])
        scores = list(results.values())
        mean = sum(scores) / len(scores)
        spread = math.sqrt(sum((one - mean) ** 2 for one in scores) / len(scores))
        for rank, item in enumerate(order, 1):
            value = {
                None: 1 / ((way.constant or 0) + rank),
                "rank": 1 - (rank - 1) / len(order),
                "min-max": (results[item] - min(scores)) / max(max(scores) - min(scores), 1e-9),
                "z": (results[item] - mean) / max(spread, 1e-9),
            }[way.norm]
            total[item] = total.get(item, 0.0) + weight * value
            count[item] = count.get(item, 0) + 1
    return {one: total[one] * (count[one] if way.kind == "mnz" else 1) for one in total}


one_list = st.dictionaries(
    st.sampled_from("abcdefgh"), st.integers(0, 10**6).map(float), min_size=1
).filter(lambda results: len(set(results.values())) == len(results))


@given(one_list, one_list, one_list)
def test_every_way_gives_the_numbers_of_the_reference(
    first: dict[str, float], second: dict[str, float], third: dict[str, float]
) -> None:
    lists = [first, second, third]
    lanes = lanes_of(*({"q": one} for one in lists))
    for way in every_way(3, scored=True):
        if way.kind in ("alone", "interleave"):
            continue
        assert fused(lanes, way)["q"] == pytest.approx(reference(lists, way), abs=1e-9)


@given(one_list, one_list)
def test_ranks_are_places_in_the_order(first: dict[str, float], second: dict[str, float]) -> None:
    lanes = lanes_of({"q": first}, {"q": second})
    for way in every_way(2, scored=True):
        for block in lanes.blocks():
            numbers = Fuser(block)(way)
            [order] = first_of(numbers, None)
            columns = np.arange(numbers.shape[1])
            ranks = ranks_of(numbers, np.zeros_like(columns), columns)
            assert [int(ranks[column]) for column in order] == list(range(1, len(order) + 1))


def exact_order(lists: list[list[str]], way: Way) -> list[str]:
    """The order by exact fractions; equal candidates by their best rank, then by lane."""
    weights = [Fraction(weight).limit_denominator(1000) for weight in way.weights]
    total: dict[str, Fraction] = {}
    places: dict[str, tuple[int, int]] = {}
    for lane, (results, weight) in enumerate(zip(lists, weights, strict=True)):
        for rank, item in enumerate(results, 1):
            value = (
                Fraction(1, way.constant + rank)
                if way.constant is not None
                else 1 - Fraction(rank - 1, len(results))
            )
            total[item] = total.get(item, Fraction(0)) + weight * value
            places[item] = min(places.get(item, (rank, lane)), (rank, lane))
    if way.kind == "mnz":
        total = {one: value * sum(one in some for some in lists) for one, value in total.items()}
    return sorted(total, key=lambda item: (-total[item], places[item]))


one_order = st.permutations("abcdefghijkl").flatmap(
    lambda items: st.integers(1, len(items)).map(lambda size: items[:size])
)


@given(st.lists(one_order, min_size=2, max_size=3))
def test_what_is_equal_keeps_the_order_of_the_lanes(lists: list[list[str]]) -> None:
    scored = [{"q": {item: float(-rank) for rank, item in enumerate(results)}} for results in lists]
    lanes = lanes_of(*scored)
    items = lanes.candidates(np.arange(len(lanes.rank)))["item"]
    [block] = lanes.blocks()
    for way in every_way(len(lists), scored=False):
        if way.kind in ("alone", "interleave"):
            continue
        numbers = Fuser(block)(way)
        [order] = first_of(numbers, None)
        assert list(items[order]) == exact_order(lists, way)
        columns = np.arange(numbers.shape[1])
        ranks = ranks_of(numbers, np.zeros_like(columns), columns)
        assert [int(ranks[column]) for column in order] == list(range(1, len(order) + 1))


def test_one_lane_alone_keeps_its_order_and_interleaving_takes_turns() -> None:
    lanes = lanes_of({"q": {"a": 3, "b": 2, "c": 1}}, {"q": {"c": 9, "d": 8, "a": 7}})
    items = lanes.candidates(np.arange(len(lanes.rank)))["item"]

    def order(way: Way) -> str:
        [block] = lanes.blocks()
        [found] = first_of(Fuser(block)(way), None)
        return "".join(items[found])

    assert order(Way("alone", (1.0, 0.0))) == "abc"
    assert order(Way("alone", (0.0, 1.0))) == "cda"
    assert order(Way("interleave", (0.5, 0.5))) == "acbd"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("norm", ["min-max", "zmuv", "rank"])
def test_sums_of_scores_equal_those_of_ranx(norm: str) -> None:
    ranx = pytest.importorskip("ranx", reason="fusion is compared with ranx where it is installed")
    draw = np.random.default_rng(3)
    lists: list[Lists] = [
        {
            f"q{i}": {f"d{j}": float(draw.random()) for j in draw.choice(40, 15, replace=False)}
            for i in range(20)
        }
        for _ in range(2)
    ]
    ours = {"min-max": "min-max", "zmuv": "z", "rank": "rank"}[norm]
    runs = [ranx.Run(one) for one in lists]
    theirs = ranx.fuse(runs, norm=norm, method="wsum", params={"weights": (0.3, 0.7)}).to_dict()
    found = fused(lanes_of(*lists), Way("sum", (0.3, 0.7), norm=ours))  # type: ignore[arg-type]
    for query, numbers in theirs.items():
        assert found[query] == pytest.approx(numbers, abs=1e-9)
    theirs = ranx.fuse(runs, norm=norm, method="mnz").to_dict()
    found = fused(lanes_of(*lists), Way("mnz", (1.0, 1.0), norm=ours))  # type: ignore[arg-type]
    for query, numbers in theirs.items():
        assert found[query] == pytest.approx(numbers, abs=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_reciprocal_ranks_equal_those_of_ranx() -> None:
    ranx = pytest.importorskip("ranx", reason="fusion is compared with ranx where it is installed")
    draw = np.random.default_rng(4)
    lists: list[Lists] = [
        {"q": {f"d{j}": float(draw.random()) for j in draw.choice(30, 12, replace=False)}}
        for _ in range(2)
    ]
    theirs = ranx.fuse([ranx.Run(one) for one in lists], method="rrf", params={"k": 20}).to_dict()
    found = fused(lanes_of(*lists), Way("rrf", (1.0, 1.0), 20))
    assert found["q"] == pytest.approx(theirs["q"], abs=1e-9)
