"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import (
    Cluster,
    Confidence,
    Data,
    FirstK,
    Price,
    Reading,
    cutoff_list,
)

if TYPE_CHECKING:
    from calipers.questions.sweep.floor import Floor
    from calipers.questions.sweep.result import Sweep


@dataclass(frozen=True, kw_only=True)
class SweepSettings(Settings):
    """What `sweep` takes."""

    reading: Reading = Reading()

    metrics: Annotated[
        str | Collection[str] | None,
        Setting(
            "Metrics without a cut-off, such as recall,ndcg,mrr (`calipers metrics` lists them).",
            "-m",
            "LIST",
        ),
    ] = None
    k: Annotated[
        int | Sequence[int] | None,
        Setting(
            "Which k to look at, such as 1,5,10. [default: every one up to 100, then some]",
            "-k",
            "LIST",
            read=cutoff_list,
        ),
    ] = None
    margin: Annotated[
        float,
        Setting(
            "How much recall a smaller k may lose against the largest.",
            metavar="LOSS",
        ),
    ] = 0.05
    price: Price = None
    confidence: Confidence = 0.95
    cluster: Cluster = None


@operation(page="which-k", command="sweep")
def sweep(data: Data = None, *, settings: SweepSettings) -> "Sweep":
    """Measure at every k (1 to the longest list, or the ``k`` given) and advise one.

    ``data`` is a pair, or anything that ``read`` takes. The result says where its tokens come from.
    The k that is advised loses, with the ``confidence``, at most a ``margin`` of recall. With a
    ``price`` of a million tokens, every point says what the results of 1,000 queries cost.

    >>> found = sweep([{"query": "q", "retrieved": ["x", "a", "b"], "ground_truth": ["a", "b"]}])
    >>> [point.values["recall"].mean for point in found.points]
    [0.0, 0.5, 1.0]
    >>> found.recall.safe_k
    3
    """
    from calipers.engines.scoring import cutoffs
    from calipers.questions.inputs import matched
    from calipers.questions.reading import DEPTH
    from calipers.questions.sweep.rule import sweep_over_k

    looks = max(cutoffs(settings.k) or [DEPTH])
    pair = matched(data, settings.reading, again=True, looks=looks)
    return sweep_over_k(
        pair,
        metrics=settings.metrics,
        k=settings.k,
        margin=settings.margin,
        confidence=settings.confidence,
        cluster=settings.cluster,
        price=settings.price,
    )


@dataclass(frozen=True, kw_only=True)
class FloorSettings(Settings):
    """What `floor` takes."""

    reading: Reading = Reading()

    k: FirstK = 10
    keep: Annotated[
        float,
        Setting("Keep this share of what is found without a floor.", metavar="SHARE"),
    ] = 0.95
    confidence: Annotated[
        float,
        Setting(
            "How sure it must be that so much is kept on other queries of the same kind.",
        ),
    ] = 0.95
    cluster: Cluster = None


@operation(page="which-k", command="sweep")
def floor(data: Data = None, *, settings: FloorSettings) -> "Floor":
    """The score below which results are better not returned, and what each floor would cost.

    ``data`` is a pair, or anything that ``read`` takes; every result needs a score. The floor is
    the highest that keeps what is asked for with the ``confidence``.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": [{"id": "a", "score": 0.8 if i % 4 else 0.3}],
    ...      "ground_truth": ["a"] if i % 4 else []}
    ...     for i in range(120)
    ... ]
    >>> found = floor(records)
    >>> found.chosen.floor, found.chosen.wrongly_answered, found.without.wrongly_answered
    (0.8, 0.0, 1.0)
    """
    from calipers.errors import check_number
    from calipers.measures.spec import check_cutoff
    from calipers.questions.inputs import matched
    from calipers.questions.sweep.floor import find_floor

    check_number("The share to keep", settings.keep, above=0, below=1, such_as=0.95)
    check_number("The confidence", settings.confidence, least=0.5, below=1, such_as=0.95)
    k = check_cutoff(settings.k)
    pair = matched(data, settings.reading, again=True)
    return find_floor(pair, k, settings.keep, settings.confidence, settings.cluster)
