"""More words than a command takes."""

from pathlib import Path

import click

from calipers.shell import join_words


def too_many(
    command: click.Command, ctx: click.Context, words: list[str]
) -> click.UsageError:
    """The error for more words than the command takes, with the option for a file."""
    values, _, _ = command.make_parser(ctx).parse_args(list(words))
    known = [one for one in command.get_params(ctx) if isinstance(one, click.Argument)]
    taken = [str(values[one.name]) for one in known if one.name in values]
    _, left, _ = command.make_parser(ctx).parse_args(list(words))
    every = [*taken, *map(str, left)]
    named = ", ".join(one.make_metavar(ctx).strip("[].") for one in known) or "no word"
    files = [word for word in every if Path(word).is_file()]
    options = {opt for one in command.get_params(ctx) for opt in one.opts}
    if files and "--run" in options:
        others = [word for word in every if word not in files]
        line = [*str(ctx.command_path).split(), *others, "--run", files[0]]
        return click.UsageError(
            f"{ctx.info_name} takes {named}, and files by options: {join_words(line)}"
        )
    return click.UsageError(
        f"{ctx.info_name} takes {named}; {', '.join(map(repr, left))[:100]} has no place. A "
        "text of several words needs quotation marks."
    )
