"""Small systems with known values, for the tests of what is made from scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from calipers import evaluate, save
from calipers.model.matched import Matched
from calipers.model.scores import Scores

OLD = [3, 2, None, 5, 4, 2, 7, 3, 9, 2, None, 4]
NEW = [1, 1, 4, 2, 1, 1, 2, 1, 3, 1, 5, 2]


def records(hits: Sequence[int | None], **common: Any) -> list[dict[str, Any]]:
    """One query per entry: the rank at which its single target stands, None where it is missed."""
    made = []
    for i, rank in enumerate(hits):
        retrieved = [f"x{n}" for n in range(10)]
        if rank is not None:
            retrieved[rank - 1] = "target"
        made.append(
            {
                "id": f"q{i}",
                "query": f"question {i}",
                "retrieved": retrieved,
                "ground_truth": {"target": 1},
                **common,
            }
        )
    return made


def measured(hits: Sequence[int | None], metrics: str = "recall@5,mrr", **settings: Any) -> Scores:
    """The scores of such a system."""
    return evaluate(records(hits), metrics=metrics, **settings)


def keep(pair: Matched, name: str, store: str, metrics: str | None = None, **more: Any) -> Any:
    """Measure a pair and save it with its results."""
    scores = evaluate(pair, metrics=metrics)
    both: Any = {"ground_truth": pair.ground_truth, "run": pair.run}
    return save(scores, name, store=store, **both, **more)


def tagged(groups: Mapping[str, Sequence[int | None]]) -> list[dict[str, Any]]:
    """Records in groups, the name of the group as the tag ``type``."""
    made: list[dict[str, Any]] = []
    for name, hits in groups.items():
        for record in records(hits):
            made.append({**record, "id": f"{name}-{record['id']}", "tags": {"type": name}})
    return made
