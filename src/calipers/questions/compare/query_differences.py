"""The queries of a comparison, largest differences first."""

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.present.paging import PAGE_SIZE, Page, page_of
from calipers.questions.compare.result import Comparison

ONLY = {
    "": "all",
    "worse": "only worse",
    "better": "only better",
    "different": "only different",
}
"""The filters on queries, and their labels on a page."""


@dataclass(frozen=True)
class ContrastRow:
    """One query, with its value in every system."""

    query: str
    text: str | None
    values: tuple[float | None, ...]
    """One value per system, in their order."""
    difference: float | None
    """The largest difference from the baseline, with its sign."""
    worse: tuple[str, ...]
    """The systems that are worse than the baseline."""
    better: bool
    """Whether the largest difference is a gain."""


def contrast(
    comparison: Comparison,
    metric: str,
    *,
    text: str = "",
    only: str = "",
    among: pl.Series | None = None,
    page: int = 1,
    size: int = PAGE_SIZE,
) -> Page:
    """Sort the queries by the largest difference in a metric; ``among`` limits them by id."""
    if only not in ONLY:
        raise InvalidInput(
            f"There is no choice {only!r:.60}; choose {', '.join(filter(None, ONLY))}."
        )
    column = [facts.name for facts in comparison.metrics].index(metric)
    values = np.column_stack(
        [comparison.values[name][:, column] for name in comparison.systems]
    )
    at = comparison.systems.index(comparison.baseline)
    gain = np.nan_to_num((values - values[:, [at]]) * comparison.metrics[column].turn)
    # A query is worse if any system lost; the largest of the chosen differences comes first.
    weight = {"worse": -gain, "better": gain}.get(only, np.abs(gain))
    furthest = weight.argmax(axis=1)
    apart = weight.max(axis=1)
    fits = apart > 0 if only else np.ones(len(values), dtype=bool)
    names = comparison.queries
    if words := text.strip().lower():
        searched = pl.concat_str("query", pl.col("text").fill_null(""), separator="\n")
        holds = searched.str.to_lowercase().str.contains(words, literal=True)
        fits &= names.select(holds).to_series().to_numpy()
    if among is not None:
        fits &= names["query"].is_in(among.implode()).to_numpy()
    order = np.argsort(-apart, kind="stable")
    order = order[fits[order]]
    within, page, pages = page_of(int(order.size), page, size)
    rows = []
    for i in order[within]:
        largest = values[i, furthest[i]] - values[i, at]
        rows.append(
            ContrastRow(
                names["query"][int(i)],
                names["text"][int(i)],
                tuple(None if np.isnan(v) else float(v) for v in values[i]),
                None if np.isnan(largest) else float(largest),
                tuple(comparison.systems[j] for j in np.flatnonzero(gain[i] < 0)),
                bool(gain[i, furthest[i]] > 0),
            )
        )
    return Page(tuple(rows), int(order.size), int(values.shape[0]), page, pages)
