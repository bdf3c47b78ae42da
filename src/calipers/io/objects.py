"""Objects of other libraries that hold a dataset: known by what they have, never by their class."""

from collections.abc import Mapping
from typing import Any

from calipers.errors import InvalidInput


def plain_object(value: Any, name: str) -> Any:
    """What an object of pandas, Hugging Face or ragas holds; the value itself where it is none.

    >>> class Samples:
    ...     samples = ["one"]
    ...     def to_list(self):
    ...         return [{"user_input": "Who?"}]
    >>> plain_object(Samples(), "data")
    [{'user_input': 'Who?'}]
    """
    if isinstance(value, Mapping):
        return _one_split(value, name)
    if hasattr(value, "samples") and callable(getattr(value, "to_list", None)):
        # ragas: samples are objects, and its lists leave out what is not set.
        return value.to_list()
    if _is_dataset(value):
        return _rows_of_dataset(value)
    return _by_index(value, name) if _is_column(value) else value


def _is_dataset(value: Any) -> bool:
    """Whether it is a ``Dataset`` or an ``IterableDataset`` of Hugging Face."""
    attributes = ("features", "column_names", "with_format", "info")
    return all(hasattr(value, one) for one in attributes) and hasattr(value, "__iter__")


def _rows_of_dataset(value: Any) -> Any:
    if hasattr(value, "__getitem__") and hasattr(value, "__len__"):
        # By its own hand: what was selected, shuffled or sorted is not in its tables.
        return value.with_format("arrow")[:]
    return [dict(row) for row in value.with_format(None)]


def _one_split(value: Mapping[Any, Any], name: str) -> Any:
    """The one dataset in a mapping of splits; any other mapping as it is."""
    if not value or not all(_is_dataset(one) for one in value.values()):
        return value
    if len(value) > 1:
        splits = [str(one) for one in value]
        raise InvalidInput(
            f"{name} holds several splits: {', '.join(splits)}; give the one you mean, such as "
            f"{name}[{splits[0]!r}]."
        )
    return _rows_of_dataset(next(iter(value.values())))


def _is_column(value: Any) -> bool:
    """Whether it is one column of pandas, whose labels are the queries."""
    attributes = ("index", "items", "dtype", "to_frame")
    return all(hasattr(value, one) for one in attributes) and not hasattr(value, "columns")


def _by_index(value: Any, name: str) -> dict[Any, Any]:
    """The mapping of query to items in a column whose labels are the queries."""
    if getattr(value.index, "nlevels", 1) > 1:
        raise InvalidInput(
            f"{name} is a column with {value.index.nlevels} labels for each row; give the table "
            "with its labels as columns (reset_index())."
        )
    if not value.index.is_unique:
        twice = value.index[value.index.duplicated()][0]
        raise InvalidInput(
            f"{name} has the query {twice!r} twice among its labels; give each query one row, such "
            "as by table.groupby('query')['item'].apply(list)."
        )
    found: dict[Any, Any] = {}
    for query, items in value.items():
        listed = items.tolist() if hasattr(items, "tolist") else items
        if not isinstance(listed, list | tuple | set | Mapping):
            raise InvalidInput(
                f"{name}[{query!r}] is {items!r:.60}; a column of pandas whose labels are queries "
                "must hold lists of items, or mappings of item to number. Give the whole table "
                "otherwise."
            )
        label = query.item() if hasattr(query, "item") else query
        found[label] = listed
    return found
