"""The metric that decides and the few to look at, where none is named."""

from collections.abc import Iterable, Sequence

from calipers.errors import InvalidInput
from calipers.measures.spec import find_name
from calipers.model.scores import MetricFacts
from calipers.suggest import did_you_mean

HEADLINES = ("recall", "precision", "ndcg", "mrr")
"""Few, as every one costs power where it is tested."""


def choose_primary(facts: Sequence[MetricFacts], wanted: str | None = None) -> str | None:
    """The metric asked for, or else the score, recall at its largest k, or the first at hand.

    It alone decides; the others are shown beside it and take none of its power. More or less of
    it must be better; None where there is no such metric.

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


def headlines(names: Iterable[str]) -> list[str]:
    """The few metrics to look at where none is named.

    >>> headlines(["recall@1", "recall@10", "precision@10", "mrr", "map"])
    ['recall@10', 'precision@10', 'mrr']
    """
    known = list(names)
    chosen = ["score"] if "score" in known else []
    for stem in HEADLINES:
        same = [name for name in known if name.partition("@")[0].partition("(")[0] == stem]
        if same:
            chosen.append(max(same, key=_cutoff))
    return chosen or known[:4]


def _cutoff(name: str) -> int:
    digits = name.rpartition("@")[2]
    return int(digits) if digits.isdigit() else 0
