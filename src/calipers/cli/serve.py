"""calipers serve: browse, compare and judge in the browser."""

import logging
import os
from collections.abc import Iterable
from typing import Any

import click

import calipers
from calipers.cli.command import CommandInput, command
from calipers.cli.options import flag, text
from calipers.errors import InvalidInput, MissingExtra, NoGroundTruth
from calipers.operation import build
from calipers.version import pip_install

# Polars reads this when it is loaded: freed memory goes back to the system, where a
# server would else keep that of its largest report.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")


@command(
    click.Argument(["data"], nargs=-1, metavar="[DATA]..."),
    flag("--judge", "Make a pool of the runs, and judge it."),
    text("--pool", "NAME", "The name of the pool. [default: that of the runs]"),
    text("--owner", "NAME", "Who sees everything and settles. [default: me]"),
    text(
        "--host",
        "NAME",
        "Listen on this address instead of this machine alone; needs --address.",
    ),
    text("--address", "URL", "How browsers reach the server that --host opens."),
    text("--port", None, "The port. [default: 8642, or the next that is free]", type=int),
    operation="labels_pool",
    fill=False,
    answers=(),
)
def serve(
    request: CommandInput,
    host: str | None,
    port: int | None,
    address: str | None,
    **face: Any,
) -> None:
    """Browse, compare and judge in the browser.

    Without DATA the history is served; with DATA these evaluations, which are not saved anywhere.
    With --judge the DATA are runs, and the first results of each are judged blind. With --changed
    only what an old and a new run do not share is judged, until it is clear whether to switch.

    \b
    Examples:
      calipers serve
      calipers serve evals.jsonl
      calipers serve --judge old.jsonl new.jsonl --changed --depth 5
    """
    web = _library()
    # Before any file is read, so that a port in use fails at once.
    listening = web.listen(host, port, address)
    with listening.socket:
        shelf = _shelf(request, **face)
        _log_to_stderr()
        web.serve(shelf, listening, lambda links: _say(links, listening, shelf.owner))


def _library() -> Any:
    try:
        from calipers.web import app
    except ImportError as error:
        raise MissingExtra(
            f"The web app needs {error.name}, which is not installed; run "
            f"{pip_install('web')}."
        ) from error
    return app


def _in_addresses(names: Iterable[str]) -> list[str]:
    """Names for addresses: of a path only the last parts, as many as tell them apart.

    >>> _in_addresses(["/home/me/old/run.txt", "/home/me/new/run.txt", "@team/nightly"])
    ['old-run.txt', 'new-run.txt', 'team-nightly']
    """
    parts = [[name[1:]] if name[:1] == "@" else name.split("/") for name in names]
    for last in range(1, max(map(len, parts), default=0) + 1):
        short = ["-".join(one[-last:]).replace("/", "-") for one in parts]
        if len(set(short)) == len(short):
            return short
    return [f"{'-'.join(one)}-{n}" for n, one in enumerate(parts, 1)]


def _shelf(
    request: CommandInput,
    data: tuple[str, ...],
    judge: bool,
    pool: str | None,
    owner: str | None,
) -> Any:
    """What to serve: the history, these evaluations, or a pool to judge."""
    from calipers.labels.new_pool import pool_settings
    from calipers.labels.settings import LabelsPoolSettings
    from calipers.questions.systems import name_systems
    from calipers.store.label_pools import check_judge
    from calipers.store.record import name_from
    from calipers.web.sources import WebSources

    values = request.values
    fallback = None
    if judge:
        request.fill()
    else:
        fallback = request.fill_but_truth()
    store = values.get("store")
    judges = values.get("judges", ("me",))
    if values.get("changed") and "scale" not in request.given:
        values["scale"] = "yes/no"
    settings = build(LabelsPoolSettings, values)
    kept = pool_settings(
        settings.pooling,
        depth=settings.depth,
        order=settings.order,
        per_item=settings.per_item,
    )
    owner = check_judge(owner or (judges[0] if len(judges) == 1 else "me"), person=True)
    if not judge:
        for name in ("questions", "corpus", "changed", "allow"):
            if name in request.given:
                raise InvalidInput(
                    f"--{name} goes with --judge, which makes a pool of the runs."
                )
        number = (
            None if pool is None else calipers.labels_desk(pool, store).content.number
        )
        systems = name_systems(data)
        sources = {
            name: _read(value, values, fallback)
            for name, value in zip(_in_addresses(systems), systems.values(), strict=True)
        }
        shelf = WebSources(store, sources, kept, owner, number)
        if shelf.has_store:
            # An unreadable history is reported now, not on every page.
            shelf.store()
        return shelf
    if not data:
        raise InvalidInput(
            "Nothing is given to judge; name at least one run, better several."
        )
    runs = name_systems(data)
    # Under a given name it must be the pool with the same inputs.
    another = pool is None
    pool_session = calipers.labels_pool(
        pool or name_from(runs), runs, another=another, **values
    )
    click.echo(f"The pool is called {pool_session.name}.", err=True)
    return WebSources(store, {}, kept, owner, pool_session.content.number)


def _read(value: str, values: dict[str, Any], fallback: str | None) -> Any:
    """Read one evaluation; a run without a ground truth uses that of the settings file."""
    names = ("ground_truth", "columns", "store")
    options = {name: values[name] for name in names if name in values}
    try:
        return calipers.read(value, **options)
    except NoGroundTruth:
        if fallback is None:
            raise
        return calipers.read(value, **options, ground_truth=fallback)


def _say(links: dict[str, str], listening: Any, owner: str) -> None:
    click.echo(f"Serving on {listening.address.origin} until Ctrl+C.", err=True)
    bound = listening.socket.getsockname()[0]
    if bound not in ("127.0.0.1", "::1"):
        click.echo(
            f"It listens on {bound}, port {listening.port}, for other machines too: "
            f"whoever has the link of {owner} sees everything here, the others what they "
            "judge. Put TLS in front of it.",
            err=True,
        )
    if len(links) == 1:
        click.echo("Open this link; it works once:", err=True)
        click.echo(links[owner])
        return
    click.echo(
        "Each link works once; starting the server again prints new ones and signs "
        "nobody out:",
        err=True,
    )
    for name, link in links.items():
        click.echo(f"{name}{' (owner)' if name == owner else ''}: {link}")


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logging.getLogger("calipers.web").addHandler(handler)
