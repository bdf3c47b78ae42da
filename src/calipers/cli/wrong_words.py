"""More or fewer words than a command takes, and files without options that say what they are."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import click

from calipers.shell import join_words

RUN = "--run"
TRUTH = "--ground-truth"


def too_many(
    command: click.Command, ctx: click.Context, words: Sequence[str]
) -> click.UsageError:
    """The error for more words than the command takes, with the options for files."""
    values, left, _ = command.make_parser(ctx).parse_args(list(words))
    known = [one for one in command.get_params(ctx) if isinstance(one, click.Argument)]
    taken = [str(values[one.name]) for one in known if one.name in values]
    named = ", ".join(one.make_metavar(ctx).strip("[].") for one in known) or "no word"
    files = [word for word in (*taken, *map(str, left)) if Path(word).is_file()]
    options = {opt for one in command.get_params(ctx) for opt in one.opts}
    if files and RUN in options:
        how = line_by_options(ctx, words, files) or f"{RUN} and {TRUTH}"
        return click.UsageError(
            f"{ctx.info_name} takes {named}, and files by options: {how}"
        )
    return click.UsageError(
        f"{ctx.info_name} takes {named}; {', '.join(map(repr, left))[:100]} "
        f"{'has' if len(left) == 1 else 'have'} no place. A text of several words needs "
        "quotation marks."
    )


def missing(
    command: click.Command, ctx: click.Context, error: click.MissingParameter
) -> click.UsageError:
    """The error for an option or a word that is missing, with what it is and an example."""
    lacked = error.param
    if lacked is None:
        return error
    if isinstance(lacked, click.Option):
        name = max(lacked.opts, key=len)
        said = lacked.help or ""
        what = f"{name} is missing: {said[:1].lower()}{said[1:].rstrip('.')}."
    else:
        name = lacked.make_metavar(ctx).strip("[].")
        what = f"{name} is missing."
    joined = (command.help or "").replace("\\\n", " ")
    lines = (" ".join(line.split()) for line in joined.splitlines())
    examples = [line for line in lines if line.startswith("calipers ")]
    fitting = [line for line in examples if name in line] or examples
    how = f" For example: {fitting[0]}" if fitting else ""
    return click.UsageError(f"{what}{how}", ctx)


def what_is_meant(
    ctx: click.Context,
    words: Sequence[str],
    files: Sequence[str],
    save: click.Command | None,
) -> str | None:
    """The line that several files are likely meant for; None where nobody knows.

    ``save`` is the command's own command that keeps a measurement, if it has one.
    """
    line = line_by_options(ctx, words, files)
    if line is not None:
        return f"say which is which: {line}"
    values, _, _ = ctx.command.make_parser(ctx).parse_args(list(words))
    truth = values.get("ground_truth")
    if truth is None or values.get("run") is not None or not _are_runs(files):
        return None
    if ctx.info_name == "eval":
        compared = join_words(["calipers", "compare", *files, TRUTH, truth])
        return f"to test their difference: {compared}"
    if save is not None and values.get("baseline") is None and not values.get("require"):
        return _against_first(ctx, words, files, save)
    further = files[1:]
    alone = [word for word in words if word not in further]
    return f"give one run at a time: {join_words([*ctx.command_path.split(), *alone])}"


def _against_first(
    ctx: click.Context, words: Sequence[str], files: Sequence[str], save: click.Command
) -> str | None:
    """Two runs and nothing to check: the first becomes the baseline of the second."""
    if len(files) != 2:
        return None
    first, second = files
    path = ctx.command_path.split()
    baseline = str(Path(first).with_suffix(".baseline.json"))
    rest = [word for word in words if word not in files]
    kept = _options_of(save, ctx, rest)
    make = join_words([*path, "save", first, *kept, "-o", baseline])
    use = join_words([*path, second, *rest, "--baseline", baseline])
    return f"to make the first the baseline of the other: {make}, then {use}"


def _options_of(
    other: click.Command, ctx: click.Context, words: Sequence[str]
) -> list[str]:
    """Typed options with their values, but for those that another command does not have."""
    has = {opt for one in other.get_params(ctx) for opt in one.opts}
    lacks = {
        opt: isinstance(one, click.Option) and one.is_flag
        for one in ctx.command.get_params(ctx)
        for opt in one.opts
        if opt not in has
    }
    kept = []
    left = iter(words)
    for word in left:
        name, equals, _ = word.partition("=")
        if name not in lacks:
            kept.append(word)
        elif not lacks[name] and not equals:
            next(left, None)
    return kept


def _are_runs(files: Sequence[str]) -> bool:
    """Whether each of some files can be read as results."""
    from calipers.errors import CalipersError
    from calipers.io.load import load_run

    try:
        for file in files:
            load_run(file)
    except CalipersError:
        return False
    return True


def line_by_options(
    ctx: click.Context, words: Sequence[str], files: Sequence[str]
) -> str | None:
    """What was typed with an option before each file; None where their roles are not known."""
    values, _, _ = ctx.command.make_parser(ctx).parse_args(list(words))
    asked = {RUN: values.get("run"), TRUTH: values.get("ground_truth")}
    free = [option for option, value in asked.items() if value is None]
    roles: Mapping[str, str] | None = None
    if len(files) == 1 and free:
        roles = {free[0]: files[0]}
    elif len(files) == 2 and len(free) == 2:
        roles = _by_what_they_hold(files)
    if roles is None:
        return None
    # All else stays as it was typed, so that the line does what was meant.
    kept = [word for word in words if word not in files]
    return join_words([*ctx.command_path.split(), *kept, *chain(*roles.items())])


def _by_what_they_hold(files: Sequence[str]) -> Mapping[str, str] | None:
    """Two files by their options; None unless one holds a ground truth and one only results."""
    from calipers.errors import CalipersError
    from calipers.io.load import load

    roles = {}
    for file in files:
        try:
            has_truth = load(file, "both").ground_truth is not None
        except CalipersError:
            return None
        roles[TRUTH if has_truth else RUN] = file
    return dict(sorted(roles.items(), reverse=True)) if len(roles) == 2 else None
