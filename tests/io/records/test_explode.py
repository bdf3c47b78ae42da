"""Records as long tables, against a loop over each record on its own."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.io.records import explode
from calipers.io.records.explode import build_records
from calipers.io.records.schema import JsonRecord

IDS = st.sampled_from(["a", "b", " c ", "d", "-", "N/A", "7"]) | st.integers(1, 9)
GRADES = st.sampled_from([0, 0.5, 1, 2])
TARGET = st.one_of(
    IDS,
    st.fixed_dictionaries({"id": IDS}, optional={"grade": GRADES, "quote": st.just("so")}),
    st.fixed_dictionaries({"quote": st.sampled_from(["so it is", "or not"])}),
    st.fixed_dictionaries({"document": IDS, "start": st.just(1), "end": st.just(5)}),
    st.fixed_dictionaries({"document": st.just("d.pdf"), "page": st.sampled_from([3, 3.0, "iv"])}),
)
RESULT = st.one_of(
    IDS,
    st.fixed_dictionaries(
        {"id": IDS},
        optional={
            "score": st.floats(0, 1),
            "text": st.just("t"),
            "document": IDS,
            "page": st.just(2.0),
        },
    ),
)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "retrieved": st.lists(RESULT, max_size=4),
            "ground_truth": st.one_of(
                st.lists(TARGET, max_size=4),
                st.dictionaries(st.sampled_from("abc-"), GRADES, max_size=3),
            ),
        },
        optional={"tags": st.dictionaries(st.just("type"), st.booleans() | st.none())},
    ),
    min_size=1,
    max_size=6,
)


def place(number: int) -> str:
    return f"record {number}"


def named(value: Any) -> str | None:
    return None if value is None else str(value).strip()


def text_of(value: Any) -> str | None:
    return None if value is None else str(value)


def targets_of(
    query: str, record: dict[str, Any], called: set[str | None]
) -> list[tuple[Any, ...]]:
    """The rows of one record's targets, one by one; ``called`` are the ids of all results."""
    listed = record["ground_truth"]
    if isinstance(listed, dict):
        listed = [{"id": item, "grade": grade} for item, grade in listed.items()]
    rows = []
    for one in listed:
        target = one if isinstance(one, dict) else {"id": one}
        item, quote, document = (target.get(name) for name in ("id", "quote", "document"))
        is_mark = named(item) in {"-", "N/A"} - called and "grade" not in target
        is_mark &= len(listed) == 1
        if is_mark and quote is None and document is None:
            continue
        if "page" in target:
            item = f"d.pdf#page={'iv' if target['page'] == 'iv' else 3}"
        grade = float(target.get("grade", 1))
        rows.append((query, grade, named(item), quote, text_of(document), target.get("start")))
    return rows


@given(RECORDS, st.sampled_from([1, 2, 100]))
def test_long_tables_are_those_of_each_record_alone(records, chunk) -> None:
    given_records = [{"query": f"q{i}", **record} for i, record in enumerate(records)]
    expected_results = []
    for record in given_records:
        for one in record["retrieved"]:
            result = one if isinstance(one, dict) else {"id": one}
            page = None if "page" not in result else "2"
            known = (result.get("score"), result.get("text"), text_of(result.get("document")), page)
            expected_results.append((record["query"], named(result["id"]), *known))
    called = {row[1] for row in expected_results}
    expected_targets = [
        row for record in given_records for row in targets_of(record["query"], record, called)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explode, "CHUNK", chunk)
        try:
            dataset = build_records(given_records, place, "records")
        except InvalidInput as error:
            # The same target twice, with two grades.
            assert "two different grades" in str(error)  # noqa: PT017
            return
    truth, run = dataset.ground_truth, dataset.run
    assert truth is not None
    assert run is not None
    names = ["query", "grade", "item", "quote", "document", "start"]
    once = list(dict.fromkeys(expected_targets))
    assert truth.targets.select(names).rows() == once
    assert truth.queries["query"].to_list() == [record["query"] for record in given_records]
    frames = list(run.scan())
    rows = []
    for frame in frames:
        for row in frame.iter_rows(named=True):
            cells = (row.get(name) for name in ("item", "score", "text", "document", "page"))
            rows.append((row["query"], *cells))
    assert rows == expected_results
    tags = [record.get("tags", {}).get("type") for record in given_records]
    written = [None if tag is None else str(tag).lower() for tag in tags]
    assert [*truth.tags.get("type", [None] * len(tags))] == written


RECORD = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}
PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "a wrong type": ({"retrieved": [1.5]}, r"wrong type at record 1\.retrieved\[0\]"),
    "no query": ({"query": None}, "missing at record 1: no 'query'"),
    "the same query": ({"query": "q"}, "the same query 'q': record 0 and record 1"),
    "an empty target": ({"ground_truth": ["-", {"start": 1}]}, r"record 1\.gold\[1\]; give it"),
    "a grade": (
        {"ground_truth": ["-", {"id": "a", "grade": float("nan")}]},
        r"record 1\.gold\[1\]",
    ),
    "a page": ({"ground_truth": [{"page": 1, "start": 3}]}, r"without its document at record 1\."),
    "a forbidden page": (
        {"forbidden": ["b", {"document": "d", "page": 1}]},
        r"A page cannot be forbidden, as at record 1\.forbidden\[1\]",
    ),
    "a score": ({"retrieved": {"b": float("inf")}}, r"inf at record 1\.retrieved\['b'\]"),
    "a rank": (
        {"retrieved": [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]},
        r"do not rise at record 1\.retrieved\[1\]\.rank: found 1 behind 2",
    ),
    "a stage": ({"stages": {"candidates": ["a", {}]}}, r"record 1\.stages\.candidates\[1\]"),
    "a part": ({"ground_truth": None}, "1 of 2 records have 'gold' .* the first at record 1"),
}


@pytest.mark.parametrize("fault", PLACES)
def test_a_refusal_names_the_record_and_the_place_in_it(fault) -> None:
    change, words = PLACES[fault]
    records = [RECORD, {**RECORD, "query": "r", **change}]
    with pytest.raises(InvalidInput, match=words):
        build_records(records, place, "records", fields={"ground_truth": "gold"})


def test_plain_and_decoded_records_are_the_same() -> None:
    decoded = [JsonRecord(query="q", retrieved=["a"], ground_truth=["a"])]
    one, other = (build_records(records, place, "r") for records in ([RECORD], decoded))
    assert one.run is not None
    assert other.run is not None
    assert one.run.frame.equals(other.run.frame)
