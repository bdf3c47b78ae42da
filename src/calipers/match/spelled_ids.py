"""Ids as the rules of ``--map-ids`` spell them: a column of all, or the ones that change."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from calipers.model.arrays import Ints, as_series
from calipers.model.matching import UUID, IdMap


def _without_extension(name: pl.Expr) -> pl.Expr:
    """The names without what looks like the extension of a file name."""
    # Two tests of what is left cost half as much as a pattern that holds all of it.
    stem = name.str.replace(r"\.[0-9]*[A-Za-z][0-9A-Za-z]*$", "")
    return pl.when((stem == "") | stem.str.ends_with("/")).then(name).otherwise(stem)


_ASCII: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "width": lambda name: name.str.replace_all(" +", " ").str.strip_chars(" "),
    "scheme": lambda name: name.str.replace(r"^[A-Za-z][0-9A-Za-z_+.-]*://", ""),
    "query": lambda name: name.str.replace(r"(?s)[?#].*$", ""),
    "slash": lambda name: name.str.strip_chars_end("/"),
    "basename": lambda name: name.str.strip_chars_end("/").str.extract(r"([^/\\]*)$"),
    "extension": _without_extension,
    "decimal": lambda name: name.str.replace(r"^([0-9]+)\.0+$", "${1}"),
    "zeros": lambda name: name.str.replace_all("(^|[^0-9.])0+([0-9])", "${1}${2}"),
    "case": lambda name: name.str.to_lowercase(),
    "signs": lambda name: (
        # Twice, as a digit may stand between two signs; the mark keeps both apart.
        name.str.replace(f"^{UUID}$", "${1}${2}${3}${4}${5}")
        .str.replace_all("([0-9])[^0-9A-Za-z]+([0-9])", "${1}\x01${2}")
        .str.replace_all("([0-9])[^0-9A-Za-z\x01]+([0-9])", "${1}\x01${2}")
        .str.replace_all("[^0-9A-Za-z\x01]+", "")
        .str.replace_all("\x01", "-", literal=True)
    ),
}
"""The rules of ``ID_RULES`` for columns of printable ASCII; a test compares the two."""
_AS_COLUMNS = frozenset({"scheme", "query", "slash", "basename", "case"})
"""Those that give the same for ASCII that is not printable."""


PLAIN = frozenset(map(chr, range(ord(" "), ord("~") + 1))) - {"%"}
CHANGED: dict[str, frozenset[str]] = {
    "width": frozenset(" "),
    "scheme": frozenset(":"),
    "query": frozenset("?#"),
    "percent": frozenset("%"),
    "slash": frozenset("/"),
    "basename": frozenset("/\\"),
    "extension": frozenset("."),
    "decimal": frozenset("."),
    "zeros": frozenset("0"),
    "case": frozenset(letter for letter in PLAIN if letter.isupper()),
    "signs": frozenset(letter for letter in PLAIN if not letter.isalnum()),
}
"""What a plain id has of which a rule changes something."""


FEW = 500
"""Up to so many ids are changed one by one, which is quicker than starting polars."""


def spelled(ids: pl.Series, how: IdMap) -> pl.Series:
    """The ids as they are compared, one for one; null stays null.

    >>> spelled(pl.Series(["docs/GIL.md", "docs/Straße"]), IdMap(("docs/",), ("case",))).to_list()
    ['gil.md', 'strasse']
    """
    if how == IdMap():
        return ids
    if len(ids) <= FEW:
        by_name = {name: how.of(name) for name in set(ids) if name is not None}
        return pl.Series(ids.name, [by_name.get(name) for name in ids], dtype=pl.String)
    name = pl.col("name")
    frame = pl.DataFrame({"name": ids.alias("name")})
    frame = frame.with_columns(key=_without_prefix(name, how.prefixes))
    frame = frame.with_columns(key=_without_suffix(pl.col("key"), how.suffixes))
    for rule in how.rules:
        if rule in _ASCII:
            shorter = _ASCII[rule](pl.col("key"))
            kept = pl.when(shorter != "").then(shorter).otherwise("key")
            frame = frame.with_columns(kept.alias("key"))
    if how.rules in ((), ("slash",)):
        # An affix and a slash are the same text whatever letters there are.
        return frame["key"].alias(ids.name)
    special = name.str.len_bytes() > name.str.len_chars()
    if not set(how.rules) <= _AS_COLUMNS:
        special = ~name.str.contains("^[ -~]*$")
    if "percent" in how.rules:
        special |= name.str.contains("%", literal=True)
    apart = frame.filter(special.fill_null(False))["name"].unique()
    if not len(apart):
        return frame["key"]
    by_hand = pl.DataFrame(
        {"name": apart, "by_hand": [how.of(one) for one in apart.to_list()]}
    )
    joined = frame.join(by_hand, on="name", how="left", maintain_order="left")
    return joined.select(pl.coalesce("by_hand", "key").alias("name")).to_series()


def _without_prefix(name: pl.Expr, prefixes: Sequence[str]) -> pl.Expr:
    """The names without the first of these prefixes that they begin with."""
    rest = name
    for prefix in reversed(prefixes):
        applies = name.str.starts_with(prefix) & (name != prefix)
        rest = pl.when(applies).then(name.str.strip_prefix(prefix)).otherwise(rest)
    return rest


def _without_suffix(name: pl.Expr, suffixes: Sequence[str]) -> pl.Expr:
    """The names without the first of these suffixes that they end with."""
    rest = name
    for suffix in reversed(suffixes):
        applies = name.str.ends_with(suffix) & (name != suffix)
        rest = pl.when(applies).then(name.str.strip_suffix(suffix)).otherwise(rest)
    return rest


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
    if len(ids) > FEW and set(how.rules) <= _MAY_CHANGE.keys():
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
