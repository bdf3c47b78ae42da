"""The ids that the rules of ``--map-ids`` change, where most stay as they are."""

from collections.abc import Callable

import numpy as np
import polars as pl

from calipers.match.near_ids import spelled
from calipers.model.arrays import Ints, as_series
from calipers.model.matching import IdMap

_FEW = 500
"""Up to so many ids, all are copied."""
_MAY_CHANGE: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "scheme": lambda name: name.str.contains("://", literal=True),
    "query": lambda name: _has(name, "?") | _has(name, "#"),
    "percent": lambda name: _has(name, "%"),
    "slash": lambda name: name.str.ends_with("/"),
    "basename": lambda name: _has(name, "/") | _has(name, "\\"),
    "extension": lambda name: _has(name, "."),
    "decimal": lambda name: _has(name, "."),
    "zeros": lambda name: _has(name, "0"),
    "case": lambda name: name.str.contains("[A-Z]"),
}
"""By rule, which ids in ASCII it may change, where that is quickly seen."""


def _has(name: pl.Expr, letter: str) -> pl.Expr:
    """Whether an id has a letter."""
    return name.str.contains(letter, literal=True)


def respelled(ids: pl.Series, how: IdMap) -> tuple[Ints, pl.Series]:
    """The rows of all ids that the rules change, and what these are then.

    >>> rows, names = respelled(pl.Series(["a", "docs/b"]), IdMap(("docs/",)))
    >>> rows.tolist(), names.to_list()
    ([1], ['b'])
    """
    if len(ids) > _FEW and set(how.rules) <= _MAY_CHANGE.keys():
        # Most ids have nothing that is changed, and need not be copied.
        name = pl.col("name")
        may = [name.str.starts_with(prefix) for prefix in how.prefixes]
        may += [name.str.ends_with(suffix) for suffix in how.suffixes]
        may += [_MAY_CHANGE[rule](name) for rule in how.rules]
        if how.rules:
            # Rules may change any letter beyond ASCII.
            may.append(name.str.len_bytes() > name.str.len_chars())
        is_changed = pl.any_horizontal(*may).fill_null(False)
        rows = ids.alias("name").to_frame().select(is_changed.arg_true()).to_series()
        some = ids.gather(rows)
        if len(how.prefixes) == 1 and not how.suffixes and not how.rules:
            rest = some.str.strip_prefix(how.prefixes[0])
            return _ints(rows), rest if (rest != "").all() else spelled(some, how)
        return _only_changed(_ints(rows), some, how)
    return _only_changed(np.arange(len(ids)), ids, how)


def _only_changed(rows: Ints, ids: pl.Series, how: IdMap) -> tuple[Ints, pl.Series]:
    """Those of some ids that the rules change, by the numbers of their rows."""
    names = spelled(ids, how)
    differ = np.flatnonzero(names.ne_missing(ids).to_numpy())
    return rows[differ], names.gather(as_series(differ))


def _ints(rows: pl.Series) -> Ints:
    """Row numbers as polars gives them, as we have them."""
    return rows.to_numpy().astype(np.int64)
