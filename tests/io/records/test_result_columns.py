"""Lists of results in the cells of a table: as columns they are what they are row by row."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import CalipersError
from calipers.io import format as rows
from calipers.io.formats.ours import Ours
from calipers.io.load import load
from calipers.io.records.records import results_by_row

IDS: dict[Any, Any] = {
    pl.String: st.sampled_from(["a", "b", "", "é", " c "]),
    pl.Int32: st.integers(-3, 3),
    pl.UInt64: st.integers(0, 1 << 63),
    pl.Boolean: st.booleans(),
    pl.Null: st.none(),
}
NUMBERS: dict[Any, Any] = {
    pl.Float64: st.sampled_from([0.1, -2.0, 1e300]),
    pl.Float32: st.sampled_from([0.1, 0.5]),
    pl.Int64: st.integers(-3, 3),
    pl.String: st.just("1.5"),
}
WHOLE: dict[Any, Any] = {
    pl.Int64: st.integers(0, 6),
    pl.UInt8: st.integers(0, 6),
    pl.Float64: st.sampled_from([1.0, 2.5]),
}
FIELDS: dict[str, dict[Any, Any]] = {
    "id": IDS,
    "score": NUMBERS,
    "text": {pl.String: st.sampled_from(["short", "a long text " * 9])},
    "document": IDS,
    "start": WHOLE,
    "end": WHOLE,
    "tokens": WHOLE,
    "call": WHOLE,
    "rank": {**WHOLE, pl.String: st.just("first")},
    "socre": NUMBERS,
    "note": {pl.String: st.just("mine")},
    "item": IDS,
    "metadata": {pl.Struct({"page": pl.Int64}): st.just({"page": 3})},
    "key": IDS,
    "value": NUMBERS,
}
USUAL = ("id", "score", "text", "document", "start", "end", "rank")


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """A few records; mostly plain ones, and everything that is not."""
    plain = draw(st.booleans())
    names = draw(st.lists(st.sampled_from(USUAL if plain else tuple(FIELDS)), unique=True))
    chosen = {
        name: next(iter(FIELDS[name])) if plain else draw(st.sampled_from(list(FIELDS[name])))
        for name in names
    }
    kind: Any = pl.Struct(chosen)
    value: Any = st.fixed_dictionaries(
        {
            name: FIELDS[name][kind] if plain else st.none() | FIELDS[name][kind]
            for name, kind in chosen.items()
        }
    )
    if not chosen:
        kind = draw(st.sampled_from(list(IDS)))
        value = IDS[kind]
    if not plain and draw(st.booleans()):
        value = st.none() | value
    cells = draw(st.lists(st.none() | st.lists(value, max_size=4), min_size=1, max_size=5))
    n = len(cells)
    columns = {
        "query": [f"q{i}" for i in range(n)],
        "ground_truth": draw(st.sampled_from([[["a"]] * n, [[{"id": "a", "grade": 1}]] * n])),
    }
    if draw(st.booleans()):
        columns["error"] = [None if cell is not None else "timed out" for cell in cells]
    return pl.DataFrame(columns).with_columns(pl.Series("retrieved", cells, pl.List(kind)))


def outcome(table: pl.DataFrame) -> Any:
    try:
        found = load(table, "both")
    except CalipersError as error:
        return str(error)
    run, truth = found.run, found.ground_truth
    return (
        run and (run.frame.to_dicts(), run.frame.schema, run.queries.to_dicts(), run.notes),
        run and (run.order, run.ties),
        truth and truth.targets.to_dicts(),
    )


@given(tables())
def test_columns_say_what_rows_say(table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_ROWS_AT_ONCE", 2)
        as_columns = outcome(table)
        patch.setattr(rows, "results_by_row", lambda *_: None)
        assert as_columns == outcome(table)


PLAIN: dict[str, Any] = {
    "ids": [["a", "b"], [], ["c"]],
    "numbers": [[1, 2], [], [3]],
    "objects": [[{"id": "a", "score": 0.5, "text": "…", "rank": 1}], [{"id": "b", "rank": 1}]],
    "fields of others": [[{"id": "a", "heading": "b", "language": {"of": "it"}}]],
    "places": [[{"document": "d", "start": 0, "end": 4}], None],
}


@pytest.mark.parametrize("form", PLAIN)
def test_plain_results_need_no_decoding(form):
    found = results_by_row(pl.Series(PLAIN[form]), Ours().passes_over)
    assert found is not None
    assert [row in found for row in range(len(PLAIN[form]))] == [
        cell is not None for cell in PLAIN[form]
    ]
    assert [len(found[row]) for row in found] == [
        len(one) for one in PLAIN[form] if one is not None
    ]


DECODED: dict[str, Any] = {
    "a result that is missing": [["a", None]],
    "text for a list": ["a;b"],
    "another name for a field": [[{"id": "a", "metadata": {"page": 3}}]],
    "a field that is misspelt": [[{"id": "a", "socre": 1.0}]],
}


@pytest.mark.parametrize("fault", DECODED)
def test_what_is_not_plain_is_left_to_the_decoder(fault):
    assert results_by_row(pl.Series(DECODED[fault]), Ours().passes_over) is None
