"""What `diagnose` names first, in retrievers with a planted fault and in healthy ones.

`python -m simulations.diagnoses [DRAWS [SEED]]` prints how often the planted fault is named first,
by world and number of queries, and how often a healthy retriever is advised a certain cure.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

import calipers
from simulations.rates import Rate
from simulations.shapes import Generator

Record = dict[str, object]
Results = list[str]
SIZES = (12, 30, 120, 400)
DRAWN_WITH = 551_118
"""The seed of the figures in the documentation; the rules were not tuned on it."""
DEPTH = 30
CORPUS = 9_000


@dataclass(frozen=True)
class Question:
    """One question of a healthy retriever, before a fault is planted."""

    number: int
    targets: list[str]
    results: Results


Plant = Callable[[Generator, Question], Record]


@dataclass(frozen=True)
class World:
    """A planted fault, and what may be named first."""

    plant: Plant
    named: frozenset[str]
    from_queries: int = 30
    in_random_order: bool = False
    """Whether it is named where the order of the lists is random, too."""


def question(rng: Generator, number: int, *, good: bool, recall: float = 0.85) -> Question:
    """One to three targets, most of them returned: near the top, or anywhere."""
    drawn = rng.choice(CORPUS, DEPTH + 3, replace=False)
    names = [f"c{one:04d}" for one in drawn]
    targets, others = names[: int(rng.integers(1, 4))], names[3:]
    results = others[:DEPTH]
    for target in targets:
        if rng.random() < recall:
            place = min(int(rng.exponential(2.0)), DEPTH - 1) if good else rng.integers(DEPTH)
            results.insert(int(place), target)
    return Question(number, targets, results[:DEPTH])


def record(asked: Question, retrieved: object) -> Record:
    """A record with these results."""
    return {
        "id": f"q{asked.number}",
        "query": f"question {asked.number}",
        "retrieved": retrieved,
        "ground_truth": asked.targets,
    }


def healthy(_: Generator, asked: Question) -> Record:
    """Nothing is wrong."""
    return record(asked, asked.results)


def reversed_lists(_: Generator, asked: Question) -> Record:
    """Every list from its end."""
    return record(asked, asked.results[::-1])


def first_reversed(_: Generator, asked: Question) -> Record:
    """The first ten from their end."""
    return record(asked, asked.results[:10][::-1] + asked.results[10:])


def _scored(rng: Generator, asked: Question, *, distance: bool) -> list[Record]:
    """Results with scores that fall from the best one down; distances rise."""
    steps = np.cumsum(rng.exponential(0.02, len(asked.results)))
    scores = 0.1 + steps if distance else 0.9 - steps
    return [
        {"id": name, "score": float(score)}
        for name, score in zip(asked.results, scores, strict=True)
    ]


def distances(rng: Generator, asked: Question) -> Record:
    """Distances, sorted as if they were similarities."""
    return record(asked, _scored(rng, asked, distance=True)[::-1])


def unsorted(rng: Generator, asked: Question) -> Record:
    """Good scores, in lists that are in no order."""
    results = _scored(rng, asked, distance=False)
    return record(asked, [results[at] for at in rng.permutation(len(results))])


def repeated_ids(_: Generator, asked: Question) -> Record:
    """Every result three times."""
    return record(asked, [name for name in asked.results for _ in range(3)][:DEPTH])


def repeated_texts(_: Generator, asked: Question) -> Record:
    """Every text three times, under three ids."""
    copies = [
        {"id": name if not copy else f"{name} ({copy})", "text": f"All about {name}."}
        for name in asked.results
        for copy in range(3)
    ]
    return record(asked, copies[:DEPTH])


def respelled(change: Callable[[str], str], share: float = 0.4) -> Plant:
    """Some occurrences of ids are written in another way in the results."""

    def plant(rng: Generator, asked: Question) -> Record:
        changed = rng.random(len(asked.results)) < share
        names = zip(asked.results, changed, strict=True)
        return record(asked, [change(name) if other else name for name, other in names])

    return plant


def hub(_: Generator, asked: Question) -> Record:
    """One chunk stands first in every list."""
    return record(asked, ["cover page", *asked.results[:-1]])


def late(rng: Generator, asked: Question) -> Record:
    """All that was found stands below ten."""
    others = [name for name in asked.results if name not in asked.targets]
    found = [name for name in asked.results if name in asked.targets]
    for name in found:
        others.insert(int(rng.integers(10, 20)), name)
    return record(asked, others)


def five_only(rng: Generator, asked: Question) -> Record:
    """Five results, and few of the targets among them."""
    place = int(rng.integers(0, 12))
    return record(asked, asked.results[place : place + 5])


def third_missing(_: Generator, asked: Question) -> Record:
    """A third of the documents is not in the index."""
    return record(asked, [name for name in asked.results if int(name[1:]) % 3])


def wrong_chunk(rng: Generator, asked: Question) -> Record:
    """For most targets another chunk of the document comes back."""
    moved = {name: rng.random() < 0.6 for name in asked.targets}
    results = [
        {"id": f"{name}#{2 if moved.get(name) else 1}", "document": name} for name in asked.results
    ]
    targets = [{"id": f"{name}#1", "document": name} for name in asked.targets]
    return {**record(asked, results), "ground_truth": targets}


def cut_by_chunks(rng: Generator, asked: Question) -> Record:
    """Most targets are cut by the edge of a chunk, and one of the two chunks comes back."""
    is_cut = {name: rng.random() < 0.6 for name in asked.targets}
    results = []
    for name in asked.results:
        text = f"{_quote(name)}. Nothing else is said of it here."
        if is_cut.get(name):
            text = f"Before it stands another rule. {_quote(name)[: len(_quote(name)) // 2]}"
        results.append({"text": text})
    return {**record(asked, results), "ground_truth": [*map(_quote, asked.targets)]}


def _quote(name: str) -> str:
    """What a chunk says."""
    return f"The account {name} is closed by its office within thirty days of the notice {name}"


def slice_fails(rng: Generator, asked: Question) -> Record:
    """A quarter of the queries finds a fifth of what the others find."""
    is_table = asked.number % 4 == 1
    lost = {name for name in asked.targets if is_table and rng.random() < 0.85}
    kept = [name for name in asked.results if name not in lost]
    return {**record(asked, kept), "tags": {"type": "table" if is_table else "prose"}}


def language_fails(rng: Generator, asked: Question) -> Record:
    """The same for questions in German, which no tag names."""
    german = asked.number % 4 == 1
    made = slice_fails(rng, asked)
    text = f"Wie wird das Konto {asked.number} geschlossen und warum nicht der Vertrag?"
    english = f"How do I close the account {asked.number} and why is it not the contract?"
    return {**made, "tags": {}, "query": text if german else english}


def fails(_: Generator, asked: Question) -> Record:
    """The retriever raises an error for every third query."""
    if asked.number % 3 == 1:
        return {**record(asked, []), "error": "TimeoutError: no answer"}
    return record(asked, asked.results)


def empty(_: Generator, asked: Question) -> Record:
    """Nothing comes back for every third query."""
    return record(asked, [] if asked.number % 3 == 1 else asked.results)


IDS = frozenset({"ids"})
CERTAIN: dict[str, World] = {
    "reversed": World(reversed_lists, frozenset({"reverse"})),
    "first ten reversed": World(first_reversed, frozenset({"reverse_first"})),
    "distances": World(distances, frozenset({"sort_distances"})),
    "not sorted by score": World(unsorted, frozenset({"sort_scores"})),
    "ids repeated": World(repeated_ids, frozenset({"repeated_ids"}), in_random_order=True),
    "texts repeated": World(repeated_texts, frozenset({"repeated_texts"}), in_random_order=True),
    "prefix": World(respelled(lambda name: f"idx2:{name}"), IDS, in_random_order=True),
    "folder": World(respelled(lambda name: f"/data/{name}"), IDS, in_random_order=True),
    "extension": World(respelled(lambda name: f"{name}.md"), IDS, in_random_order=True),
    "case": World(respelled(str.upper), IDS, in_random_order=True),
    "slash": World(respelled(lambda name: f"{name}/"), IDS, in_random_order=True),
    "signs": World(respelled(lambda name: f"{name[0]}-{name[1:]}"), IDS, in_random_order=True),
    "zeros": World(respelled(lambda name: f"c00{name[1:]}"), IDS, in_random_order=True),
    "percent": World(respelled(lambda name: f"%63{name[1:]}"), IDS, in_random_order=True),
    "full width": World(respelled(lambda name: f"\uff43{name[1:]}"), IDS, in_random_order=True),
    "hub": World(hub, frozenset({"hub"}), 120),
}
"""Faults for which a certain cure is known."""
LEAKS: dict[str, World] = {
    "late": World(late, frozenset({"larger_k"})),
    "five results only": World(five_only, frozenset({"too_few_results"})),
    "a third is missing": World(third_missing, frozenset({"not_returned", "best_order"})),
    "wrong chunk": World(wrong_chunk, frozenset({"wrong_chunk"})),
    "cut by chunks": World(cut_by_chunks, frozenset({"in_pieces"})),
    "one tag fails": World(slice_fails, frozenset({"slice"}), 120),
    "German fails": World(language_fails, frozenset({"slice"}), 120),
    "errors": World(fails, frozenset({"error"})),
    "nothing returned": World(empty, frozenset({"empty"})),
}
"""Faults that are named as a group of queries, or as a leak."""
CERTAIN_CURES = frozenset(name for world in CERTAIN.values() for name in world.named)


def records(plant: Plant, n: int, rng: Generator, *, good: bool = True) -> list[Record]:
    """So many queries of a world."""
    return [plant(rng, question(rng, number, good=good)) for number in range(n)]


def named(plant: Plant, n: int, rng: Generator, *, good: bool = True) -> str | None:
    """What is named first in one draw of a world."""
    made = records(plant, n, rng, good=good)
    # Few queries with few results may have nothing in common at all.
    return calipers.diagnose(made, nothing_in_common="zero").named


AT_ONCE = 4
"""Draws of a planted world that share a generator; three of the slowest, at 400 queries."""
HEALTHY_AT_ONCE = 20


def planted(
    draws: int,
    worlds: dict[str, World] = CERTAIN | LEAKS,
    sizes: tuple[int, ...] = SIZES,
    seed: int = DRAWN_WITH,
) -> Iterator[Rate]:
    """How often the planted fault is named first, in a good order and in a random one."""
    for name, world in worlds.items():
        for good in (True, False) if world.in_random_order else (True,):
            for n in sizes:
                first = [
                    named(world.plant, n, rng, good=good)
                    for rng in _generators(seed, (55, n, good), name, draws // AT_ONCE)
                    for _ in range(AT_ONCE - (n == max(SIZES)))
                ]
                hits = sum(cure in world.named for cure in first)
                lowest = 0.95 if n >= world.from_queries else None
                order = "" if good else ", random order"
                yield Rate(f"{name}{order}", n, hits / len(first), len(first), lowest=lowest)


def left_alone(
    draws: int, sizes: tuple[int, ...] = SIZES, seed: int = DRAWN_WITH
) -> Iterator[Rate]:
    """How often a healthy retriever is advised a certain cure."""
    for good in (True, False):
        for n in sizes:
            first = [
                named(healthy, n, rng, good=good)
                for rng in _generators(seed, (56, n, good), "healthy", draws // HEALTHY_AT_ONCE)
                for _ in range(HEALTHY_AT_ONCE)
            ]
            hits = sum(cure in CERTAIN_CURES for cure in first)
            order = "good order" if good else "random order"
            yield Rate(f"healthy, {order}", n, hits / len(first), len(first), highest=0.02)


def _generators(
    seed: int, cell: tuple[int, int, bool], name: str, batches: int
) -> Iterator[Generator]:
    """A generator for each batch of a cell, so that a run can be continued."""
    for batch in range(max(1, batches)):
        yield np.random.default_rng([seed, *cell, batch, *name.encode()])


def main() -> int:
    """Print every rate, and mark what is outside its band."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else DRAWN_WITH
    failed = 0
    for rate in chain(planted(draws, seed=seed), left_alone(5 * draws, seed=seed)):
        failed += not rate.inside
        mark = "" if rate.inside else "  outside"
        sys.stdout.write(f"{rate.shape:32} {rate.n:>4}  {rate.value:.3f}{mark}\n")
        sys.stdout.flush()
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
