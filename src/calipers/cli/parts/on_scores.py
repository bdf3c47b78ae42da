"""calipers eval scores.parquet: what was measured before, shown and sliced without its run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from calipers.errors import InvalidInput


def on_scores(
    data: str,
    refused: Mapping[str, Any],
    *,
    names: Sequence[str] | None,
    by: Sequence[str],
    primary: str | None,
) -> tuple[Any, Any]:
    """The scores of such a file, all or those named, and their slices."""
    for option, value in refused.items():
        if value:
            raise InvalidInput(
                f"{data} holds scores that were measured before, without results and ground "
                f"truth, so {option} does not work; leave it out, or give the run itself."
            )
    from calipers.io.tables.scores import read_score_table
    from calipers.questions.slices.settings import slices

    scores = read_score_table(data)
    if names is not None:
        wanted = dict.fromkeys(scores[name].metric for name in names)
        kept = [i for i, facts in enumerate(scores.metrics) if facts.name in wanted]
        scores = replace(
            scores,
            metrics=tuple(scores.metrics[i] for i in kept),
            values=scores.values[:, kept],
            summaries={name: scores[name] for name in wanted},
            weights={},
        )
    cuts = slices(scores, by, metrics=names, primary=primary) if by else None
    return scores, cuts
