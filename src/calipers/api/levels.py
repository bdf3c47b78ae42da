"""The same evaluation at the level of evidence, of chunks and of documents, side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calipers.api.evaluate import choose_metrics, score
from calipers.api.inputs import read_pair
from calipers.api.prepare import prepare
from calipers.io.source import Progress
from calipers.match.level import LEVELS, Level, NoDocuments, check_level
from calipers.metrics import Metric
from calipers.metrics.coverage import Coverage
from calipers.model.scores import Scores


@dataclass(frozen=True, eq=False)
class Levels:
    """One result per level, and a sentence for what could not be computed."""

    scores: Mapping[Level, Scores]
    not_computed: tuple[str, ...] = ()

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole result as plain values."""
        return {
            "levels": {
                level: scores.to_dict(per_query=per_query) for level, scores in self.scores.items()
            },
            "not_computed": list(self.not_computed),
        }


def levels(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    at: str | Iterable[str] = "all",
    metrics: str | Iterable[str | Metric] | None = None,
    k: int | Sequence[int] | None = None,
    rel: float | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
    **preparing: Any,
) -> Levels:
    """Score a run at several levels: "all", or a list such as "evidence,document".

    The input is read once. A level that cannot be computed is left out and explained; if none
    can, that is an error. Further arguments are those of ``prepare``.

    >>> chunk = {"text": "The GIL is a lock.", "document": "faq"}
    >>> record = {"query": "q", "retrieved": [chunk],
    ...           "ground_truth": [{"quote": "many threads", "document": "faq"}]}
    >>> found = levels([record], metrics="recall@1")
    >>> {level: scores["recall@1"].mean for level, scores in found.scores.items()}
    {'evidence': 0.0, 'chunk': 0.0, 'document': 1.0}
    """
    names = _names(at)
    chosen = choose_metrics(metrics, k, rel)
    truth, results = read_pair(data, ground_truth, run, progress, preparing.pop("store", None))
    scores: dict[Level, Scores] = {}
    excuses: list[str] = []
    for level in names:
        possible = [one for one in chosen if level != "document" or not _counts_characters(one)]
        if len(possible) < len(chosen):
            left_out = ", ".join(str(one) for one in chosen if one not in possible)
            excuses.append(f"Not at the level of documents, which have no spans: {left_out}.")
        if not possible:
            continue
        try:
            prepared = prepare(ground_truth=truth, run=results, level=level, rel=rel, **preparing)
        except NoDocuments as error:
            if len(names) == 1:
                raise
            excuses.append(str(error))
            continue
        scores[level] = score(
            prepared, possible, confidence=confidence, resamples=resamples, seed=seed
        )
    return Levels(scores, tuple(excuses))


def _names(at: str | Iterable[str]) -> tuple[Level, ...]:
    if at == "all":
        return LEVELS
    given = at.split(",") if isinstance(at, str) else at
    return tuple(dict.fromkeys(check_level(name.strip()) for name in given))


def _counts_characters(metric: Metric) -> bool:
    return metric.definition.view is Coverage
