"""Options that several commands share."""

import pytest

from tests.command import refused


@pytest.mark.parametrize(
    ("command", "first", "second"),
    [
        (("eval", "none.json"), "--json", "--csv"),
        (("sweep", "none.json"), "--csv", "--json"),
        (("show", "@none"), "--json", "--csv"),
        (("history",), "--json", "--csv"),
        (("trend", "none"), "--json", "--csv"),
        (("alarm", "none"), "--markdown", "--json"),
        (("compare", "a.json", "b.json"), "--latex", "--csv"),
        (("compare", "a.json", "b.json"), "--json", "--markdown"),
    ],
)
def test_a_result_is_printed_in_one_form(command: tuple[str, ...], first: str, second: str) -> None:
    sentence = refused(*command, first, second)
    assert sentence == (
        f"Error: Both {first} and {second} are given; a result is printed in one form, so leave "
        "one out."
    )
