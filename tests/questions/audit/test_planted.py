"""Sets with one planted fault each, and healthy ones: what is planted is found, and no more."""

import random

import pytest

from calipers import audit
from calipers.checks import catalogue

SIZES = (40, 120)
TOPICS, PER_TOPIC = 30, 10
WATCHED = {kind.name for kind in catalogue.BLURS}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(rng, n):
    return ["".join(rng.sample(LETTERS, rng.randint(4, 9))) for _ in range(n)]


class World:
    """Topics of ten chunks that share most of their words, and questions in other words."""

    def __init__(self, n, seed=1):
        rng = self.rng = random.Random(f"{n} {seed}")
        self.n = n
        self.usual = words(rng, 200)
        self.topics = [words(rng, 25) for _ in range(TOPICS)]
        self.corpus = {}
        for topic, known in enumerate(self.topics):
            for one in range(PER_TOPIC):
                text = rng.sample(known, 12) + rng.sample(self.usual, 25)
                self.corpus[f"t{topic}c{one}"] = " ".join(rng.sample(text, len(text)))
        self.ids = list(self.corpus)

    def question(self, item):
        """A few words of the topic, half of them in the chunk, among words of nobody else."""
        known = self.topics[int(item[1:].partition("c")[0])]
        there = [word for word in known if word in self.corpus[item].split()]
        asked = self.rng.sample(there, 1) + self.rng.sample(known, 2) + words(self.rng, 4)
        return " ".join(self.rng.sample(asked, len(asked))) + "?"

    def records(self, n=None, ids=None):
        some = ids or self.rng.sample(self.ids, self.n)
        return [
            {
                "id": f"q{i}",
                "query": self.question(some[i % len(some)]),
                "ground_truth": [some[i % len(some)]],
            }
            for i in range(n or self.n)
        ]


def healthy(world):
    return {"ground_truth": world.records(), "corpus": world.corpus}


def healthy_with_real_questions(world):
    """Real questions of the same kind."""
    real = [one["query"] for one in world.records(120)]
    return {"ground_truth": world.records(), "corpus": world.corpus, "traces": real}


def several_targets(world):
    records = world.records()
    for one in records:
        topic = one["ground_truth"][0].partition("c")[0]
        one["ground_truth"] += [item for item in world.ids if item.startswith(f"{topic}c")][:3]
        one["ground_truth"] = sorted(set(one["ground_truth"]))
    return {"ground_truth": records, "corpus": world.corpus}


def one_document(world):
    rows = [{"id": item, "document": "book", "text": text} for item, text in world.corpus.items()]
    return {"ground_truth": world.records(), "corpus": rows}


def first_words(world):
    records = world.records()
    for one in records:
        one["query"] = " ".join(world.corpus[one["ground_truth"][0]].split()[:10])
    return {"ground_truth": records, "corpus": world.corpus}


def some_copies(world):
    records = world.records()
    for one in records[::8]:
        one["query"] = " ".join(world.corpus[one["ground_truth"][0]].split()[5:14]) + " what?"
    return {"ground_truth": records, "corpus": world.corpus}


def asked_again(world):
    records = world.records(world.n // 2)
    again = [{**one, "id": one["id"] + "b", "query": one["query"].upper()} for one in records]
    return {"ground_truth": records + again, "corpus": world.corpus}


def reworded_a_little(world):
    records = world.records(world.n // 2)
    again = [{**one, "id": one["id"] + "b", "query": "so " + one["query"]} for one in records]
    return {"ground_truth": records + again, "corpus": world.corpus}


HEALTHY = {
    "nothing": healthy,
    "nothing, with real questions": healthy_with_real_questions,
    "nothing, several targets per question": several_targets,
    "nothing, one long document": one_document,
}
FAULTS = {
    "the first ten words of the chunk as question": (
        first_words,
        {"won_by_word_matching", "copied_wording"},
    ),
    "one question in eight copies nine words": (some_copies, {"copied_wording"}),
    "every question twice": (asked_again, {"duplicate_queries"}),
    "every question twice, one word more": (reworded_a_little, {"near_duplicate_queries"}),
}


def found_in(make, n, seed=1):
    """The audit of a set of so many questions, and the names of the warnings in it."""
    health = audit(**make(World(n, seed)))
    return health, {one.name for one in health.findings if one.severity != "info"} & WATCHED


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("n", SIZES)
def test_a_healthy_set_has_no_finding(name, n):
    health, named = found_in(HEALTHY[name], n)
    assert named == set()
    assert health.claim.standing is None  # nothing is tested, so nothing has a sign


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("n", SIZES)
def test_what_is_planted_is_found(name, n):
    make, planted = FAULTS[name]
    health, named = found_in(make, n)
    assert named == planted
    assert health.claim.standing is None


def test_copied_questions_are_not_called_fit():
    health, _ = found_in(first_words, 120)
    assert health.claim.line == (
        "Plain word matching finds 100% in the first 5: this set cannot rank retrievers."
    )
