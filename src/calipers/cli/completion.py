"""What the Tab key offers behind an option: files, metrics, saved evaluations.

Commands, options and fixed choices are offered by click itself.
"""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from calipers.errors import CalipersError

_METRICS = ("metrics", "primary")
_FILES = ("FILE", "FOLDER", "PATH")
_NO_FILES = ("NAME", "POOL")
"""Arguments are files, but for these."""
_MOST_SAVED = 100


def complete(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The words for the value of an option or an argument; files, where they are meant."""
    if parameter.name in _METRICS:
        *before, last = incomplete.split(",")
        names = (name for name in _metric_names() if name.startswith(last))
        return [CompletionItem(",".join([*before, name])) for name in names]
    behind = [
        CompletionItem(name)
        for name in getattr(context.command, "commands", {})
        if name.startswith(incomplete)
    ]
    if behind and not any(map(context.params.get, ("data", "name"))):
        return behind
    word = (parameter.metavar or "").strip("[].")
    is_argument = isinstance(parameter, click.Argument)
    sign = "@" if incomplete.startswith("@") or word == "REFERENCE" else ""
    if sign or (word == "NAME" and is_argument):
        saved = (f"{sign}{name}" for name in _saved_names(context.params.get("store")))
        return [CompletionItem(one) for one in saved if one.startswith(incomplete)]
    if word in _FILES or (is_argument and word not in _NO_FILES):
        return [CompletionItem(incomplete, type="dir" if word == "FOLDER" else "file")]
    return []


def _metric_names() -> Iterable[str]:
    from calipers.measures.define import definitions

    return sorted(definitions())


def _saved_names(store: str | None) -> list[str]:
    """The names of the newest evaluations; none where there is no history, or none to be read."""
    import calipers

    try:
        kept = calipers.history(last=_MOST_SAVED, store=store)
    except CalipersError:
        return []
    return list(dict.fromkeys(one.name for one in kept.evaluations))
