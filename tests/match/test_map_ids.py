"""Ids written in two ways, brought into one."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.match.level import map_ids
from calipers.model.ground_truth import GroundTruth
from calipers.model.matching import ID_RULES, IdMap, parse_id_map
from calipers.model.run import Run
from tests.strategies import World, worlds

affixes = st.lists(st.text("ab-/. ", min_size=1).map(str.strip).filter(bool), unique=True).map(
    tuple
)
maps = st.builds(
    IdMap,
    affixes,
    st.sets(st.sampled_from([*ID_RULES])).map(lambda some: tuple(r for r in ID_RULES if r in some)),
    affixes,
).filter(lambda one: bool(str(one)))


@given(maps)
def test_what_is_printed_reads_back(how: IdMap) -> None:
    assert parse_id_map(str(how)) == how


@pytest.mark.parametrize("text", ["", "infix=x", "prefix", "suffix=", "extension=md", "exten"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="prefix=TEXT"):
        parse_id_map(text)


def sides(truth: dict[str, list[str]], run: dict[str, list[str]]) -> tuple[GroundTruth, Run]:
    targets = [(query, item) for query, items in truth.items() for item in items]
    results = [(query, item) for query, items in run.items() for item in items]
    columns = ["query", "item"]
    return (
        GroundTruth.from_targets(pl.DataFrame(targets, schema=columns, orient="row")),
        Run.from_frame(pl.DataFrame(results, schema=columns, orient="row")),
    )


@given(worlds, st.sampled_from(["", "docs/"]), st.sampled_from(["", ".md"]))
def test_a_renamed_side_has_the_same_values(world: World, prefix: str, extension: str) -> None:
    """What one side writes before and behind its ids changes nothing once it is taken off."""
    run = world.run_value()
    renamed = Run.from_frame(
        run.frame.with_columns(prefix + pl.col("item") + extension), queries=run.queries
    )
    truth, mapped = map_ids(
        world.ground_truth_value(), renamed, IdMap((prefix or "-",), ("extension",))
    )
    metrics = "recall@3,ndcg"
    plain = calipers.evaluate(ground_truth=world.ground_truth_value(), run=run, metrics=metrics)
    found = calipers.evaluate(ground_truth=truth, run=mapped, metrics=metrics)
    assert found.per_query.equals(plain.per_query)


def test_ids_that_become_the_same_are_refused() -> None:
    how = IdMap(rules=("extension",))
    with pytest.raises(InvalidInput, match=r"'a.md' and 'a.txt' of the ground truth both .* 'a'"):
        map_ids(*sides({"q": ["a.md", "a.txt"]}, {"q": ["a"]}), how)
    _, run = map_ids(*sides({"q": ["a"]}, {"q": ["a.md"], "r": ["a.txt"]}), how)
    with pytest.raises(InvalidInput, match=r"'a.md' and 'a.txt' of the run both become 'a'"):
        list(run.scan())


def test_what_is_no_target_may_become_the_same() -> None:
    _, run = map_ids(
        *sides({"q": ["a"]}, {"q": ["x.md", "x.txt", "A"]}), IdMap((), ("extension", "case"))
    )
    assert run.frame["item"].to_list() == ["x", "x", "a"]


def test_documents_are_mapped_too() -> None:
    targets = pl.DataFrame({"query": ["q"], "document": ["docs/a"], "start": [0], "end": [9]})
    results = pl.DataFrame({"query": ["q"], "document": ["a.md"], "start": [0], "end": [9]})
    truth, run = map_ids(
        GroundTruth.from_targets(targets),
        Run.from_frame(results),
        parse_id_map("prefix=docs/,extension"),
    )
    assert calipers.evaluate(ground_truth=truth, run=run, metrics="recall@1")["recall@1"].mean == 1
