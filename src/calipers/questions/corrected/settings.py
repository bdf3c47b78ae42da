"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.operation import operation
from calipers.questions.reading import Reading

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.questions.corrected.rule import CorrectedScores


@operation(page="make-ground-truth", command="eval")
def corrected(
    data: Any = None,
    *,
    people: Any,
    sampled: str | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    **reading: Unpack[Reading],
) -> "CorrectedScores":
    """Metrics by labels of a machine, corrected by those of people on a sample of the queries.

    ``data`` is a pair, or anything that ``read`` takes; its ground truth is the machine's.
    ``people`` is a ground truth for some of the same queries, drawn at random; where a file does
    not say so, ``sampled="at-random"`` does ("all": they are every query). Each metric is what
    people would have found over all queries, with an interval that counts how often the machine
    was wrong on the sample, and may be wrong elsewhere (prediction-powered inference). With a
    ``cluster``, people's sample is one of clusters.

    >>> queries = [f"q{i}" for i in range(12)]
    >>> run = {query: ["a", "b"] for query in queries}
    >>> machine = {query: {"a": 1} for query in queries}
    >>> people = {query: {"a" if i % 2 else "b": 1} for i, query in enumerate(queries[:6])}
    >>> found = corrected(
    ...     ground_truth=machine, run=run, people=people, sampled="at-random", metrics="mrr"
    ... )
    >>> found["mrr"].machine, found["mrr"].value
    (1.0, 0.75)
    """
    from calipers.engines.scoring import choose_metrics, score
    from calipers.questions.corrected.rule import correct_scores
    from calipers.questions.corrected.sample import sample_of_people
    from calipers.questions.inputs import judged_by, like_of, matched

    chosen = choose_metrics(metrics, k, like=like_of(data, reading))
    pair = matched(data, reading, again=True)
    asked = pair.ground_truth.queries["query"].to_list()
    fingerprint = pair.as_read[0].fingerprint
    sample = sample_of_people(people, sampled, asked, fingerprint, cluster)
    by_people = judged_by(pair, sample.truth)
    machine = score(pair, chosen, cluster=cluster)
    return correct_scores(machine, score(by_people, chosen), confidence, sample.looks)
