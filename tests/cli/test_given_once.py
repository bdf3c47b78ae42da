"""An option that takes one value is given once: click would drop the first in silence."""

import click
import pytest
from click.testing import CliRunner

from calipers.cli import every_command, group


def takes_one(option):
    flag = not isinstance(option, click.Option) or option.is_flag or option.count
    return not flag and not option.multiple


def test_every_option_with_one_value_is_refused_twice():
    refused = 0
    for name, command in every_command().items():
        for option in filter(takes_one, command.params):
            first, last = option.opts[0], option.opts[-1]
            result = CliRunner().invoke(group, [*name.split(), first, "1", "file", last, "2"])
            said = f"{max(option.opts, key=len)} is given twice, and only one can count; give it"
            assert said in result.output
            assert result.exit_code == 2
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("given", [["--json", "--json"], ["--by", "a", "--by", "b"]])
def test_flags_and_lists_of_options_may_be_repeated(given):
    result = CliRunner().invoke(group, ["eval", "no such file", *given])
    assert "is given twice" not in result.output
