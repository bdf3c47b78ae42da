"""Options that several commands share, so that they look the same everywhere."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import click

from calipers.cli.parts.output import check_one_output
from calipers.cli.parts.renamed import F, FormerFlags, apply, renamed_option, two_forms
from calipers.errors import InvalidInput


def input_options(function: F) -> F:
    """DATA, or --ground-truth and --run, or --retriever."""
    return apply(
        click.argument("data", nargs=-1, metavar="[DATA]", callback=_one_file),
        click.option("--ground-truth", "-g", metavar="FILE", help="What should be found."),
        click.option("--run", "-r", metavar="FILE", help="What the retriever returned."),
        click.option(
            "--retriever",
            metavar="RETRIEVER",
            help="Ask this live retriever instead of reading a run: package.module:function, an "
            "address or cmd:command (`calipers retrieve` has all its options, and keeps the run).",
        ),
        asking_options,
    )(function)


def asking_options(function: F) -> F:
    """How a live retriever is asked: --ask-for and --workers."""
    return apply(
        click.option(
            "--ask-for",
            type=int,
            metavar="N",
            help="Results to ask a retriever for. [default: as many as are looked at]",
        ),
        click.option(
            "--workers",
            type=int,
            metavar="N",
            help="Questions asked at a time. [default: 8; 1 for a command]",
        ),
    )(function)


def _one_file(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> str | None:
    if len(given) > 1:
        raise InvalidInput(
            f"Several files are given: {', '.join(given)}; give one that holds results and ground "
            "truth, or say which is which with --ground-truth and --run."
        )
    return given[0] if given else None


def measure_options(function: F) -> F:
    """Which metrics, at which cut-offs, under which policies."""
    return measured_by(
        "Metrics, such as recall@10,ndcg@5,mrr (`calipers metrics` lists them).",
        "Cut-offs for metrics written without one, such as 1,5,10.",
    )(function)


def measured_by(metrics: str, cutoffs: str) -> Callable[[F], F]:
    """The same options, where a command means something else by -m and -k."""
    return apply(
        click.option("--metrics", "-m", metavar="LIST", help=metrics),
        click.option("-k", "cutoffs", metavar="LIST", help=cutoffs),
        matching_options,
    )


def matching_options(function: F) -> F:
    """What counts as found, under which policies; for commands that choose no metrics."""
    return apply(
        click.option(
            "--rel",
            type=float,
            metavar="GRADE",
            help="The grade from which a target is relevant. [default: above 0]",
        ),
        click.option(
            "--match",
            metavar="HOW",
            help="How targets are recognised: by id, quote or span, or with the share that is "
            "enough, such as quote(min=0.8). [default: as the data says]",
        ),
        click.option(
            "--level",
            metavar="LEVEL",
            help="What is looked for: evidence (chunks together may hold it), chunk (one alone), "
            "document (any chunk of it); `calipers eval` also takes all, side by side. "
            "[default: evidence]",
        ),
        click.option(
            "--map-ids",
            metavar="RULES",
            help="Ignore this when ids and names of documents are compared: prefix=TEXT, "
            "extension, case, or several with commas between them.",
        ),
        column_option,
        policy_options,
        store_option,
    )(function)


def column_option(function: F) -> F:
    """--column."""
    return click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="FIELD=NAME",
        callback=lambda _, __, given: list(given) or None,
        help="Which column is what, where its name does not say, such as item=expected_ids; may "
        "be given several times.",
    )(function)


def store_option(function: F) -> F:
    """--store."""
    return click.option(
        "--store",
        metavar="PLACE",
        help="The history: a file or postgresql://user@host/database. [default: CALIPERS_STORE, "
        "the configuration, or .calipers/history.db here or in a folder above]",
    )(function)


def among_options(function: F) -> F:
    """Which saved evaluations: --with-tag and --branch."""
    return apply(
        renamed_option(
            "--with-tag",
            "tags",
            former="--tag",
            multiple=True,
            metavar="NAME=VALUE",
            help="Only evaluations with this tag; may be given several times.",
        ),
        click.option("--branch", metavar="BRANCH", help="Only evaluations of this git branch."),
    )(function)


def filter_options(function: F) -> F:
    """Which saved evaluations: --with-tag, --branch, --since and --until."""
    return apply(
        among_options,
        click.option(
            "--since",
            metavar="TIME",
            help="Only evaluations from this time on: a date, or an age such as 30d.",
        ),
        click.option(
            "--until", metavar="TIME", help="Only evaluations before this time: a date, or an age."
        ),
    )(function)


def policy_options(function: F) -> F:
    """What happens in the doubtful cases."""
    from calipers.model.policy import CHOICES, LIKE

    said = {
        "missing": "What to do with a query that the run does not have. [default: zero]",
        "unanswerable": "What to do with a query without any relevant target. [default: exclude]",
        "duplicates": "What to do with an item that one query returns twice. [default: first]",
        "unknown": "What to do with a query that the ground truth does not have. [default: ignore]",
        "errors": "What to do with a query on which the retriever failed. [default: zero]",
        "ties": "How to order results with equal scores. [default: trec where scores make the "
        "order, else input]",
        "calls": "How several calls for one query make one ranking. [default: concat]",
        "nothing_in_common": "What to do with a run that shares nothing with the ground truth. "
        "[default: error]",
    }
    options = [
        click.option(
            "--like",
            type=click.Choice(list(LIKE)),
            help="Take the policies of another tool, so that numbers equal its own.",
        )
    ]
    for name, words in CHOICES.items():
        option = f"--{name.replace('_', '-')}"
        options.append(click.option(option, type=click.Choice(words), help=said[name]))
    return apply(*options)(function)


def printed_as(form: str, what: str) -> Callable[[F], F]:
    """A flag such as --csv that prints the result in another form; only one may be given."""
    return click.option(f"--{form}", f"as_{form}", is_flag=True, callback=_only_form, help=what)


def explain_option(function: F) -> F:
    """--explain."""
    return click.option(
        "--explain", is_flag=True, help="Print everything that is known, with every note."
    )(function)


def full_option(function: F) -> F:
    """--full."""
    return click.option(
        "--full",
        is_flag=True,
        help="Put every ranking with its whole texts on the page, however large it gets.",
    )(function)


def json_option(function: F) -> F:
    """--json."""

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        check_one_output(click.get_current_context().params)
        return function(*args, **given)

    return printed_as("json", "Print the whole result as JSON.")(cast(F, checked))


def as_option(*forms: str) -> Callable[[F], F]:
    """--as FORM, which prints the result in another form; what were flags before works still."""
    return click.option(
        "--as",
        "form",
        cls=FormerFlags,
        values=forms,
        callback=_only_form,
        help="Print the result in this form.",
    )


def _only_form(context: click.Context, option: click.Parameter, given: Any) -> Any:
    if given:
        here = option.opts[0]
        before = context.meta.setdefault("calipers.printed_as", here)
        if before != here:
            raise two_forms(before, here)
    return given


def config_option(function: F) -> F:
    """--config."""
    return click.option(
        "--config",
        metavar="FILE",
        help="Take settings from this TOML file. [default: calipers.toml, or [tool.calipers] of "
        "pyproject.toml, here or in a folder above]",
    )(function)


def filled(config: str | None, *, gate: bool = False, **given: Any) -> dict[str, Any]:
    """The settings as given, or else as the configuration file has them."""
    from calipers.config import find_config, read_config

    found = find_config() if config is None else read_config(config)
    for note in found.notes:
        click.echo(f"Warning: {note}", err=True)
    settings = found.fill(given, gate=gate)
    if given.get("k") is not None and given.get("metrics", "") is None and settings["metrics"]:
        settings["metrics"] = _without_cutoffs(settings["metrics"], given["k"])
    return {name: value for name, value in settings.items() if value is not None}


def _without_cutoffs(metrics: Any, k: list[int]) -> list[str]:
    """The metrics of the settings file, to be measured at the k of the command line instead."""
    from calipers.measures.spec import parse

    found = parse(metrics, k)
    return list(dict.fromkeys(str(one) if one.k is None else one.stem for one in found))


def largest_k(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a command that looks at one k, where the file may have several."""
    if isinstance(settings.get("k"), list):
        settings["k"] = max(settings["k"])
    if settings.get("k") is not None:
        from calipers.measures.spec import check_cutoff

        settings["k"] = check_cutoff(settings["k"])
    return settings


def price_option(function: F) -> F:
    """--price."""
    return click.option("--price", type=float, metavar="PRICE", help="What a million tokens cost.")(
        function
    )


def memory_options(function: F) -> F:
    """How much memory may be used, and where what does not fit goes."""
    return apply(
        click.option(
            "--memory",
            metavar="SIZE",
            help="How much memory to use, such as 2GB, where results stand in records, or not in "
            "the order of their queries; the rest goes to a temporary file. [default: half of what "
            "is free]",
        ),
        click.option("--temp", metavar="FOLDER", help="The folder of that temporary file."),
    )(function)


def engine_options(function: F) -> F:
    """Where the work is done."""
    return apply(
        click.option(
            "--engine",
            type=click.Choice(["local", "spark"]),
            default="local",
            help="Where the work is done: on this machine, or on Spark, which reads tables of one "
            "row per item (Parquet, CSV, JSON lines) and TREC runs. [default: local]",
        ),
        click.option(
            "--master",
            metavar="URL",
            help="The master of Spark, such as local[*], or the address of a Spark Connect server "
            "(sc://…). [default: as Spark is set]",
        ),
    )(function)


def cutoff_list(text: str | None) -> list[int] | None:
    """The cut-offs of ``-k 1,5,10``."""
    if text is None:
        return None
    from calipers.measures.spec import check_cutoff

    return [check_cutoff(one) for one in text.split(",")]


def weights(text: str | None) -> dict[str, float] | None:
    """The weights of ``--score recall@10=0.7,precision@5=0.3``."""
    if text is None:
        return None
    from calipers.measures.spec import split

    found: dict[str, float] = {}
    for piece in split(text):
        name, equals, number = piece.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not equals or not 0 < value < float("inf"):
            raise InvalidInput(
                f"The weight {piece!r} in --score cannot be read; write metric=weight with a "
                "weight above 0, such as recall@10=0.7,precision@5=0.3."
            )
        if name.strip() in found:
            raise InvalidInput(f"The metric {name.strip()} is given two weights; give it one.")
        found[name.strip()] = value
    return found
