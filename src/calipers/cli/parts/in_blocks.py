"""calipers eval --per-query scores.parquet of very many queries: written as they are measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from calipers.measures import Metric


def pair_or_scores(
    path: str,
    metrics: Sequence[Metric],
    settings: Mapping[str, Any],
    *,
    by: Sequence[str],
    named: bool,
    primary: str | None,
    **asked: Any,
) -> tuple[Any, Any]:
    """The pair, not measured; or else its scores, once they are written, and no pair.

    ``named`` says that the metrics were asked for by name, so that all of them are sliced.
    """
    from calipers.engines.in_blocks import evaluate_in_blocks, is_for_blocks
    from calipers.match.pair import match_pair, settle
    from calipers.questions.inputs import as_read

    reading: Any = {name: value for name, value in settings.items() if name != "data"}
    truth, run, matching = as_read(settings.get("data"), reading)
    matching["level"] = reading.get("level")
    if not is_for_blocks(truth, run, path):
        return match_pair(truth, run, **matching), None
    from calipers.engines.scoring import facts_of
    from calipers.questions.slices.rule import check_before

    rel = matching["rel"]
    facts = list(dict.fromkeys(facts_of(metric.with_rel(rel)) for metric in metrics))
    check_before(truth, by, facts, named=named, primary=primary)
    return None, evaluate_in_blocks(settle(truth, run, **matching), metrics, path, **asked)
