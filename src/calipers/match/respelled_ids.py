"""The ids that the rules of ``--map-ids`` change, where most stay as they are."""

import numpy as np
import polars as pl

from calipers.match.near_ids import spelled
from calipers.model.arrays import Ints, as_series
from calipers.model.matching import IdMap

_FEW = 500
"""Up to so many ids, all are copied."""


def respelled(ids: pl.Series, how: IdMap) -> tuple[Ints, pl.Series]:
    """The rows of all ids that the rules change, and what these are then.

    >>> rows, names = respelled(pl.Series(["a", "docs/b"]), IdMap(("docs/",)))
    >>> rows.tolist(), names.to_list()
    ([1], ['b'])
    """
    if not how.rules and len(ids) > _FEW:
        # Most ids have none of these, and need not be copied.
        name = pl.col("name")
        begin = [name.str.starts_with(prefix) for prefix in how.prefixes]
        end = [name.str.ends_with(suffix) for suffix in how.suffixes]
        has_affix = pl.any_horizontal(*begin, *end).fill_null(False)
        rows = ids.alias("name").to_frame().select(has_affix.arg_true()).to_series()
        some = ids.gather(rows)
        if len(how.prefixes) == 1 and not how.suffixes:
            rest = some.str.strip_prefix(how.prefixes[0])
            return _ints(rows), rest if (rest != "").all() else spelled(some, how)
        return _ints(rows), spelled(some, how)
    names = spelled(ids, how)
    differ = np.flatnonzero(names.ne_missing(ids).to_numpy())
    return differ, names.gather(as_series(differ))


def _ints(rows: pl.Series) -> Ints:
    """Row numbers as polars gives them, as we have them."""
    return rows.to_numpy().astype(np.int64)
