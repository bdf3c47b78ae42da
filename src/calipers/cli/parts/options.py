"""Options that several commands share, so that they look the same everywhere."""

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
            [*former, f"former_{self.name}"], type=self.type, multiple=self.multiple,
            nargs=self.nargs, is_flag=self.is_flag,
        )  # fmt: skip

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


class _FormerFlags(click.Option):
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
            raise _two_forms(names[0], names[1])
        if given:
            opts = {**opts, self.name or "": given[0]}
        return super().handle_parse_result(ctx, opts, args)


def input_options(function: F) -> F:
    """DATA, or --ground-truth and --run, or --retriever."""
    return apply(
        click.argument("data", nargs=-1, metavar="[DATA]", callback=_one_file),
        click.option("--ground-truth", "-g", metavar="FILE", help="What should be found."),
        click.option("--run", "-r", metavar="FILE", help="What the retriever returned."),
        click.option(
            "--retriever", metavar="RETRIEVER",
            help="Ask this live retriever instead of reading a run: package.module:function, an "
            "address or cmd:command (`calipers retrieve` has all its options, and keeps the run).",
        ),
        asking_options,
    )(function)  # fmt: skip


def asking_options(function: F) -> F:
    """How a live retriever is asked: --ask-for and --workers."""
    return apply(
        click.option(
            "--ask-for", type=int, metavar="N",
            help="Results to ask a retriever for. [default: as many as are looked at]",
        ),
        click.option(
            "--workers", type=int, metavar="N",
            help="Questions asked at a time. [default: 8; 1 for a command]",
        ),
    )(function)  # fmt: skip


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
            "--rel", type=float, metavar="GRADE",
            help="The grade from which a target is relevant. [default: above 0]",
        ),
        click.option(
            "--match", metavar="HOW",
            help="How targets are recognised: id, quote, span, or with the share that is enough, "
            "such as quote(min=0.8). [default: as the data says]",
        ),
        click.option(
            "--level", metavar="LEVEL",
            help="What is looked for: evidence (chunks together may hold it), chunk (one alone), "
            "document (any chunk of it); `calipers eval` also takes all, side by side. "
            "[default: evidence]",
        ),
        click.option(
            "--map-ids", metavar="RULES",
            help="What does not count in ids and names of documents: prefix=TEXT, extension, case, "
            "or several with commas between them.",
        ),
        column_option,
        policy_options,
        store_option,
    )(function)  # fmt: skip


def column_option(function: F) -> F:
    """--column."""
    return click.option(
        "--column", "columns", multiple=True, metavar="FIELD=NAME",
        callback=lambda _, __, given: list(given) or None,
        help="Which column is what, where its name does not say, such as item=expected_ids; may "
        "be given several times.",
    )(function)  # fmt: skip


def store_option(function: F) -> F:
    """--store."""
    return click.option(
        "--store", metavar="PLACE",
        help="The history: a file or postgresql://user@host/database. [default: CALIPERS_STORE, "
        "the configuration, or .calipers/history.db here or in a folder above]",
    )(function)  # fmt: skip


def among_options(function: F) -> F:
    """Which saved evaluations: --with-tag and --branch."""
    return apply(
        renamed_option(
            "--with-tag", "tags", former="--tag", multiple=True, metavar="NAME=VALUE",
            help="Only evaluations with this tag; may be given several times.",
        ),
        click.option("--branch", metavar="BRANCH", help="Only evaluations of this git branch."),
    )(function)  # fmt: skip


def filter_options(function: F) -> F:
    """Which saved evaluations: --with-tag, --branch, --since and --until."""
    return apply(
        among_options,
        click.option(
            "--since", metavar="TIME",
            help="Only evaluations from this time on: a date, or an age such as 30d.",
        ),
        click.option(
            "--until", metavar="TIME", help="Only evaluations before this time: a date, or an age."
        ),
    )(function)  # fmt: skip


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
            "--like", type=click.Choice(list(LIKE)),
            help="Take the policies of another tool, so that numbers equal its own.",
        )
    ]  # fmt: skip
    for name, words in CHOICES.items():
        option = f"--{name.replace('_', '-')}"
        options.append(click.option(option, type=click.Choice(words), help=said[name]))
    return apply(*options)(function)


POLICY_NAMES = (
    "missing", "unanswerable", "duplicates", "unknown", "errors", "ties", "nothing_in_common",
    "calls",
)  # fmt: skip


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
        "--full", is_flag=True,
        help="Put every ranking with its whole texts on the page, however large it gets.",
    )(function)  # fmt: skip


def json_option(function: F) -> F:
    """--json."""
    return printed_as("json", "Print the whole result as JSON.")(function)


def as_option(*forms: str) -> Callable[[F], F]:
    """--as FORM, which prints the result in another form; what were flags before works still."""
    return click.option(
        "--as", "form", cls=_FormerFlags, values=forms, callback=_only_form,
        help="Print the result in this form.",
    )  # fmt: skip


def _only_form(context: click.Context, option: click.Parameter, given: Any) -> Any:
    if given:
        here = option.opts[0]
        before = context.meta.setdefault("calipers.printed_as", here)
        if before != here:
            raise _two_forms(before, here)
    return given


def _two_forms(one: str, other: str) -> InvalidInput:
    return InvalidInput(
        f"Both {one} and {other} are given; a result is printed in one form, so leave one out."
    )


def config_option(function: F) -> F:
    """--config."""
    return click.option(
        "--config", metavar="FILE",
        help="Take settings from this TOML file. [default: calipers.toml, or [tool.calipers] of "
        "pyproject.toml, here or in a folder above]",
    )(function)  # fmt: skip


def filled(config: str | None, *, gate: bool = False, **given: Any) -> dict[str, Any]:
    """The settings as given, or else as the configuration file has them."""
    from calipers.config import find_config, read_config

    found = find_config() if config is None else read_config(config)
    settings = found.fill(given, gate=gate)
    return {name: value for name, value in settings.items() if value is not None}


def largest_k(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a command that looks at one k, where the file may have several."""
    if isinstance(settings.get("k"), list):
        settings["k"] = max(settings["k"])
    return settings


def interval_options(resamples: int) -> Callable[[F], F]:
    """--confidence, --resamples and --seed of the intervals."""
    return apply(
        click.option(
            "--confidence", type=float, default=0.95, show_default=True,
            help="The confidence level of the intervals.",
        ),
        click.option(
            "--resamples", type=int, default=resamples, show_default=True,
            help="How many times the bootstrap resamples the queries.",
        ),
        click.option(
            "--seed", type=int,
            help="The seed of the bootstrap; the same seed gives the same intervals. [default: 0]",
        ),
    )  # fmt: skip


def price_option(function: F) -> F:
    """--price."""
    return click.option("--price", type=float, metavar="PRICE", help="What a million tokens cost.")(
        function
    )
