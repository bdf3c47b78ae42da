"""Options under a new name: the old spelling works for one release, and warns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from calipers.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])


def apply(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator out of several; the first stands first in the help text."""

    def wrap(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return wrap


class _Renamed(click.Option):
    """An option that also answers to the spelling it had before, and then says so."""

    def __init__(self, *args: Any, former: Sequence[str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._former = click.Option(
            [*former, f"former_{self.name}"],
            type=self.type,
            multiple=self.multiple,
            nargs=self.nargs,
            is_flag=self.is_flag,
        )

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know both spellings; help shows the new one alone."""
        super().add_to_parser(parser, ctx)
        self._former.add_to_parser(parser, ctx)

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Take what stands under the former spelling for what is meant, with a warning."""
        old, new = self._former.opts[0], self.opts[0]
        if self._former.name in opts:
            click.echo(
                f"Warning: {old} is called {new} now; the next release will not know {old}.",
                err=True,
            )
            given = opts[self._former.name]
            if self.multiple:
                given = [*given, *opts.get(self.name or "", ())]
            elif self.name in opts:
                raise InvalidInput(f"Both {old} and {new} are given; leave {old} out.")
            opts = {**opts, self.name or "": given}
        return super().handle_parse_result(ctx, opts, args)


def renamed_option(*names: str, former: str | Sequence[str], **settings: Any) -> Callable[[F], F]:
    """An option under a new name; ``former`` is the old spelling, which works and warns.

    Everything else is as for ``click.option``.
    """
    spellings = [former] if isinstance(former, str) else former
    return click.option(*names, cls=_Renamed, former=spellings, **settings)


class FormerFlags(click.Option):
    """An option with a few values, each of which was a flag before; a flag works and warns."""

    def __init__(self, *args: Any, values: Sequence[str], **settings: Any) -> None:
        super().__init__(*args, **{**settings, "type": click.Choice(values)})
        self._flags = {
            value: click.Option([f"--{value}", f"former_{value}"], is_flag=True) for value in values
        }

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know the flags; help shows the option alone."""
        super().add_to_parser(parser, ctx)
        for flag in self._flags.values():
            flag.add_to_parser(parser, ctx)

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Take a flag for the value of its name, with a warning."""
        new = self.opts[0]
        given = [value for value, flag in self._flags.items() if flag.name in opts]
        for value in given:
            click.echo(
                f"Warning: --{value} is written {new} {value} now; the next release will not know "
                f"--{value}.",
                err=True,
            )
        names = [*([new] if self.name in opts else []), *(f"--{value}" for value in given)]
        if len(names) > 1:
            raise two_forms(names[0], names[1])
        if given:
            opts = {**opts, self.name or "": given[0]}
        return super().handle_parse_result(ctx, opts, args)


def retired_option(name: str, why: str) -> Callable[[F], F]:
    """An option that does nothing any more: it is taken, with a warning, for one release."""

    def warn(_: click.Context, __: click.Parameter, given: Any) -> None:
        if given is not None:
            click.echo(
                f"Warning: {name} does nothing any more; the next release will not know it. {why}",
                err=True,
            )

    return click.option(name, hidden=True, expose_value=False, callback=warn, help=why)


def two_forms(one: str, other: str) -> InvalidInput:
    """The error for two forms at once."""
    return InvalidInput(
        f"Both {one} and {other} are given; a result is printed in one form, so leave one out."
    )
