"""Random queries in the shapes that platforms pass, and the values of `evaluate` for them."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import calipers

METRICS = ("recall@1", "recall@3", "precision@3", "ndcg@3", "mrr", "map@5", "hit_rate@2", "f1@3")
IDS = ["a", "b", "c", "d", "e", "f"]
SENTENCES = {
    one: f"The {word} of the house opens at {hour} in the morning."
    for hour, (one, word) in enumerate(
        zip(IDS, ("gate", "door", "window", "cellar", "garden", "attic"), strict=True), 5
    )
}


@dataclass(frozen=True)
class Case:
    """One query: the ids that came back, and the ids with grades that should."""

    retrieved: list[str]
    grades: dict[str, float]

    def results(self) -> list[dict[str, Any]]:
        return [
            {"id": one, "text": f"Chapter {one}. {SENTENCES[one]} It rained."}
            for one in self.retrieved
        ]

    def plain_quotes(self) -> list[str]:
        return [SENTENCES[one] for one in self.grades]

    def quotes(self) -> list[dict[str, Any]]:
        return [{"quote": SENTENCES[one], "grade": grade} for one, grade in self.grades.items()]


def cases() -> st.SearchStrategy[Case]:
    """Empty lists, copies, grades of 0 and queries without an answer among them."""
    return st.builds(
        Case,
        st.lists(st.sampled_from(IDS), max_size=8),
        st.dictionaries(st.sampled_from(IDS), st.sampled_from([0, 1, 1, 2, 3]), max_size=4),
    )


def evaluated(retrieved: Any, expected: Any, match: str | None) -> dict[str, float | None]:
    """What `evaluate` gives for the one query."""
    record = {"query": "q", "retrieved": retrieved, "ground_truth": expected}
    scores = calipers.evaluate([record], metrics=METRICS, match=match, nothing_in_common="zero")
    return {name: scores.per_query[name][0] for name in METRICS}


def agree(found: dict[str, float | None], wanted: dict[str, float | None]) -> bool:
    return found.keys() == wanted.keys() and all(
        found[name] is value if value is None else abs(found[name] - value) <= 1e-12
        for name, value in wanted.items()
    )
