"""Names and tags: what is taken and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.store.listing import parse_reference
from calipers.store.record import check_name, check_tags, new_id


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


def test_ids_do_not_repeat():
    assert len({new_id() for _ in range(1000)}) == 1000
