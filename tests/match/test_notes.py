"""Ids that differ in how they are written alone: nothing is matched on a guess, but it is said."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.match.notes import imitation_notes, may_be_alike, nearly_alike
from calipers.model.ground_truth import GroundTruth
from calipers.model.policy import LIKE

ALIKE = {
    "case": ("GIL", "gil", "upper and lower case"),
    "white space": ("the  gil", "the gil", "white space"),
    "what cannot be seen": ("gil\u200b", "gil", "cannot be seen"),
    "Unicode": ("caf\u00e9", "cafe\u0301", "form of their Unicode"),
    "leading zeros": ("007", "7", "leading zeros"),
    "decimals": ("7.0", "7", "a trailing '.0'"),
    "extension": ("docs/gil.md", "docs/gil", "--map-ids extension"),
    "path": ("docs/gil.md", "gil.md", "--map-ids prefix=docs/"),
    "path and extension": ("docs/gil.md", "gil", "--map-ids prefix=docs/,extension"),
}
OTHERS = [
    ("a.md", "a.txt"),
    ("x/17", "y/17"),
    ("part.one", "part.two"),
    ("v1.2", "v1"),
    ("7", "70"),
]


def notes(target, result, **options):
    """What is said where another query has ids in common, so that nothing is refused."""
    scores = calipers.evaluate(
        {"q": [result], "other": ["z"]},
        ground_truth={"q": [target], "other": ["z"]},
        metrics="recall@1",
        **options,
    )
    return scores["recall@1"].mean, scores.settings["notes"]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("case", ALIKE)
def test_a_target_with_nearly_the_name_of_a_result_is_said(case, swapped):
    one, other, said = ALIKE[case]
    mean, (note,) = notes(*((other, one) if swapped else (one, other)))
    assert mean == 0.5
    assert "1 target not found" in note
    assert said in note


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_names_that_may_be_two_things_are_two(one, other):
    assert notes(one, other) == (0.5, [])


def test_what_is_mapped_is_found_and_needs_no_word():
    assert notes("docs/gil.md", "gil", map_ids="prefix=docs/,extension") == (1.0, [])


def test_documents_of_spans_are_held_against_each_other_too():
    def place(name):
        return {"document": name, "start": 0, "end": 9}

    rows = [
        {"query": "q", "retrieved": [place("a")], "ground_truth": [place("a.md")]},
        {"query": "other", "retrieved": [place("z")], "ground_truth": [place("z")]},
    ]
    for level in ("evidence", "document"):
        (note,) = calipers.evaluate(rows, metrics="recall@1", level=level).settings["notes"]
        assert "'a' for 'a.md'" in note


@given(st.dictionaries(st.sampled_from("qrs"), st.lists(st.sampled_from("abc"), unique=True)))
def test_nothing_is_said_where_names_are_the_same(run):
    truth = {"q": ["a"], "r": ["b", "c"], "s": ["c"], "other": ["z"]}
    scores = calipers.evaluate({**run, "other": ["z"]}, ground_truth=truth, metrics="recall@1")
    assert not any("nearly" in note for note in scores.settings["notes"])


RECORD = {
    "query": "q",
    "retrieved": ["docs/Secret.md"],
    "ground_truth": [],
    "forbidden": ["secret"],
}
OTHER = {"query": "other", "retrieved": ["docs/z.md"], "ground_truth": ["docs/z.md"]}


def test_what_is_forbidden_is_mapped_as_all_ids_are():
    scores = calipers.evaluate([RECORD, OTHER], metrics="leak@1")
    assert scores["leak@1"].mean == 0
    assert "'docs/Secret.md' for 'secret', query 'q'" in scores.settings["notes"][-1]
    mapped = calipers.evaluate(
        [RECORD, OTHER], metrics="leak@1,recall@1", map_ids="prefix=docs/,extension,case"
    )
    assert (mapped["leak@1"].mean, mapped["recall@1"].mean) == (1, 1)
    assert mapped.settings["notes"] == []


@pytest.mark.parametrize(
    "record",
    [
        {"retrieved": ["a.md", "a.txt"], "ground_truth": [], "forbidden": ["a.md"]},
        {"retrieved": ["a.md"], "ground_truth": ["a.txt"], "forbidden": ["a.md"]},
    ],
)
def test_a_map_that_makes_the_forbidden_and_the_allowed_one_is_refused(record):
    with pytest.raises(calipers.errors.InvalidInput, match="both become 'a'"):
        calipers.evaluate([{"query": "q", **record}, OTHER], metrics="leak@1", map_ids="extension")


names = st.lists(st.text("aAb0./ \u00e9e\u0301-1", max_size=6), min_size=1, max_size=4)


@given(names, names)
def test_what_is_nearly_alike_is_never_passed_over(wanted, called):
    one, other = (
        pl.DataFrame({"query": ["q"] * len(some), name: some})
        for name, some in (("wanted", wanted), ("called", called))
    )
    pairs = nearly_alike(one, "wanted", other, "called", on=["query"])
    assert may_be_alike(one.iter_rows(), other.iter_rows()) or not pairs.height


def test_names_that_have_nothing_in_common_are_not_compared():
    one = [("q", "docs/gil.md"), ("q", None)]

    def results(query, *names):
        return [(query, name) for name in names]

    assert not may_be_alike(one, results("q", "docs/asyncio.md", None))
    assert may_be_alike(one, results("q", "docs/asyncio.md", "GIL"))
    assert not may_be_alike(one, results("other", "GIL"))


def truth(*grades: float) -> GroundTruth:
    items = [str(n) for n in range(len(grades))]
    return GroundTruth.from_targets(
        pl.DataFrame({"query": ["q"] * len(grades), "item": items, "grade": list(grades)})
    )


@pytest.mark.parametrize("like", LIKE)
def test_fractional_grades_are_named(like: str) -> None:
    [note] = imitation_notes(truth(0.5, 2, 0.5, 1.25, 0.1, 0.2), like)
    assert note.startswith("5 grades are not whole (0.5, 1.25, 0.1, …): trec_eval cuts off")
    assert imitation_notes(truth(0.5), like)[0].startswith("1 grade is not whole (0.5):")


def test_whole_grades_and_our_own_numbers_need_no_note() -> None:
    assert imitation_notes(truth(-1, 0, 3), "trec_eval") == ()
    assert imitation_notes(truth(0.5), None) == ()
