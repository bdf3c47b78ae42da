"""The second column of TREC judgements: a constant, a round of judging, or a subtopic."""

import polars as pl

from calipers.io.records.facets import Remarks

WHOLE_NUMBER = r"^\d{1,9}$"
NUMBER_OR_CONSTANT = r"^(?i:q0|[+-]?\d*\.?\d+)$"


def with_subtopics(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Judgements with the second column as groups where it names subtopics; else without it.

    A note says which, where a query has several values.

    >>> rows = [("q", "1", "a", 1.0), ("q", "2", "a", 1.0), ("q", "2", "b", 1.0)]
    >>> frame = pl.DataFrame(rows, ["query", "group", "item", "grade"], orient="row")
    >>> with_subtopics(frame)[0]["group"].to_list()
    ['1', '2', '2']
    """
    if frame["group"].n_unique() <= 1:
        return frame.drop("group"), ()
    values = _of_each_query(frame)
    several = values.filter(values.list.len() > 1)
    if several.is_empty():
        return frame.drop("group"), ()
    some = ", ".join(several[0][:3])
    if _are_subtopics(frame, values):
        return frame, (
            f"The second column of the judgements names subtopics (such as {some}): items of one "
            "subtopic are alternatives. If it means something else, write 0 in its place.",
        )
    return frame.drop("group"), (
        f"The second column of the judgements (such as {some}) was not read: subtopics would be "
        "names, or numbers from 0 or 1 on for every query.",
    )


def _of_each_query(frame: pl.DataFrame) -> pl.Series:
    """The values of the column, each once, as a list for each query."""
    lists = frame.group_by("query", maintain_order=True).agg(pl.col("group").unique().sort())
    return lists["group"]


def _are_subtopics(frame: pl.DataFrame, values: pl.Series) -> bool:
    """Whether the column holds names, or numbers that are those of subtopics.

    They are where an item has two of them, or where those of every query count from 0 or 1 on.
    Rounds of judging, which others write there (TREC-COVID, TREC RAG 2024), do neither.
    """
    column = frame["group"]
    if not column.str.contains(WHOLE_NUMBER).all():
        return not column.str.contains(NUMBER_OR_CONSTANT).any()
    pairs = frame.select("query", "item", "group").unique()
    if pairs.select("query", "item").n_unique() < pairs.height:
        return True
    numbers = values.list.eval(pl.element().cast(pl.Int64))
    first, last = numbers.list.min(), numbers.list.max()
    return bool(((first <= 1) & (last - first + 1 == numbers.list.n_unique())).all())


def subtopic_column(targets: pl.DataFrame, remarks: Remarks) -> pl.Series:
    """What is written there: 0, or the number of the group among those of its query."""
    group = targets["group"]
    if group.null_count() == targets.height:
        return pl.Series("subtopic", ["0"]).new_from_index(0, targets.height)
    numbered = not group.null_count() and group.str.contains(WHOLE_NUMBER).all()
    column = group.alias("subtopic")
    if not numbered or not _are_subtopics(targets, _of_each_query(targets)):
        # A target without a group is one of its own; no name holds a line end beside a number.
        own = pl.int_range(pl.len()).cast(pl.String) + "\n"
        number = pl.col("group").fill_null(own).rank("dense").over("query").cast(pl.String)
        column = targets.select(number.alias("subtopic")).to_series()
    remarks.add(
        "Groups are written as subtopics, in the second column, which trec_eval does not read."
    )
    counts = targets.select("query", column).group_by("query").n_unique()["subtopic"]
    if (counts == 1).all():
        remarks.add(
            "No query has two groups: when the file is read again, they are taken for a constant."
        )
    return column
