"""Is this ground truth fit to judge anything?"""

from typing import Any

import numpy as np
import polars as pl

from calipers.analyse.intervals import mean_interval
from calipers.api.evaluate import score
from calipers.api.prepare import prepare
from calipers.audit.health import health
from calipers.audit.labels import as_quotes
from calipers.audit.width import WIDEST, Width
from calipers.errors import CalipersError, InvalidInput
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.io.source import Progress
from calipers.match.choose import parse_matching
from calipers.metrics import parse
from calipers.model.dataset import Dataset
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import Health

METRIC = "recall@10"
"""What the interval is taken of where there are results."""


def audit(
    ground_truth: Any,
    *,
    run: Any = None,
    corpus: Any = None,
    match: str | None = None,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Health:
    """Look for everything that is wrong with a ground truth, by itself and against a corpus.

    ``ground_truth`` is whatever ``evaluate`` takes; it may hold results too. ``corpus`` is a
    folder of .txt and .md files, a JSON lines, CSV or Parquet file, a table, or a mapping of id
    to text; it is read in batches and never held as a whole. With results (``run``, or in the
    same file) the width of the interval is measured, else it is the widest possible. ``match``
    is that of ``evaluate``; "quote" says that plain strings are quotes.

    >>> found = audit({"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}, corpus={"a": "x", "b": "y"})
    >>> [(finding.name, finding.severity, finding.count) for finding in found.findings][0]
    ('id_not_in_corpus', 'error', 1)
    """
    opened = None if corpus is None else open_corpus(corpus, progress)
    data = load(ground_truth, "ground_truth", progress)
    if data.ground_truth is None:
        raise InvalidInput(
            f"There is no ground truth to audit: found {data.kind}, which holds results only; "
            "give the file with the judgements, and this one with --run (run= in Python)."
        )
    if run is not None:
        data = Dataset(data.ground_truth, load(run, "run", progress).run, data.kind)
        if data.run is None:
            raise InvalidInput("The run holds no results; give what the retriever returned.")
    truth, width, notes = _measured(data, match, confidence)
    return health(truth, opened, width=width, notes=notes)


def _measured(
    data: Dataset, match: str | None, level: float
) -> tuple[GroundTruth, Width, list[str]]:
    truth = data.ground_truth
    if truth is None or data.run is None:
        chosen = truth or GroundTruth.from_targets(pl.DataFrame())
        if match is not None and parse_matching(match).kind == "quote":
            chosen = as_quotes(chosen) if chosen.kinds == {"item"} else chosen
        return chosen, _widest(chosen, level), []
    try:
        prepared = prepare(ground_truth=truth, run=data.run, match=match)
        summary = score(prepared, parse(METRIC), confidence=level)[METRIC]
    except CalipersError as error:
        note = f"The results could not be scored, so the interval is the widest possible. {error}"
        return truth, _widest(truth, level), [note]
    width = Width(summary.n, METRIC, summary.mean, summary.interval, measured=True)
    if width.margin > WIDEST and width.interval is not None:
        needed = int(np.ceil(summary.n * (width.margin / WIDEST) ** 2))
        width = Width(
            summary.n, METRIC, summary.mean, summary.interval, measured=True, needed=needed
        )
    return prepared.ground_truth, width, list(prepared.settings["notes"])


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
    return Width(n, width.metric, width.mean, width.interval, measured=False, needed=enough)


def _even_share(n: int, level: float) -> Width:
    """Half of the queries won: the share with the widest interval."""
    values = (np.arange(n) % 2).astype(np.float64)
    mean = float(values.mean()) if n else None
    return Width(n, "hit_rate", mean, mean_interval(values, level), measured=False)
