"""Worlds that are drawn from a seed: the kinds, and how each is made."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.worlds.world import CLUSTER, WEIGHT, Question, Ranking, World

SIZES = (1, 2, 3, 5, 8, 12, 20, 31, 60, 120, 400)
DEPTH = 10
Draw = random.Random
Rankings = dict[str, Ranking]
Scores = dict[str, list[float]]


def questions(draw: Draw, n: int, targets: int = 1, tagged: bool = False) -> tuple[Question, ...]:
    """Questions with their own targets, and a tag where slices are asked for."""
    made = []
    for at in range(n):
        wanted = tuple(f"t{at}-{one}" for one in range(draw.randint(1, targets)))
        tags = {"type": "table" if at % 4 == 0 else "text"} if tagged else {}
        made.append(Question(f"q{at:03}", wanted, tags))
    return tuple(made)


def ranking(draw: Draw, found: Mapping[str, int], depth: int = DEPTH) -> list[str]:
    """A list with some targets at their ranks, filled up with other documents."""
    places = {rank: target for target, rank in found.items()}
    others = iter(draw.sample(range(100_000), depth))
    return [places.get(rank) or f"x{next(others)}" for rank in range(1, depth + 1)]


def ranked(draw: Draw, asked: tuple[Question, ...], hit: float, first: int = 1) -> Rankings:
    """A system that finds each target with a chance, at a random rank from ``first`` on."""
    made: Rankings = {}
    for one in asked:
        found: dict[str, int] = {}
        free = list(range(first, DEPTH + 1))
        draw.shuffle(free)
        for target in one.targets:
            if free and draw.random() < hit:
                found[target] = free.pop()
        made[one.id] = ranking(draw, found)
    return made


def changed(draw: Draw, asked: tuple[Question, ...], old: Rankings, share: float) -> Rankings:
    """The same rankings, with some of them drawn anew."""
    new = ranked(draw, asked, draw.choice([0.2, 0.5, 0.9]))
    return {one.id: new[one.id] if draw.random() < share else old[one.id] for one in asked}


def nothing_changed(draw: Draw, n: int) -> World:
    asked = questions(draw, n, 3)
    same = ranked(draw, asked, 0.7)
    return World("nothing changed", asked, {"a": same, "b": dict(same)})


def some_changed(draw: Draw, n: int) -> World:
    asked = questions(draw, n, draw.choice([1, 3]))
    old = ranked(draw, asked, draw.choice([0.3, 0.6, 0.9]))
    new = changed(draw, asked, old, draw.choice([0.05, 0.3, 1.0]))
    return World("some changed", asked, {"a": old, "b": new})


def all_won(draw: Draw, n: int) -> World:
    asked = questions(draw, n)
    old = {one.id: ranking(draw, {}) for one in asked}
    new = {one.id: ranking(draw, {one.targets[0]: 1}) for one in asked}
    # Both sides share an id, or nothing could be matched.
    old[asked[0].id] = new[asked[0].id]
    return World("all won", asked, {"a": old, "b": new})


def one_lost(draw: Draw, n: int) -> World:
    asked = questions(draw, n)
    old: Rankings = {one.id: ranking(draw, {one.targets[0]: draw.randint(1, 5)}) for one in asked}
    lost = {**old, asked[-1].id: ranking(draw, {})}
    return World("one lost", asked, {"a": old, "b": lost})


def reversed_lists(draw: Draw, n: int) -> World:
    asked = questions(draw, n, 2)
    good = {
        one.id: ranking(draw, {t: rank for rank, t in enumerate(one.targets, 1)}) for one in asked
    }
    bad = {name: list(reversed(one)) for name, one in good.items()}
    half = {
        name: one if at % 2 else ranking(draw, {}) for at, (name, one) in enumerate(good.items())
    }
    return World("reversed", asked, {"a": good, "b": bad, "c": half})


def sorted_backwards(draw: Draw, n: int) -> World:
    asked = questions(draw, n, 2)
    good = {one.id: ranking(draw, {one.targets[0]: draw.randint(1, 5)}, 20) for one in asked}
    bad = {name: list(reversed(one)) for name, one in good.items()}
    return World("sorted backwards", asked, {"a": bad, "b": good}, named="reverse")


def one_outweighs(draw: Draw, n: int) -> World:
    n = max(n, 8)
    made = tuple(Question(f"q{at:03}", tuple(f"t{at}-{j}" for j in range(10))) for at in range(n))
    old: Rankings = {}
    new: Rankings = {}
    for at, one in enumerate(made):
        kept = 0 if at == 0 else 6
        now = 10 if at == 0 else 5 if at <= min(n - 2, 9) else 6
        old[one.id] = [*one.targets[:kept], *ranking(draw, {}, 10 - kept)]
        new[one.id] = [*one.targets[:now], *ranking(draw, {}, 10 - now)]
    return World("one outweighs", made, {"a": old, "b": new})


def reranked(draw: Draw, n: int) -> World:
    """Most targets come first now, and some are gone: two metrics that disagree."""
    asked = questions(draw, n)
    late = {one.id: ranking(draw, {one.targets[0]: draw.randint(6, 10)}) for one in asked}
    systems = {"a": late}
    for name in draw.choice(["b", "bc"]):
        lost = draw.randint(0, max(1, n // 5))
        systems[name] = {
            one.id: ranking(draw, {} if at < lost else {one.targets[0]: draw.randint(1, 2)})
            for at, one in enumerate(asked)
        }
    return World("reranked", asked, systems)


def low_at_any_k(draw: Draw, n: int) -> World:
    asked = questions(draw, n)
    few = {
        one.id: ranking(draw, {one.targets[0]: 1} if at % 10 == 0 else {})
        for at, one in enumerate(asked)
    }
    return World("low at any k", asked, {"a": few, "b": dict(few)})


def five_systems(draw: Draw, n: int) -> World:
    asked = questions(draw, n, 2)
    first = ranked(draw, asked, 0.7)
    systems = {"a": first}
    for name in "bcde":
        systems[name] = changed(draw, asked, first, draw.choice([0.1, 0.5, 1.0]))
    return World("five systems", asked, systems)


def broken_slice(draw: Draw, n: int) -> World:
    asked = questions(draw, max(n, 8), tagged=True)
    good = ranked(draw, asked, 1.0)
    bad = {
        one.id: ranking(draw, {}) if one.tags["type"] == "table" else good[one.id] for one in asked
    }
    return World("broken slice", asked, {"a": bad, "b": good})


def half_wrong_ids(draw: Draw, n: int) -> World:
    asked = questions(draw, n)
    good = ranked(draw, asked, 0.9, first=1)
    bad: Rankings = {
        name: [f"idx2:{one}" for one in some] if draw.random() < 0.4 else some
        for name, some in good.items()
    }
    bad[asked[0].id] = good[asked[0].id] = ranking(draw, {asked[0].targets[0]: 1})
    return World("half wrong ids", asked, {"a": bad, "b": good})


def third_missing(draw: Draw, n: int) -> World:
    asked = questions(draw, n)
    good = ranked(draw, asked, 0.95)
    bad = {
        one.id: ranking(draw, {}) if at % 3 == 2 else good[one.id] for at, one in enumerate(asked)
    }
    bad[asked[0].id] = good[asked[0].id] = ranking(draw, {asked[0].targets[0]: 1})
    return World("a third missing", asked, {"a": bad, "b": good})


def tied(draw: Draw, n: int) -> World:
    asked = questions(draw, n)
    some = ranked(draw, asked, 0.9)
    scores = {one.id: [1.0] * 6 + [0.5, 0.4, 0.3, 0.2] for one in asked}
    return World("ties", asked, {"a": some, "b": ranked(draw, asked, 0.9)}, scores)


def whole_corpus(draw: Draw, n: int) -> World:
    made = tuple(Question(f"q{at:03}", (f"d{at % DEPTH}",)) for at in range(n))
    every = [f"d{one}" for one in range(DEPTH)]
    runs = [{one.id: draw.sample(every, DEPTH) for one in made} for _ in "ab"]
    return World("whole corpus", made, {"a": runs[0], "b": runs[1]})


def without_answers(draw: Draw, n: int) -> World:
    asked = questions(draw, n)
    empty = [
        Question(one.id, ()) if at and draw.random() < 0.3 else one for at, one in enumerate(asked)
    ]
    kept = tuple(empty)
    old = ranked(draw, kept, 0.8)
    old[kept[0].id] = ranking(draw, {kept[0].targets[0]: 1})
    new = changed(draw, kept, old, 0.4)
    new[kept[0].id] = old[kept[0].id]
    return World("without answers", kept, {"a": old, "b": new})


def drawn_freely(draw: Draw, n: int) -> World:
    """Anything at all: targets, grades, tags, lists of different length, documents, ties."""
    tagged = draw.random() < 0.5
    by_document = draw.random() < 0.3
    graded = draw.random() < 0.4
    deepest = draw.choice([1, 2, 5, 10, 12, 25])
    uneven = draw.random() < 0.4
    without = draw.choice([0.0, 0.0, 0.2])
    made = []
    for at in range(n):
        made.append(_free_question(draw, at, tagged, graded, by_document, without))
    asked = tuple(made)
    systems: dict[str, Rankings] = {}
    for name in "abcd"[: draw.choice([2, 2, 3, 4])]:
        hit = draw.random()
        lists: Rankings = {}
        for question in asked:
            depth = draw.randint(0, deepest) if uneven and systems else deepest
            lists[question.id] = _free_list(draw, question, hit, depth, by_document)
        systems[name] = lists
    scores = _free_scores(draw, asked, systems["a"]) if draw.random() < 0.4 else {}
    return World("freely", asked, systems, scores)


def _free_question(
    draw: Draw, at: int, tagged: bool, graded: bool, by_document: bool, without: float
) -> Question:
    """A question with targets, grades and tags as they come."""
    wanted = tuple(
        f"doc{at}#{one}" if by_document else f"t{at}-{one}"
        for one in range(draw.choice([1, 1, 2, 5]))
    )
    if at and draw.random() < without:
        wanted = ()
    tags: dict[str, str | float] = {}
    if tagged:
        tags["type"] = draw.choice(["table", "text", "text", "code 2"])
        tags[WEIGHT] = draw.choice([1, 1, 2, 7.5])
        tags[CLUSTER] = f"i{draw.randint(0, 1 + at // 2)}"
    grades: dict[str, float] = {}
    if graded and wanted:
        grades = {item: draw.choice([1.0, 2.0, 3.0]) for item in wanted}
        grades[f"n{at}"] = 0.0
    return Question(f"q{at:03}", wanted, tags, grades)


def _free_list(
    draw: Draw, question: Question, hit: float, depth: int, by_document: bool
) -> Ranking:
    """Some targets somewhere in a list, among chunks of their documents and others."""
    found = [item for item in question.targets if draw.random() < hit][:depth]
    known = [*question.grades] if draw.random() < 0.3 else []
    judged = [item for item in known if item not in question.targets][: depth - len(found)]
    near = [f"{item.split('#')[0]}#9" for item in question.targets[:1] if by_document]
    close = [item for item in near if draw.random() < 0.5][: depth - len(found) - len(judged)]
    taken = [*found, *judged, *close]
    others = [f"x{item}" for item in draw.sample(range(100_000), depth - len(taken))]
    if by_document:
        others = [f"{item}#0" for item in others]
    every = [*taken, *others]
    draw.shuffle(every)
    return every


def _free_scores(draw: Draw, asked: tuple[Question, ...], lists: Rankings) -> Scores:
    """Scores that fall along each list, some of them equal."""
    steps = draw.choice([(0.01,), (0.0, 0.01), (0.0, 0.0, 0.1)])
    scores: dict[str, list[float]] = {}
    for question in asked:
        score = 1.0
        scores[question.id] = []
        for _ in lists[question.id]:
            scores[question.id].append(round(score, 6))
            score -= draw.choice(steps)
    return scores


def judged_rows(draw: Draw, n: int) -> World:
    """Tables of what was returned, in which each row was judged and nothing else."""
    made = tuple(Question(f"q{at:03}", (f"t{at}", f"u{at}")) for at in range(n))
    systems = {name: ranked(draw, made, draw.choice([0.3, 0.6, 0.9])) for name in "ab"}
    return World("judged rows", made, systems, judged_rows=True)


def asked_often(draw: Draw, n: int) -> World:
    """Questions that were asked more or less often, with paraphrases among them."""
    plain = questions(draw, n, 2)
    made = tuple(
        Question(
            question.id,
            question.targets,
            {WEIGHT: draw.choice([1, 2, 3, 20, 0.5]), CLUSTER: f"i{at // 3}"},
        )
        for at, question in enumerate(plain)
    )
    old = ranked(draw, made, draw.choice([0.3, 0.6, 0.9]))
    new = changed(draw, made, old, draw.choice([0.05, 0.3, 1.0]))
    return World("asked often", made, {"a": old, "b": new})


KINDS: tuple[Callable[[Draw, int], World], ...] = (
    nothing_changed,
    some_changed,
    all_won,
    one_lost,
    reversed_lists,
    sorted_backwards,
    one_outweighs,
    low_at_any_k,
    reranked,
    five_systems,
    broken_slice,
    half_wrong_ids,
    third_missing,
    tied,
    whole_corpus,
    without_answers,
    drawn_freely,
    drawn_freely,
    judged_rows,
    asked_often,
)


def drawn(seed: int) -> World:
    """The world of a seed."""
    draw = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    # Large worlds are drawn less often: a tenth of them would take most of the time.
    size = draw.choice(SIZES) if draw.random() < 0.2 else draw.randint(1, 45)
    world = kind(draw, size)
    # A run that shares no id with the ground truth is refused: the ids may be of two kinds.
    first = next(question for question in world.questions if question.targets)
    systems = {}
    for name, rankings in world.systems.items():
        hits = (set(one.targets) & set(rankings[one.id]) for one in world.questions)
        depth = max(1, len(rankings[first.id]))
        found = {first.id: ranking(draw, {first.targets[0]: 1}, depth)}
        systems[name] = rankings if any(hits) else {**rankings, **found}
    scores = dict(world.scores)
    if scores and len(scores[first.id]) != len(systems["a"][first.id]):
        scores[first.id] = [1.0]
    return replace(world, systems=systems, scores=scores)
