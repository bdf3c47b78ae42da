"""calipers serve: browse, compare and judge in the browser."""

import logging
from typing import Any

import click

from calipers.cli.parts import options
from calipers.errors import InvalidInput, MissingExtra


@click.command("serve")
@click.argument("data", nargs=-1, metavar="[DATA]...")
@click.option("--ground-truth", "-g", metavar="FILE", help="What should be found.")
@click.option("--judge", "judging", is_flag=True, help="Make a pool of the runs, and judge it.")
@click.option("--pool", metavar="NAME", help="The name of the pool. [default: that of the runs]")
@click.option(
    "--judges",
    metavar="LIST",
    default="me",
    show_default=True,
    help="Who judges, such as anna,ben; each gets a link of their own.",
)
@click.option("--questions", metavar="FILE", help="The texts of the questions.")
@click.option("--corpus", metavar="FILE", help="Texts of results that the runs give as ids alone.")
@click.option("--depth", type=int, default=10, show_default=True, help="Results per run to judge.")
@click.option(
    "--metric", "-m", default="ndcg@10", show_default=True, help="The metric that judges watch."
)
@click.option(
    "--scale",
    type=click.Choice(["0-3", "yes/no"]),
    default="0-3",
    show_default=True,
    help="The grades that can be given.",
)
@click.option(
    "--order",
    type=click.Choice(["moves", "plain"]),
    default="moves",
    show_default=True,
    help="Begin with what can move the metric most, or take questions as they come.",
)
@click.option(
    "--only",
    type=click.Choice(["misses", "different"]),
    help="Judge only questions with a miss, or only those whose results differ.",
)
@click.option(
    "--overlap",
    type=float,
    default=0.2,
    show_default=True,
    help="The share of questions that every judge gets.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed that shuffles.")
@click.option("--guidelines", metavar="FILE", help="A text that judges see beside every item.")
@click.option(
    "--host",
    metavar="NAME",
    help="Listen on this address instead of this machine alone; needs --address.",
)
@click.option(
    "--address", metavar="URL", help="How browsers reach the server, where --host opens it."
)
@click.option("--port", type=int, help="The port. [default: 8642, or the next that is free]")
@options.column_option
@options.store_option
def command(**settings: Any) -> None:
    """Browse, compare and judge in the browser.

    Without DATA the history is served; with DATA these evaluations, which are not saved anywhere.
    With --judge the DATA are runs, and the first results of each are judged blind.

    \b
    Examples:
      calipers serve
      calipers serve evals.jsonl
      calipers serve --judge bm25.jsonl dense.jsonl -g gt.jsonl --judges anna,ben
    """
    start = _library()
    # Before any file is read: a port that is taken costs no work.
    listening = start.listen(settings.pop("host"), settings.pop("port"), settings.pop("address"))
    with listening.socket:
        shelf = _shelf(settings)
        _log_to_stderr()
        start.serve(shelf, listening, lambda links: _say(links, listening))


def _library() -> Any:
    try:
        from calipers.web import start
    except ImportError as error:
        raise MissingExtra(
            f"The web app needs {error.name}, which is not installed; run "
            "pip install 'calipers[web]'."
        ) from error
    return start


def _shelf(settings: dict[str, Any]) -> Any:
    from calipers.labels.make import check_settings, read_guidelines
    from calipers.labels.settings import labels_pool
    from calipers.questions.evaluate.settings import read
    from calipers.questions.systems import name_systems
    from calipers.store.pool import PoolSettings
    from calipers.web.sources import WebShelf

    data, store = settings["data"], settings["store"]
    judges = tuple(one.strip() for one in settings["judges"].split(",") if one.strip())
    kept = {
        name: settings[name] for name in ("metric", "scale", "order", "overlap", "depth", "seed")
    }
    kept["guidelines"] = read_guidelines(settings["guidelines"])
    check_settings(PoolSettings(**kept), judges)
    if not settings["judging"]:
        _check_not_judging(settings)
        truth = settings["ground_truth"]
        more = {"ground_truth": truth, "columns": settings["columns"]}
        given = {
            name.lstrip("@").replace("/", "-"): read(value, store=store, **more)
            for name, value in name_systems(data).items()
        }
        shelf = WebShelf(store, given, judges, PoolSettings(**kept))
        if shelf.has_store:
            # A history that cannot be read is better said now than on every page.
            shelf.store()
        return shelf
    if not data:
        raise InvalidInput("Nothing is given to judge; name at least one run, better several.")
    runs = name_systems(data)
    name = settings["pool"] or "-".join(runs).lstrip("@")[:90]
    if name in _pools(store):
        click.echo(f"Going on with the pool {name}, as it is.", err=True)
        return WebShelf(store, {}, judges, PoolSettings(**kept))
    labels_pool(
        name,
        runs,
        ground_truth=settings["ground_truth"],
        questions=settings["questions"],
        corpus=settings["corpus"],
        judges=judges,
        only=settings["only"],
        store=store,
        columns=settings["columns"],
        **kept,
    )
    return WebShelf(store, {}, judges, PoolSettings(**kept))


def _check_not_judging(settings: dict[str, Any]) -> None:
    """Refuse what would be passed over without --judge."""
    from calipers.suggest import did_you_mean

    for name in ("questions", "corpus", "only"):
        if settings[name] is not None:
            raise InvalidInput(f"--{name} goes with --judge, which makes a pool of the runs.")
    if settings["pool"] is not None:
        known = _pools(settings["store"])
        if settings["pool"] not in known:
            there = f"there are {', '.join(known[:8])}" if known else "there is none yet"
            raise InvalidInput(
                f"There is no pool called {settings['pool']!r:.60}; {there}."
                f"{did_you_mean(settings['pool'], known)} To make one, name the runs: calipers "
                "serve --judge bm25.jsonl dense.jsonl -g gt.jsonl"
            )


def _pools(store: str | None) -> list[str]:
    from calipers.errors import UnreadableFile
    from calipers.labels.settings import labels_list

    try:
        return [one.name for one in labels_list(store).pools]
    except UnreadableFile:
        return []


def _say(links: dict[str, str], listening: Any) -> None:
    click.echo(f"Serving on {listening.address.origin} until Ctrl+C.", err=True)
    bound = listening.socket.getsockname()[0]
    if bound not in ("127.0.0.1", "::1"):
        click.echo(
            f"It listens on {bound}, port {listening.port}, for other machines too: whoever has a "
            "link sees every evaluation here and can judge. Put TLS in front of it.",
            err=True,
        )
    click.echo("Each link works once:", err=True)
    for judge, link in links.items():
        click.echo(f"{judge}: {link}")


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logging.getLogger("calipers.web").addHandler(handler)
