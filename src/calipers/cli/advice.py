"""Advice that can be pasted: another command for the files that were asked about just now."""

import click
from click.core import ParameterSource

from calipers.cli import every_command
from calipers.shell import join_words, split_line

SAME = {"systems": "pilot"}
"""What one command calls otherwise than another."""
INPUTS = ("data", "systems", "retrievers", "ground_truth", "run", "retriever", "config")
NOT_AGAIN = (
    *("save", "tags", "mlflow", "html", "markdown", "chart", "per_query", "output", "accept"),
    *("junit", "explain", "quiet", "as_json", "as_csv", "form"),
)
"""What was made once need not be made again, and how it was shown is no part of the question."""


def typed_again(context: click.Context, words: str) -> str | None:
    """What to type behind `calipers` for the same files; None where another command takes others.

    What was given is given again where the other command takes the same.
    """
    given, rest = split_line(words), 0
    while rest < len(given) and not given[rest].startswith("-"):
        rest += 1
    name = " ".join(given[:rest])
    target, here = every_command().get(name), context.command
    if target is None or not hasattr(here, "takes"):
        return None
    written = given[:rest]
    for one in here.params:
        source = context.get_parameter_source(one.name or "")
        if source is not ParameterSource.COMMANDLINE or one.name in NOT_AGAIN:
            continue
        value = context.params[one.name or ""]
        if one.name == "k" and (not str(value).isdigit() or (name == "sweep" and len(given) == 1)):
            continue  # sweep alone looks at every k
        other = _same(one, target, is_same=target is here)
        if other is not None and not any(flag in given for flag in other.opts):
            written += _words(other, value)
        elif other is None and one.name in INPUTS:
            return None
    return join_words(["calipers", *written, *given[rest:]])


def _same(one: click.Parameter, target: click.Command, *, is_same: bool) -> click.Parameter | None:
    """The parameter of another command that means the same."""
    found = next((p for p in target.params if p.name in (one.name, SAME.get(one.name or ""))), None)
    if found is None or is_same:
        return found
    # A k by itself is one wherever a k is taken, and a list of them is not.
    alike = type(found) is type(one) and (found.type.name == one.type.name or one.name == "k")
    settled = one.name in INPUTS or (hasattr(target, "takes") and target.takes(found.name))
    return found if alike and settled else None


def _words(parameter: click.Parameter, value: object) -> list[str]:
    values = list(value) if isinstance(value, tuple) else [value]
    if isinstance(parameter, click.Argument):
        return [str(one) for one in (values[:2] if parameter.name == "pilot" else values)]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return [parameter.opts[0]]
    short = min(parameter.opts, key=len)
    return [word for one in values for word in (short, str(one))]
