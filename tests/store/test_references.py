"""Names for evaluations: what they find, and what is said where they find nothing or too much."""

import dataclasses

import pytest

from calipers.errors import InvalidInput
from calipers.store.git import GitState
from calipers.store.listing import evaluations, parse_reference, resolve
from calipers.store.open import open_store
from calipers.store.record import write
from tests.store.saved import filled, record
from tests.systems import records


@pytest.fixture
def store(tmp_path):
    opened = open_store(tmp_path / "h.db", create=True)
    commits = ("abc1" * 10, "abc2" * 10, "def3" * 10)
    cases = (
        ("nightly", commits[0], "main"),
        ("nightly", commits[1], "main"),
        ("smoke", commits[1], "feature/x"),
        ("nightly", commits[2], "release/1.2"),
    )
    for day, (name, commit, branch) in enumerate(cases):
        git = GitState(commit, branch, dirty=False)
        write(opened, record(records([1]), name, day=day, git=git)[1])
    return opened


def day(store, text: str) -> int:
    return resolve(store, text).saved.day - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@nightly", 3),
        ("@nightly~1", 1),
        ("@nightly~2", 0),
        ("@smoke", 2),
        ("@name:smoke", 2),
        ("@branch:main", 1),
        ("@branch:main~1", 0),
        ("@branch:feature/x", 2),
        ("@branch:release/1.2:nightly", 3),
        ("@commit:abc1", 0),
        ("@commit:DEF3def3", 3),
        ("@commit:abc2:nightly", 1),
        ("@commit:abc2:smoke", 2),
    ],
)
def test_what_a_reference_finds(store, text, expected):
    assert day(store, text) == expected


def refusal(store, text: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        resolve(store, text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@nigthly", "Did you mean @nightly?"),
        ("@branch:mian", "Did you mean @branch:main?"),
        ("@commit:9999", "There is no evaluation @commit:9999"),
        ("@nightly~3", "there are 3 such evaluations, the oldest is @nightly~2"),
        ("@smoke~1", "there is one such evaluation, the oldest is @smoke~0"),
        ("@branch:main~2", "there are 2 such evaluations, the oldest is @branch:main~1"),
        ("@commit:abc", "at least 4"),
        ("@commit:xyzw", "0-9 and a-f"),
        ("@id:12", "at least 4"),
        ("@", "cannot be read"),
        ("@a:b", "cannot be read"),
        ("@nightly~x", "cannot be read"),
        ("@nightly~-1", "cannot be read"),
        ("@a:b:c", "cannot be"),
    ],
)
def test_what_is_said_where_nothing_is_found(store, text, said):
    assert said in refusal(store, text)


def test_a_beginning_that_fits_several_lists_them(store):
    several = refusal(store, "@commit:abc")
    assert "at least 4" in several
    names = refusal(store, "@commit:abc2")
    assert "several names; write @commit:" in names
    assert names.count(":smoke") == names.count(":nightly") == 1


def test_several_commits_are_listed(tmp_path):
    store = open_store(tmp_path / "h.db", create=True)
    for n, ending in enumerate("01"):
        git = GitState("abcd" + ending * 36, "main", dirty=False)
        write(store, record(records([1]), day=n, git=git)[1])
    said = refusal(store, "@commit:abcd")
    assert "several commits" in said
    assert f"@commit:abcd{'1' * 36}:nightly" in said


def test_ids_that_begin_alike_are_listed(tmp_path):
    store = open_store(tmp_path / "h.db", create=True)
    for n, one in enumerate(("aaaa000000000001", "aaaa000000000002")):
        write(store, dataclasses.replace(record(records([1]), day=n)[1], id=one))
    said = refusal(store, "@aaaa")
    assert "fits 2 evaluations" in said
    assert "@aaaa000000000001 (nightly, 2026-01-01 06:00)" in said
    assert day(store, "@aaaa000000000001") == 0


def test_a_name_that_is_also_the_beginning_of_an_id_must_be_told_apart(tmp_path):
    store = open_store(tmp_path / "h.db", create=True)
    write(store, dataclasses.replace(record(records([1]), "x")[1], id="cafe000000000001"))
    write(store, record(records([1]), "cafe", day=1)[1])
    assert "@name:cafe or @id:cafe000000000001" in refusal(store, "@cafe")
    assert (day(store, "@name:cafe"), day(store, "@id:cafe")) == (1, 0)


def test_the_one_before_an_id_has_the_same_name(tmp_path):
    store = filled(str(tmp_path / "h.db"), [[1], [2], [3]])
    newest = evaluations(store)[0]
    assert day(store, f"@{newest.short}~2") == 0
    assert "goes back too far" in refusal(store, f"@{newest.short}~3")


def test_a_reference_says_what_it_was_written_as():
    assert parse_reference("@nightly~12").back == 12
