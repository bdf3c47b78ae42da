"""Ids that nearly meet: the filter leaves nothing out, and the columns follow the rules."""

import re
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.match import id_hashes
from calipers.match.id_hashes import Ids, Named, may_be_alike, none_alike
from calipers.match.near_ids import PARTS, SPELLINGS, near_ids, prefix_between
from calipers.model.matching import ID_RULES, IdMap
from calipers.shell import join_words

names = st.text("aB01.-_/ %2?#:é\uff21\n", min_size=1, max_size=12)


def naive(wanted: list[str], returned: list[str], how: IdMap) -> set[int]:
    """The targets that some result meets under the rules, none of which is returned as it is."""
    drops = [rule for rule in ("query", "basename", "extension") if rule in how.rules]

    def part(name: str, rule: str) -> str:
        return name.replace(ID_RULES[rule](name) or name, "", 1)

    def alike(one: str, other: str) -> bool:
        clash = any(
            part(one, rule) and part(other, rule) and part(one, rule) != part(other, rule)
            for rule in drops
        )
        return how.of(one) == how.of(other) and not clash

    return {
        at
        for at, name in enumerate(wanted)
        if name not in returned and any(alike(name, other) for other in returned)
    }


# Without a letter or a digit there is nothing that a name could be recognised by.
named = st.text("aAb1-/.%2", min_size=1, max_size=7).filter(lambda name: re.search("[aAb12]", name))
plain = st.lists(named, min_size=1, max_size=5, unique=True)


CODE = re.compile("%[0-9A-Fa-f]{2}")


wide = st.lists(
    st.text("aB01.-_/ %2?#:\n\u00e9E\u0301\uff21\u00df\u6587\u00a0\u200b\u0130", min_size=1)
)


@given(wide, wide)
def test_what_may_be_alike_is_seen_at_a_glance(wanted: list[str], returned: list[str]) -> None:
    """For two queries with the same ids, of which only results of the same one count."""
    targets, results = (
        Named([at % 2 for at in range(len(side))], side) for side in (wanted, returned)
    )
    target, _ = may_be_alike(targets.ids(), results.ids())
    assert not target.size or not none_alike(targets, results)
    assert none_alike(Named([0], ["a1-b"]), Named([0, 0, 1], ["b-a1", "1", "a1b"])) is False
    assert none_alike(Named([0], ["a1-b"]), Named([0, 1], ["b-a1", "a1b"]))


@given(st.lists(st.tuples(st.integers(0, 2), named), min_size=1, max_size=9), st.data())
def test_each_query_is_searched_as_if_it_were_alone(ids: list[tuple[int, str]], data) -> None:
    """Whatever stands beside it, and whatever other queries have."""
    others = data.draw(st.lists(st.tuples(st.integers(0, 3), named), min_size=1, max_size=9))
    sides = [
        Ids(np.array([query for query, _ in side]), pl.Series([name for _, name in side]))
        for side in (ids, others)
    ]
    target, result = may_be_alike(*sides)
    together = {(int(one), int(other)) for one, other in zip(target, result, strict=True)}
    alone = set()
    for one, (query, name) in enumerate(ids):
        for other, (other_query, other_name) in enumerate(others):
            pair = (Ids(np.zeros(1, np.int64), pl.Series([each])) for each in (name, other_name))
            wanted, returned = pair
            if query == other_query and may_be_alike(wanted, returned)[0].size:
                alone.add((one, other))
    assert together == alone


words = st.text("abc1240", min_size=1, max_size=5)
long_names = st.lists(words, min_size=1, max_size=6).flatmap(
    lambda parts: st.tuples(
        *(st.sampled_from(["", "-", "/", ".", "?", "0", "%20", " "]) for _ in parts)
    ).map(lambda signs: "".join(map("".join, zip(parts, signs, strict=True))))
)


@given(st.lists(long_names, min_size=1, max_size=4), st.data())
def test_the_look_at_both_ends_leaves_out_no_pair(ids: list[str], data) -> None:
    """Of long ids only some letters are looked at, before all of those that may be alike are."""
    changed = [
        data.draw(
            st.sampled_from(
                [
                    *(name, f"idx2:{name}", f"{name}.md", f"{name}_v2", f"x/{name}?p=1"),
                    *(name[: len(name) // 2], name[len(name) // 2 :], name.replace("-", "_")),
                ]
            )
        )
        for name in ids
    ]
    query = np.arange(len(ids)) % 2
    wanted = Ids(query, pl.Series(ids, dtype=pl.String))
    returned = Ids(query, pl.Series(changed, dtype=pl.String))

    def all_may_hold(targets, results):
        targets.seen[:] = True
        return np.ones(results.query.size, dtype=np.bool_)

    for sides in ((wanted, returned), (returned, wanted)):
        with patch.object(id_hashes, "_may_hold", all_may_hold):
            everything = may_be_alike(*sides)
        for few in (id_hashes._FEW_TARGETS, 1):
            with patch.object(id_hashes, "_FEW_TARGETS", few):
                pairs = may_be_alike(*sides)
            for some, every in zip(pairs[0], everything[0], strict=True):
                assert some.tolist() == every.tolist()


def test_many_targets_of_one_query_are_not_compared_one_by_one() -> None:
    names = pl.Series([f"c{n}" for n in range(3 * id_hashes._FEW_TARGETS)])
    everyone = Ids(np.zeros(len(names), np.int64), names)
    with patch.object(id_hashes, "_are_alike", side_effect=AssertionError):
        assert len(may_be_alike(everyone, everyone)[0]) >= len(names)


@pytest.mark.parametrize("scheme", ["https://", "http://", "ftp://", "s3://", ""])
def test_addresses_meet_whatever_scheme_stands_before_them(scheme: str) -> None:
    wanted = Ids(np.arange(3), pl.Series([f"https://a.org/page-{n}?q=http://b" for n in range(3)]))
    names = [f"{scheme}a.org/page-{n}?q=http://b" for n in range(3)]
    target, result = may_be_alike(wanted, Ids(np.arange(3), pl.Series(names)))
    assert target.tolist() == result.tolist() == [0, 1, 2]


@given(plain, plain)
def test_every_rule_that_meets_a_target_alone_is_seen(wanted: list[str], returned: list[str]):
    near = near_ids(
        *(Ids(np.zeros(len(side), np.int64), pl.Series(side)) for side in (wanted, returned))
    )
    met = {frozenset(rule.target.tolist()) for rule in near}
    for how in (*SPELLINGS[:-1], *PARTS[:-1]):
        expected = naive(wanted, returned, how)
        # A target whose letters are all gone has nothing to be recognised by.
        known = all(any(map(str.isalnum, wanted[row])) for row in expected)
        # A code such as %1A stands for its sign, so other rules alone do not tell what is alike.
        coded = "percent" not in how.rules and any(map(CODE.search, [*wanted, *returned]))
        assert not expected or frozenset(expected) in met or not known or coded


CASES = {
    "prefix=idx2:": ("c1", "idx2:c1"),
    "prefix=/data/": ("x.pdf", "/data/x.pdf"),
    "suffix=-v2": ("c1", "c1-v2"),
    "suffix=_old": ("7", "7_old"),
    "suffix=@2024-11": ("c1", "c1@2024-11"),
    "slash": ("https://a.org/b", "https://a.org/b/"),
    "signs": ("c-1", "c1"),
    "zeros": ("c001", "c1"),
    "percent": ("a b", "a%20b"),
    "width": ("c1", "\uff43\uff11"),
    "case": ("GIL", "gil"),
    "extension": ("gil", "gil.md"),
    "decimal": ("7", "7.0"),
    "scheme,slash": ("a.org/b", "https://a.org/b"),
    "query,slash": ("a.org/b", "a.org/b?page=2"),
    "prefix=docs/,extension": ("gil", "docs/gil.md"),
    "prefix=https://a.org": ("/docs/x", "https://a.org/docs/x"),
    "prefix=idx:,case": ("C7", "idx:c7"),
    "prefix=kb/,zeros": ("doc_7", "kb/doc_007"),
}


def test_a_uuid_with_zeros_nearly_meets_itself_without_hyphens() -> None:
    uuid = "a0c1e2f3-0455-6077-8899-0abbccddeeff"
    query = np.zeros(1, np.int64)
    sides = (Ids(query, pl.Series([name])) for name in (uuid, uuid.replace("-", "")))
    assert [near.option for near in near_ids(*sides)] == ["signs"]


@pytest.mark.parametrize("others", [5, 200])
def test_where_one_rule_meets_nearly_all_of_many_the_others_meet_the_rest(others: int) -> None:
    query = np.arange(600)
    wanted = [f"c{at}x" for at in query]
    returned = [f"C{at}X" for at in query[others:]]
    returned = [f"idx:c{at}x" for at in query[:others]] + returned
    met = near_ids(*(Ids(query, pl.Series(side)) for side in (wanted, returned)))
    by_option = {near.option: near.target.tolist() for near in met}
    assert met[0].option == "case"
    assert by_option["case"] == [*range(others, 600)]
    assert by_option["prefix=idx:"] == [*range(others)]


def test_numbers_of_chunks_are_no_suffix() -> None:
    query = np.zeros(3, np.int64)
    for ends in (
        ["_1", "_2", "_3"],
        ["_7", "_7", "_7"],
        ["-part1", "-part2", "-part3"],
        ["-2022", "-2023", "-2024"],
        ["#a", "#b", "?a"],
    ):
        wanted = Ids(query, pl.Series(["x", "y", "z"]))
        returned = Ids(
            query, pl.Series([f"{one}{end}" for one, end in zip("xyz", ends, strict=True)])
        )
        assert not any(near.how.suffixes for near in near_ids(wanted, returned))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("rule", CASES)
def test_each_rule_is_named_and_its_option_makes_the_ids_meet(rule: str, swapped: bool) -> None:
    """For a part of the ids, with texts beside them, from either side."""
    target, result = reversed(CASES[rule]) if swapped else CASES[rule]
    rows = [
        {"query": "q", "retrieved": [{"id": result, "text": "t"}], "ground_truth": [target]},
        {"query": "r", "retrieved": [{"id": "z", "text": "u"}], "ground_truth": ["z"]},
    ]
    before = calipers.evaluate(rows, metrics="recall@1")
    assert before["recall@1"].mean == 0.5
    (note,) = [note for note in before.settings["notes"] if "nearly so" in note]
    assert f"--map-ids {join_words([rule])}," in note
    after = calipers.evaluate(rows, metrics="recall@1", map_ids=rule)
    assert after["recall@1"].mean == 1.0


def test_a_count_of_the_first_results_is_at_least_so_many() -> None:
    """Only the first 1,000 results are compared."""
    rows = [
        {
            "query": f"q{i}",
            "retrieved": [f"idx2:d{i}", *(f"x{i}-{n}" for n in range(9))],
            "ground_truth": [f"d{i}"],
        }
        for i in range(150)
    ]
    rows.append({"query": "found", "retrieved": ["z"], "ground_truth": ["z"]})
    short = calipers.evaluate([*rows[:50], rows[-1]], metrics="recall@1").settings["notes"]
    assert any(note.startswith("50 targets not found") for note in short)
    long = calipers.evaluate(rows, metrics="recall@1").settings["notes"]
    assert any(note.startswith("At least 100 targets not found") for note in long)
    misses = calipers.misses(rows, k=1)
    assert misses.reasons["another_id"] == 150
    assert not any("nearly so" in note for note in misses.notes)


def test_texts_beside_ids_do_not_lead_in_a_circle() -> None:
    rows = [
        {
            "query": "q",
            "retrieved": [{"id": "/data/x.pdf", "text": "Refunds take 30 days."}],
            "ground_truth": ["x.pdf"],
        }
    ]
    with pytest.raises(InvalidInput, match='map_ids="prefix=/data/"'):
        calipers.evaluate(rows, metrics="recall@1")
    assert calipers.evaluate(rows, metrics="recall@1", map_ids="prefix=/data/")["recall@1"].mean


def test_an_id_may_be_written_in_two_ways_but_two_ids_may_not_become_one() -> None:
    run = {"q": ["idx2:c1"], "r": ["c1"]}
    truth = {"q": ["c1"], "r": ["c1"]}
    scores = calipers.evaluate(run, ground_truth=truth, metrics="mrr", map_ids="prefix=idx2:")
    assert scores["mrr"].mean == 1.0
    with pytest.raises(InvalidInput, match="both become 'c1'"):
        calipers.evaluate(
            {"q": ["a:c1"], "r": ["b:c1"]},
            ground_truth=truth,
            metrics="mrr",
            map_ids="prefix=a:,prefix=b:",
        )


@pytest.mark.parametrize(
    ("one", "other"), [("abc", "bc"), ("a", "a"), ("q112", "12"), ("x1", "y1"), ("", "a:")]
)
def test_part_of_a_word_is_no_prefix(one: str, other: str) -> None:
    assert prefix_between(one, other) is None


def test_nothing_is_computed_where_nothing_is_missed() -> None:
    nothing = Ids(np.empty(0, np.int64), pl.Series([], dtype=pl.String))
    some = Ids(np.zeros(1, np.int64), pl.Series(["a"]))
    assert near_ids(nothing, some) == near_ids(some, nothing) == []


@pytest.mark.parametrize(
    ("result", "target", "option"),
    [
        ("idx:C-30", "c30", "prefix=idx:,case,signs"),
        ("idx:c-30", "c30", "prefix=idx:,signs"),
        ("kb/a_B-7", "a-b-7", "prefix=kb/,case,signs"),
        ("https://kb.org/FAQ-07", "faq_7", "prefix=https://kb.org/,zeros,case,signs"),
        ("s3://b/Plan.PDF", "plan", "prefix=s3://b/,extension,case"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_prefix_is_seen_beside_several_rules(result, target, option, swapped):
    result, target = (target, result) if swapped else (result, target)
    rows = [
        {"query": "q", "retrieved": [result, "other"], "ground_truth": [target]},
        {"query": "r", "retrieved": ["z"], "ground_truth": ["z"]},
    ]
    assert option in str(calipers.evaluate(rows, metrics="recall@1"))
    assert calipers.misses(rows).map_ids == option
    assert option in str(calipers.diagnose(rows))
    mapped = calipers.evaluate(rows, metrics="recall@1", map_ids=option)
    assert mapped["recall@1"].mean == 1.0
