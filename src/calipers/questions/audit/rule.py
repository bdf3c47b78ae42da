"""Is this ground truth fit to judge anything?"""

from dataclasses import replace

import numpy as np
import polars as pl

from calipers.checks.health import WIDEST, Width, health
from calipers.checks.labels import as_quotes
from calipers.engines.scoring import compute
from calipers.errors import CalipersError, InvalidInput
from calipers.io.corpus.read import Corpus
from calipers.match.choose import parse_matching
from calipers.match.pair import match_pair
from calipers.measures import parse
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import Health
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.statistics.clusters import exact_mean
from calipers.statistics.score_interval import mean_interval

METRIC = "recall@10"
"""What the interval is taken of where there are results."""


def audit(
    truth: GroundTruth,
    run: Run | None = None,
    corpus: Corpus | None = None,
    *,
    match: str | None = None,
    confidence: float = 0.95,
) -> Health:
    """Everything that is wrong with a ground truth, by itself and against a corpus.

    With results the width of the interval is measured, else it is the widest possible.
    """
    if not 0 < confidence < 1:
        raise InvalidInput(
            f"The confidence of the intervals is {confidence!r}; it must lie between 0 and 1, "
            "such as 0.95."
        )
    truth, width, notes = (
        _unmeasured(truth, match, confidence)
        if run is None
        else _measured(truth, run, match, confidence)
    )
    return health(truth, corpus, width=width, notes=notes)


Measured = tuple[GroundTruth, Width, list[str]]
"""The ground truth as it was matched, the width of the interval, and what is to be said of both."""


def _unmeasured(truth: GroundTruth, match: str | None, level: float) -> Measured:
    if match is not None and parse_matching(match).kind == "quote" and truth.kinds == {"item"}:
        truth = as_quotes(truth)
    return truth, _widest(truth, level), list(truth.notes)


def _measured(truth: GroundTruth, run: Run, match: str | None, level: float) -> Measured:
    try:
        pair = match_pair(truth, run, policy=Policy(), match=match)
    except CalipersError as error:
        note = f"The results could not be scored, so the interval is the widest possible. {error}"
        return truth, _widest(truth, level), [*truth.notes, *run.notes, note]
    metrics = parse(METRIC)
    values = compute(pair.matches, metrics, pair.policy)[:, 0]
    defined = values[~np.isnan(values)]
    width = Width(
        defined.size,
        METRIC,
        exact_mean(defined) if defined.size else None,
        mean_interval(defined, level),
        measured=True,
    )
    if width.margin > WIDEST and width.interval is not None:
        needed = int(np.ceil(width.queries * (width.margin / WIDEST) ** 2))
        width = replace(width, needed=needed)
    return pair.ground_truth, width, list(pair.settings["notes"])


def _widest(truth: GroundTruth, level: float) -> Width:
    n = truth.targets.filter(pl.col("grade") > 0)["query"].n_unique()
    width = _even_share(n, level)
    if width.margin <= WIDEST:
        return width
    few, enough = n, max(2, n)
    while _even_share(enough, level).margin > WIDEST:
        few, enough = enough, enough * 2
    while enough - few > 1:
        middle = (few + enough) // 2
        holds = _even_share(middle, level).margin <= WIDEST
        few, enough = (few, middle) if holds else (middle, enough)
    return replace(width, needed=enough)


def _even_share(n: int, level: float) -> Width:
    """Half of the queries won: the share with the widest interval."""
    values = (np.arange(n) % 2).astype(np.float64)
    mean = float(values.mean()) if n else None
    return Width(n, "hit_rate", mean, mean_interval(values, level), measured=False)
