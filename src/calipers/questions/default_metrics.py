"""The one metric that decides; the others are shown beside it and take none of its power."""

from collections.abc import Sequence

from calipers.errors import InvalidInput
from calipers.measures.spec import find_name
from calipers.model.scores import MetricFacts
from calipers.suggest import did_you_mean


def choose_primary(facts: Sequence[MetricFacts], wanted: str | None = None) -> str | None:
    """The metric asked for, or else the score, recall at its largest k, or the first at hand.

    More or less of it must be better; None where there is no such metric.

    >>> known = [MetricFacts(f"{name}@{k}", name, k, "higher", (0, 1), "")
    ...          for name in ("ndcg", "recall") for k in (5, 10)]
    >>> choose_primary(known), choose_primary(known, "nDCG@5"), choose_primary(known[:2])
    ('recall@10', 'ndcg@5', 'ndcg@5')
    """
    decisive = {one.name: one for one in facts if one.better != "neither"}
    if wanted is not None:
        found = wanted if wanted in decisive else find_name(wanted, decisive)
        if found is None:
            raise InvalidInput(
                f"The primary metric {wanted!r} is not among those of which more or less is "
                f"better; they are {', '.join(decisive) or 'none'}.{did_you_mean(wanted, decisive)}"
            )
        return found
    if "score" in decisive:
        return "score"
    recalls = [one for one in decisive.values() if one.stem.partition("(")[0] == "recall"]
    if recalls:
        return max(recalls, key=lambda one: one.k or 0).name
    return next(iter(decisive), None)
