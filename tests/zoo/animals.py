"""Retrievers with one planted fault each, and healthy ones: what diagnosis is held to."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
SIZES = (12, 40, 200)
K = 10


@dataclass(frozen=True)
class Animal:
    """How its records are made for so many queries, and what is named first."""

    make: Callable[[random.Random, int], Record]
    named: str | None
    settings: dict[str, Any] = field(default_factory=dict)

    def records(self, n: int, seed: int = 1) -> list[Record]:
        rng = random.Random(f"{seed} {n}")
        return [{"id": f"q{i}", "query": f"question {i}", **self.make(rng, i)} for i in range(n)]


def targets(i: int, n: int = 1) -> list[str]:
    return [f"t{i}-{j}" for j in range(n)]


def ranked(rng: random.Random, found: dict[int, Any], length: int = K) -> list[Any]:
    """A list with these results at their places; chance fills the rest from a large corpus."""
    others = (f"x{one}" for one in rng.sample(range(5000), length))
    return [found.get(place) or next(others) for place in range(1, length + 1)]


def at(rng: random.Random, i: int, *places: int, wanted: int | None = None, length: int = K):
    """The targets of a query at these places, as many in all as wanted."""
    truth = targets(i, len(places) if wanted is None else wanted)
    shown = dict(zip(places, truth, strict=False))
    return {"retrieved": ranked(rng, shown, length), "ground_truth": truth}


def perfect(rng, i):
    return at(rng, i, 1)


def perfect_with_several(rng, i):
    return at(rng, i, *range(1, 2 + i % 5))


def good(rng, i):
    """Nine of ten found, most of them first."""
    if i % 10 == 7:
        return at(rng, i, wanted=1)
    return at(rng, i, rng.choices([1, 2, 3], [8, 1.5, 0.5])[0])


def first_and_last(rng, i):
    return at(rng, i, 1, K)


def perfect_in_documents(rng, i):
    record = at(rng, i, 1, 2)
    record["retrieved"] = [{"id": one, "document": f"of {one}"} for one in record["retrieved"]]
    return record


def finds_little(rng, i):
    return at(rng, i, 1) if i % 4 == 0 else at(rng, i, wanted=1)


def a_quarter_finds_nothing(rng, i):
    return at(rng, i, wanted=1) if i % 4 == 0 else at(rng, i, 1)


def finds_half_of_several(rng, i):
    return at(rng, i, 1, wanted=3)


def cut_short(rng, i):
    """Three targets somewhere in ten places, of which the first few come back."""
    record = at(rng, i, *sorted(rng.sample(range(1, K + 1), 3)))
    return {**record, "retrieved": record["retrieved"][: K if i == 0 else 4]}


def score_threshold(rng, i):
    """Whatever comes back is right, and most is held back."""
    return at(rng, i, 1, 2, wanted=6, length=K if i == 0 else 2)


def targets_late(rng, i):
    return at(rng, i, rng.choice([4, 5, 6, 7, 8, 9]))


def shuffled(rng, i):
    return at(rng, i, *sorted(rng.sample(range(1, K + 1), 2)))


def reversed_list(rng, i):
    return at(rng, i, *((K, K - 1) if i % 5 else (K, K - 2)))


def repeated_ids(rng, i):
    shown = [*targets(i), *(f"x{one}" for one in rng.sample(range(5000), 4))]
    return {"retrieved": [one for one in shown for _ in range(2)], "ground_truth": targets(i, 2)}


def repeated_texts(rng, i):
    shown = ranked(rng, {1: targets(i)[0]}, 4)
    copies = [{"id": f"{one} {n}", "text": one} for one in shown for n in range(2)]
    copies[0]["id"] = targets(i)[0]
    return {"retrieved": copies, "ground_truth": targets(i)}


def wrong_chunk(rng, i):
    """The neighbour of what was wanted comes back, but for one query of four."""
    chunk = 3 if i % 4 == 0 else 4
    others = [{"id": f"x{one}", "document": f"x{one}"} for one in rng.sample(range(5000), K - 1)]
    return {
        "retrieved": [{"id": f"d{i}#{chunk}", "document": f"d{i}"}, *others],
        "ground_truth": [{"id": f"d{i}#3", "document": f"d{i}"}],
    }


def cut_over_two_chunks(rng, i):
    """The two halves of most targets come back side by side, each in a chunk of its own."""
    quote = f"The account {i} is closed by its office within thirty days of the notice {i}"
    halves = [f"Before it stands a rule. {quote[:40]}", f"{quote[40:]}. More stands behind it."]
    found = [f"It is so. {quote}."] if i % 4 == 0 else halves
    others = [f"All about {one} and nothing else." for one in rng.sample(range(5000), K)]
    return {"retrieved": [{"text": one} for one in [*found, *others][:K]], "ground_truth": [quote]}


def more_targets_than_places(rng, i):
    return at(rng, i, *range(1, K + 1), wanted=20)


def one_label_of_several_good(rng, i):
    """Three results are good, in any order; one of them was labelled."""
    return at(rng, i, 1 + rng.randrange(i % 2, 3))


def holes_in_the_pool(rng, i):
    """What a former retriever returned was judged, good and bad; what this one returns was not."""
    record = at(rng, i, rng.randrange(2, 7))
    return {**record, "ground_truth": {record["ground_truth"][0]: 1, f"old{i}": 0, f"bad{i}": 0}}


def perfect_and_judged(rng, i):
    record = at(rng, i, 1)
    return {**record, "ground_truth": {record["ground_truth"][0]: 2, f"old{i}": 0}}


def slice_by_tag(rng, i):
    lost = i % 12 in (0, 2, 5, 7, 9)
    record = at(rng, i, wanted=1) if lost else at(rng, i, 1)
    return {**record, "tags": {"type": "table" if lost else "prose"}}


def long_queries(rng, i):
    lost = i % 12 in (0, 2, 5, 7, 9)
    record = at(rng, i, wanted=1) if lost else at(rng, i, 1)
    words = 25 if lost else 6
    return {**record, "query": f"what is {i} " + " ".join(["about"] * words)}


def several_targets_fail(rng, i):
    return at(rng, i, 1, wanted=5) if i % 12 in (0, 2, 5, 7, 9) else at(rng, i, 1)


def raises(rng, i):
    record = at(rng, i, 1)
    if i % 6 == 1:
        record |= {"retrieved": [], "error": "TimeoutError: no answer"}
    return record


def sometimes_empty(rng, i):
    return at(rng, i, 1) if i % 5 else {"retrieved": [], "ground_truth": targets(i)}


def always_the_same(rng, i):
    return {"retrieved": [f"t{one}-0" for one in range(K)], "ground_truth": targets(i)}


def hub_first(rng, i):
    """The right result stands second, below the one that stands first everywhere."""
    record = at(rng, i, 2)
    record["retrieved"][0] = "boilerplate"
    return record


def hub_in_documents(rng, i):
    """The same with chunks of one document, and one query in four that finds nothing."""
    record = at(rng, i, 3) if i % 4 else at(rng, i, wanted=1)
    shown = [{"id": one, "document": f"of {one}"} for one in record["retrieved"]]
    shown[0] = {"id": f"cover#{i}", "document": "cover"}
    return {**record, "retrieved": shown}


def wide_and_ordered_well(rng, i):
    return at(rng, i, [1, 1, 1, 1, 2, 1, 1, 3][i % 8], length=50)


def wide_with_several(rng, i):
    return at(rng, i, 1, 2, 4, length=40)


HEALTHY = {
    "perfect, one target": Animal(perfect, None),
    "perfect, several targets": Animal(perfect_with_several, None),
    "perfect, with documents": Animal(perfect_in_documents, None),
    "perfect, bad results judged too": Animal(perfect_and_judged, None),
    "best first and last": Animal(first_and_last, None),
    "40 places for three targets": Animal(wide_with_several, None, {"k": 40}),
    "every text twice, all found": Animal(repeated_texts, None),
}
FAULTS = {
    "good: 0.9 found, good order": Animal(good, "not_returned"),
    "finds one target in four": Animal(finds_little, "not_returned"),
    "a quarter of the queries finds nothing": Animal(a_quarter_finds_nothing, "not_returned"),
    "finds one of three targets": Animal(finds_half_of_several, "not_returned"),
    "results cut short": Animal(cut_short, "too_few_results"),
    "score threshold too high": Animal(score_threshold, "too_few_results"),
    "targets late": Animal(targets_late, "best_order"),
    "order by chance": Animal(shuffled, "best_order"),
    "sorted the wrong way round": Animal(reversed_list, "reverse"),
    "every result twice": Animal(repeated_ids, "crowded_out"),
    "the neighbour of the chunk": Animal(wrong_chunk, "wrong_chunk"),
    "targets cut over two chunks": Animal(cut_over_two_chunks, "uncut"),
    "more targets than places": Animal(more_targets_than_places, "k_too_small"),
    "one label of several good results": Animal(one_label_of_several_good, "best_order"),
    "judged: what another returned": Animal(holes_in_the_pool, "best_order"),
    "one tag fails": Animal(slice_by_tag, "slice"),
    "long questions fail": Animal(long_queries, "slice"),
    "several targets fail": Animal(several_targets_fail, "slice"),
    "raises an error": Animal(raises, "error"),
    "returns nothing at times": Animal(sometimes_empty, "empty"),
    "the same list for all": Animal(always_the_same, "same_list"),
    "one document first in every list": Animal(hub_first, "hub"),
    "chunks of one document first": Animal(hub_in_documents, "hub"),
    "50 places for one target": Animal(wide_and_ordered_well, "best_order", {"k": 50}),
}
