"""The few metrics to look at where none is named."""

from collections.abc import Iterable

HEADLINES = ("recall", "precision", "ndcg", "mrr")
"""Few, as every one costs power where it is tested."""


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
