"""Operations and their settings: names, types and defaults."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import CorpusInput
from calipers.operation import PYTHON, Setting, Settings, operation
from calipers.questions.reading import (
    Cluster,
    Confidence,
    Cutoffs,
    Data,
    Metrics,
    Price,
    Reading,
)

if TYPE_CHECKING:
    from calipers.questions.report.result import Report


@dataclass(frozen=True, kw_only=True)
class ReportSettings(Settings):
    """What `report` takes."""

    name: Annotated[
        str | None, Setting("What the page calls the retriever.", only=PYTHON)
    ] = None
    metrics: Metrics = None
    k: Cutoffs = None
    corpus: Annotated[
        CorpusInput | None,
        Setting(
            "What is searched: tells more about misses.", only=PYTHON, unchecked=True
        ),
    ] = None
    by: Annotated[
        Collection[str] | None,
        Setting("Tags to slice by. [default: all that have a few values]", only=PYTHON),
    ] = None
    price: Price = None
    cluster: Cluster = None
    confidence: Confidence = 0.95
    reading: Reading = Reading()


@operation(page="evaluate", command="eval")
def report(data: Data = None, *, settings: ReportSettings) -> "Report":
    """Measure, sweep, diagnose and explain one retriever, as a page.

    Give ``data`` as for ``evaluate``. The largest cut-off of recall is the one that is described
    (default: 10). ``corpus`` tells more about misses; ``by`` are the tags to slice by (default:
    all that have a few values). ``name`` is what the page calls the retriever.

    >>> made = report([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a", "b"]}], k=2)
    >>> made.k, made.systems[0].scores["recall@2"].mean
    (2, 0.5)
    """
    from calipers.engines.scoring import choose_metrics, deepest, score
    from calipers.questions.inputs import like_of, matched, tags_of
    from calipers.questions.reading import DEPTH, Intervals
    from calipers.questions.report.browse import Browse
    from calipers.questions.report.result import Report
    from calipers.questions.report.rule import describe
    from calipers.questions.systems import name_of

    reading = settings.reading
    chosen = choose_metrics(settings.metrics, settings.k, like=like_of(data, reading))
    sources = (reading.inputs.retriever, reading.inputs.run, data)
    source = next((source for source in sources if source is not None), None)
    name = settings.name or name_of(source)
    intervals = Intervals(confidence=settings.confidence, cluster=settings.cluster)
    pair = matched(
        data,
        reading,
        again=True,
        looks=deepest(chosen, DEPTH),
        metrics=settings.metrics,
        tags=(*tags_of(intervals), *(settings.by or ())),
    )
    scores = score(pair, chosen, confidence=settings.confidence, cluster=settings.cluster)
    browse = Browse(name, scores, pair, corpus=settings.corpus)
    return Report((describe(browse, intervals, by=settings.by, price=settings.price),))
