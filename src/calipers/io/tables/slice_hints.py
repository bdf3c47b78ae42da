"""Columns that are not read and that the queries could be sliced by."""

from collections.abc import Sequence

import polars as pl

from calipers.io.tables.columns import TAG_FIELD, say
from calipers.io.tables.profile import Profile, Profiles, profiles_of
from calipers.io.tables.scan import InputTable
from calipers.model.fact import named, sentence


def columns_to_slice(table: InputTable, query: str, left: Sequence[str]) -> list[str]:
    """The columns that are not read and may be tags of the queries."""
    profiles = profiles_of(table, query) if left else Profiles(pl.DataFrame())
    inside = [
        Profile(f"{name}.{part.name}", part, profiles[name].queries)
        for name in left
        if isinstance(profiles.frame.schema[name], pl.Struct)
        for part in profiles.frame[name].struct.unnest()
        if part.dtype == pl.String
    ]
    return [
        one.name for one in (*map(profiles.__getitem__, left), *inside) if one.may_slice
    ]


def hint_on_slices(columns: Sequence[str]) -> list[str]:
    """A sentence on how to slice by the first of the unread columns; none if there is none."""
    return [
        sentence(
            "To slice by {tag.text}: {how.text}.",
            tag=named(tag),
            how=named(say((TAG_FIELD, tag))),
        )
        for tag in columns[:1]
    ]
