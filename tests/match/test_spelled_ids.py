"""Ids as the rules spell them: a column is what its ids are one by one."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calipers.match.spelled_ids import respelled, spelled
from calipers.model.matching import IdMap
from tests.match.test_map_ids import maps

names = st.text("aB01.-_/ %2?#:é\uff21\n", min_size=1, max_size=12)


@given(st.lists(names, max_size=8), maps)
def test_columns_are_spelled_as_single_ids_are(ids: list[str], how: IdMap) -> None:
    """One by one or as a column, with null where there was none."""
    wanted = [None, *(how.of(name) for name in ids)]
    short = pl.Series([None, *ids], dtype=pl.String)
    assert spelled(short, how).to_list() == wanted
    long = pl.concat([short] * 70)
    assert spelled(long, how).to_list() == wanted * 70
    for column in (short, long):
        rows, changed = respelled(column, how)
        names_now = column.to_list()
        for row, name in zip(rows.tolist(), changed.to_list(), strict=True):
            names_now[row] = name
        assert names_now == spelled(column, how).to_list()


def test_a_uuid_is_the_same_without_its_hyphens() -> None:
    uuid = "a0c1e2f3-4455-6677-8899-aabbccddeeff"
    for how in ([uuid, f"{{{uuid}}}"], [uuid] * 600):
        signs = IdMap((), ("signs",))
        assert set(spelled(pl.Series(how), signs)) == {uuid.replace("-", "")}
