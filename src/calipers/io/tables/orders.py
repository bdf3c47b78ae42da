"""Which column orders the results: two orders that differ are refused with a line for each."""

from collections.abc import Mapping, Sequence

import polars as pl

from calipers.errors import Unclear
from calipers.io.tables.candidates import orders
from calipers.io.tables.columns import IGNORE, Pairs
from calipers.io.tables.profile import NO_NUMBER, SOME, Profile, Profiles, as_number
from calipers.io.tables.scan import InputTable, cell_texts
from calipers.io.tables.usual_names import IGNORED
from calipers.model.fact import Fact, sentence
from calipers.names import ORDERING, is_distance


def check_one_order(
    table: InputTable, profiles: Profiles, ours: Mapping[str, str], left: list[str]
) -> None:
    """Refuse a second order of the same results: ``rank`` and ``rerank_rank``."""
    known = "rank" if "rank" in ours else "score"
    if known not in ours or {"rank", "score", "distance"} & {*table.said.named}:
        return
    by = profiles[ours[known]]
    for one in (profiles[name] for name in left):
        named = one.words & ORDERING or is_distance(one.name)
        if not named or not one.may_order or not one.varies or _same_order(by, one):
            continue
        lines: list[Pairs] = [(*pair, (IGNORE, by.name)) for pair in orders(one)[:1]]
        raise Unclear(
            f"{table.name} has two orders of results, {by.name!r} and {one.name!r}, and they "
            "differ",
            *(lines if one.comes_last else ()),
            ((IGNORE, one.name),),
            *lines,
        )


def _same_order(profile: Profile, other: Profile) -> bool:
    """Whether two columns order the rows of each query in the same way, or the reverse."""
    frame = pl.DataFrame(
        {
            "query": profile.queries,
            "a": profile.numbers,
            "b": other.numbers,
        }
    ).drop_nulls()
    ranks = frame.select(
        a=pl.col("a").rank("dense").over("query"),
        b=pl.col("b").rank("dense").over("query"),
        c=(-pl.col("b")).rank("dense").over("query"),
    )
    return bool((ranks["a"] == ranks["b"]).all() or (ranks["a"] == ranks["c"]).all())


def check_order_is_known(
    table: InputTable, names: dict[str, str], left: list[str]
) -> None:
    """Refuse to rank results by row order where a column of numbers implies another order."""
    unused = [
        name for name in table.names() if name not in names and not name.endswith(IGNORED)
    ]
    pool_items = next(theirs for theirs, ours in names.items() if ours == "query")
    some = Profiles(
        table.rows([*dict.fromkeys((pool_items, *unused))], most=SOME), pool_items
    )
    for one in [*dict.fromkeys((*left, *unused))]:
        if not some[one].may_order or not some[one].varies:
            continue
        rows = table.rows(pool_items, one)
        numbers = rows.select(pool_items, as_number(one))
        steps = (
            numbers.select(pl.col(one).diff().over(pool_items)).to_series().drop_nulls()
        )
        ranks = (numbers[one] % 1 == 0).all() and (steps > 0).all()
        if not numbers[one].null_count() and (ranks or (steps <= 0).all()):
            continue
        if one not in left and numbers[one].null_count():
            continue
        every = [some[name] for name in unused if _orders_by_name(some[name])]
        if len(every) > 1 and some[one] in every and not _same_order(*every[:2]):
            raise _two_orders(table.name, every)
        raise Unclear(
            f"{one!r} of {table.name} has another order than the rows, and nothing else ranks them",
            *orders(some[one]),
            ((IGNORE, one),),
        )


def _orders_by_name(profile: Profile) -> bool:
    """Whether a column is called an order of results, and is one within the queries."""
    named = profile.words & ORDERING or is_distance(profile.name)
    return bool(named) and profile.may_order and profile.varies


def _two_orders(name: str, orderings: Sequence[Profile]) -> Unclear:
    """The error for columns that order the same results in their own way: one line for each."""
    lines: list[Pairs] = []
    for one in sorted(orderings, key=lambda each: not each.comes_last):
        ignored = [(IGNORE, other.name) for other in orderings if other is not one]
        lines.append((*orders(one)[0], *ignored))
    first, second = orderings[:2]
    return Unclear(
        f"{name} has two orders of results, {first.name!r} and {second.name!r}, and they differ",
        *lines,
    )


def without_dashes(table: InputTable, ours: dict[str, str]) -> InputTable:
    """The table with nothing where a rank is a dash: judged, and not returned."""
    if not {"rank", "grade"} <= ours.keys():
        return table
    rank = ours["rank"]
    if table.open().collect_schema()[rank] != pl.String:
        return table
    blank = pl.col(rank).str.strip_chars().is_in([*NO_NUMBER, ""])
    number = pl.when(~blank).then(pl.col(rank)).alias(rank)
    return table.then(lambda rows: rows.with_columns(number))


def with_questions(table: InputTable, ours: dict[str, str]) -> InputTable:
    """The table with the question in every row of a result, where cells are merged.

    Cells are merged where each question stands once, in the first of its rows.
    """
    if not {"rank", "score", "grade"} & ours.keys() or table.pieces is not None:
        return table
    query = cell_texts(ours["query"])
    if not table.rows(query, most=SOME).to_series().null_count():
        return table
    cells = table.rows(query).to_series()
    filled = cells.drop_nulls()
    if cells[0] is None or filled.is_duplicated().any():
        return table
    count = Fact(about="count", count=cells.null_count(), text="merged cells")
    words = "row has no question and belongs|rows have no question and belong"
    note = sentence(f"{{it.count:{words}}} to the one above (merged cells).", it=count)
    kept = [ours[name] for name in ("query", "query_text") if name in ours]
    return table.then(
        lambda rows: rows.with_columns(cell_texts(*kept).forward_fill()),
        notes=(*table.notes, note),
    )
