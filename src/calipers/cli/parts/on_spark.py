"""calipers eval --engine spark: the same result, with the work done elsewhere."""

from collections.abc import Mapping, Sequence
from typing import Any

from calipers.errors import InvalidInput


def on_spark(
    refused: Mapping[str, Any],
    master: str | None,
    settings: Mapping[str, Any],
    *,
    per_query: str | None,
    by: Sequence[str],
    named: bool,
    primary: str | None,
    **asked: Any,
) -> tuple[Any, Any]:
    """The scores of Spark and their slices; Spark writes those of the queries.

    ``named`` says that the metrics were asked for by name, so that all of them are sliced.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    ground_truth, run = given.pop("ground_truth", None), given.pop("run", None)
    here = {"DATA": given.pop("data", None), "--retriever": given.pop("retriever", None)}
    for option, value in {**refused, **here}.items():
        if value:
            raise InvalidInput(f"{option} does not work with --engine spark; leave one out.")
    if ground_truth is None or run is None:
        raise InvalidInput("With --engine spark both --ground-truth and --run are needed.")
    # A history that is configured is for what is saved, and nothing is.
    given.pop("store", None)
    from calipers.engines.spark.session import ground_truth_frame, run_frame, session, spoken
    from calipers.questions.slices.settings import slices
    from calipers.spark import evaluate

    with session(master) as spark:
        truth = ground_truth_frame(spark, ground_truth)
        tags = [name for name in by if name in truth.columns]
        found = evaluate(run_frame(spark, run), truth, tags=tags, **asked, **given)
        names = [facts.name for facts in found.metrics] if named else None
        cuts = slices(found, by, metrics=names, primary=primary) if by else None
        if per_query:
            with spoken():
                found.per_query.write.parquet(per_query)
    return found, cuts
