"""Names for evaluations: what is taken, what they find, and what is said where they do not."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.store.listing import evaluations, parse_reference, resolve
from calipers.store.open import open_store
from calipers.store.record import check_name, check_tags, write
from tests.store.saved import filled, record
from tests.systems import records


@pytest.fixture
def store(tmp_path):
    opened = open_store(tmp_path / "h.db", create=True)
    for day, name in enumerate(("nightly", "nightly", "smoke", "nightly")):
        write(opened, record(records([1]), name, day=day)[1])
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
        ("@branch:main", "write @name, @name~2"),
        ("@nightly~3", "there are 3 such evaluations, the oldest is @nightly~2"),
        ("@abc", "There is no evaluation @abc"),
        ("@", "cannot be read"),
        ("@a:b", "cannot be read"),
        ("@nightly~-1", "cannot be read"),
    ],
)
def test_what_is_said_where_nothing_is_found(store, text, said):
    assert said in refusal(store, text)


def test_a_beginning_that_fits_several_lists_them(store):
    for n, one in enumerate(("aaaa000000000001", "aaaa000000000002")):
        write(store, dataclasses.replace(record(records([1]), day=9 + n)[1], id=one))
    assert "write @aaaa000000000002 or @aaaa000000000001." in refusal(store, "@aaaa")
    write(store, record(records([1]), "aaaa", day=20)[1])
    assert [day(store, f"@{one}") for one in ("aaaa", "aaaa000000000001")] == [20, 9]


def test_the_one_before_an_id_has_the_same_name(tmp_path):
    store = filled(str(tmp_path / "h.db"), [[1], [2], [3]])
    newest = evaluations(store)[0]
    assert day(store, f"@{newest.short}~2") == 0
    assert "goes back too far" in refusal(store, f"@{newest.short}~3")


@pytest.mark.parametrize("name", ["", "a b", "a~1", "@a", "a:b", "-a", "a\n", "a\x00", "x" * 101])
def test_odd_names_are_refused(name):
    with pytest.raises(InvalidInput, match="a name is made of letters, digits"):
        check_name(name)


@given(st.text(max_size=120))
def test_every_name_that_is_taken_can_be_referred_to(name):
    try:
        check_name(name)
    except InvalidInput:
        return
    assert parse_reference(f"@{name}~3").word == name


@pytest.mark.parametrize(
    "tags", [{"": "x"}, {"a b": "x"}, {"a": ""}, {"a": "\x1b[31m"}, {"a": "x" * 1001}]
)
def test_odd_tags_are_refused(tags):
    with pytest.raises(InvalidInput, match="The tag"):
        check_tags(tags)
