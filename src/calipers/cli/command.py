"""Make a command from an operation: its settings become options with help and defaults."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from inspect import cleandoc, signature
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

import calipers
from calipers.cli import every_command
from calipers.cli.options import (
    ALL,
    CONFIG,
    EXPLAIN,
    JSON,
    QUIET,
    FileOption,
    LayeredHelp,
    Option,
    parameter_of,
    text,
)
from calipers.cli.output import (
    check_output,
    check_outputs,
    console,
    is_quiet,
    print_json,
    print_line,
    progress,
    write_file,
)
from calipers.errors import InvalidInput, NoGroundTruth
from calipers.operation import (
    Argument,
    S,
    Setting,
    arguments,
    arguments_of,
    build,
    check_together,
    convert,
    keys_of,
)
from calipers.shell import join_words, split_line
from calipers.words import COMPLETING

if TYPE_CHECKING:
    from calipers.config import Config
    from calipers.model.document import Document

T = TypeVar("T")


@dataclass
class CommandInput:
    """What was given on the command line: settings of the operation, and the output format."""

    operation: Callable[..., object]
    values: dict[str, Any]
    """Values from the command line or the settings file; the operation adds its
    defaults."""
    output_format: str | None
    """The output format, such as json or csv; None for tables."""
    config: str | None
    """The settings file given with --config."""
    given: frozenset[str]
    """The names of the settings given on the command line."""
    explain: bool = False
    """Whether --explain is given."""
    files: Mapping[FileOption, str] = field(default_factory=dict)
    """The files to write with the answer."""
    shown: Any = None
    """The answer that was printed; its exit code is the command's."""
    fallback: str | None = None
    """The ground truth of the settings file, for a run that has none."""

    def fill(self, *but: str) -> "Config":
        """Fill missing settings, except those in ``but``, from the settings file."""
        file = self._settings_file()
        filled = self._from_file(file, but)
        if "k" in self.values and "metrics" in filled:
            from calipers.config import without_cutoffs

            # The cut-offs were given on the command line; the file's metrics take those.
            filled["metrics"] = without_cutoffs(filled["metrics"], self.values["k"])
        self.values |= filled
        takes_truth = "ground_truth" in arguments(self.operation)
        if "data" in self.values and takes_truth and "ground_truth" not in but:
            self.fallback = file.shared.get("ground-truth")
        return file

    def _settings_file(self) -> "Config":
        """The file given with --config, or the nearest one."""
        from calipers.config import PLAIN, find_config, ignored_settings, read_config

        if self.config is not None:
            return read_config(self.config)
        file = find_config()
        if (ignored := ignored_settings()) is not None:
            _say(
                f"[tool.calipers] of {ignored} is not read: move it to {PLAIN} beside it."
            )
        return file

    def _from_file(self, file: "Config", but: Collection[str]) -> dict[str, Any]:
        """The settings that the file has for this command, and the command line has not."""
        from calipers.config import runs_code

        keys = keys_of(self.operation)
        takes = arguments(self.operation)
        filled = file.filled(self.values, keys, gate=self.operation.__name__ == "gate")
        known = self.values.keys() | filled.keys()
        for name in list(filled):
            needs = getattr(takes[name].setting, "needs", ())
            # A setting whose required companion is missing is meant for other commands.
            if name in but or (needs and not known & {*needs}):
                del filled[name]
            elif isinstance(filled[name], list) and takes[name].kind in (int, int | None):
                # This command takes one k, and the file has several.
                filled[name] = max(filled[name])
            elif keys[name] == "retriever" and runs_code(filled[name]):
                _say(f"Running {filled[name]}, which {file.path} names.")
        return filled

    def fill_but_truth(self) -> str | None:
        """Like ``fill``, but return the file's ground truth: it is for runs that have none."""
        file = self.fill("ground_truth")
        return None if "ground_truth" in self.values else file.shared.get("ground-truth")

    def with_truth(self, fallback: str | None, ask: Callable[[], T]) -> T:
        """Run ``ask``; if the runs have no ground truth, use ``fallback``, that of the file."""
        try:
            return ask()
        except NoGroundTruth:
            if fallback is None:
                raise
            self.values["ground_truth"] = fallback
            return ask()

    def answer(self, **more: object) -> Any:
        """Run the operation; a run alone is measured against the questions of the settings file."""
        try:
            return self._answer(**more)
        except NoGroundTruth:
            if self.fallback is None or "ground_truth" in self.values:
                raise
            _say(f"Measured against {self.fallback}, which the settings file names.")
            self.values["ground_truth"] = self.fallback
            return self._answer(**more)

    def _answer(self, **more: object) -> object:
        """Run the operation, with a progress bar if it takes long."""
        takes = arguments(self.operation)
        settings = {**self.values, **more}
        check_together(takes, settings, self._called)
        call = partial(self.operation, **settings)
        for argument in takes.values():
            if (
                argument.needed
                and argument.setting
                and argument.name not in call.keywords
            ):
                what = self._called(argument.name)
                raise InvalidInput(
                    f"{what} is not given, and no settings file has it; give it, or "
                    f"write {argument.setting.file} = … into calipers.toml."
                )
        with progress() as told:
            return call(**{name: value for name, value in told.items() if name in takes})

    def built(self, kind: type[S]) -> S:
        """The settings that were given, as the operation takes them."""
        return build(kind, self.values)

    def _called(self, name: str) -> str:
        """The name of a setting as the user wrote it: an option, or a key of the settings file."""
        setting = arguments(self.operation)[name].setting or Setting("")
        if setting.file and name in self.values and name not in self.given:
            return f"{setting.file} of the settings file"
        return setting.argument.strip("[].") or setting.names(name)[0]

    def show(
        self,
        answer: Any,
        to_dict: Callable[[Any], Mapping[str, Any]] | None = None,
        *,
        document: "Document | None" = None,
        explain: bool = False,
    ) -> None:
        """Print the answer and write its files; the requested format, or else as its document.

        ``to_dict`` and ``document`` are for a command that has more to say than the
        answer alone.
        """
        self.shown = answer
        explain = explain or self.explain
        try:
            if self.output_format == "json":
                plain = to_dict or (
                    lambda answer: getattr(answer, "to_dict", lambda: answer)()
                )
                print_json(plain(answer))
            else:
                self._print(document or answer.document(), explain=explain)
        finally:
            # Also if the reader of the table closed the pipe (`| head`).
            for option, path in self.files.items():
                write_file(path, partial(option.write, answer, path))

    def _print(self, document: "Document", *, explain: bool) -> None:
        """Print a document: its first line, CSV, Markdown or tables."""
        if is_quiet():
            from calipers.present.terminal import first_line

            print_line(first_line(document), quiet=True)
        elif self.output_format == "markdown":
            from calipers.present.markdown import as_markdown

            click.echo(as_markdown(document, explain=explain), nl=False)
        elif self.output_format == "csv":
            from calipers.present.csv import as_csv

            click.echo(as_csv(document), nl=False)
        else:
            from calipers.present.terminal import print_document

            print_document(document, console(), explain=explain)


def _say(sentence: str) -> None:
    """Print a line on standard error; a name in it may hold anything."""
    from calipers.present.escape import printable

    click.echo(printable(sentence), err=True)


def _asks_for(word: str, args: list[str]) -> list[str] | None:
    """The arguments of another command, if a word asks for it; None if it does not.

    The word is a name (``save``), which stands first; an option that takes nothing
    (``--floor``); or one that takes a value (``--from-traces=FILE``), which is an option of
    the other command too and stays among its arguments.

    >>> _asks_for("save", ["save", "run.jsonl"]), _asks_for("save", ["run.jsonl", "save"])
    (['run.jsonl'], None)
    >>> _asks_for("--floor", ["run.jsonl", "--floor"])
    ['run.jsonl']
    >>> _asks_for("--from-traces=FILE", ["-n", "5", "--from-traces=spans.jsonl"])
    ['-n', '5', '--from-traces=spans.jsonl']
    """
    name, _, takes_value = word.partition("=")
    typed = args if name.startswith("--") else args[:1]
    if takes_value:
        typed = [argument.partition("=")[0] for argument in typed]
    if name not in typed:
        return None
    at = typed.index(name)
    without = [*args[:at], *args[at + 1 :]]
    # Where help follows, help is asked for, and not a file of that name.
    if takes_value and not HELP.intersection(args[at + 1 : at + 2]):
        return args
    return without


def _show_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP = frozenset({"-h", "--help", "--help-all"})
TYPED = "calipers.typed"
"""The arguments of the command that runs, as they were typed."""
HELP_ALL = Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show every option.",
)


class Command(LayeredHelp):
    """A command whose options are the settings of an operation, loaded when needed.

    A list of commands needs only names and help. ``commands`` run instead of it: by their
    name, in a place where a file or a name can also be given, or where an option is given
    (``--floor``). ``answers`` are the options of what it prints, and ``exits`` gives the
    exit code of an answer.
    """

    def __init__(
        self,
        body: Callable[..., None],
        face: Sequence[click.Parameter],
        *,
        operation: Callable[..., object] | str | None = None,
        short_help: str | None = None,
        leave_out: Sequence[str] = (),
        fill: bool = True,
        commands: "Mapping[str, Command] | None" = None,
        exits: Callable[[object], int] | None = None,
        answers: Sequence[click.Parameter] = (EXPLAIN, JSON),
    ) -> None:
        name = body.__name__.strip("_")
        super().__init__(
            name.rpartition("_")[2],
            callback=self._run,
            help=cleandoc(body.__doc__ or ""),
            short_help=short_help,
        )
        self._body = body if signature(body).parameters else _print_answer
        self._face = face
        self._leave_out = leave_out
        self._exits = exits
        self._answers = answers
        self._operation = operation or name
        self._fill = fill
        self.commands = {**(commands or {})}

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        """The context of this command, or of the one that a word or an option asks for."""
        for word, other in self.commands.items():
            rest = _asks_for(word, args)
            if rest is not None:
                return other.make_context(f"{info_name} {word}", rest, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option that is given twice is refused."""
        typed = ctx.meta[TYPED] = list(args)
        self._refuse_twice(ctx, typed)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            # Few calls have words too many or too few.
            from calipers.cli.wrong_words import missing, too_many

            if isinstance(error, click.MissingParameter):
                raise missing(self, ctx, error) from None
            if "unexpected extra argument" not in error.message:
                raise
            raise too_many(self, ctx, typed) from None

    def _refuse_twice(self, ctx: click.Context, words: list[str]) -> None:
        """Refuse an option that is given twice; click would silently drop the first."""
        _, _, typed = self.make_parser(ctx).parse_args(list(words))
        options = [
            parameter for parameter in typed if isinstance(parameter, click.Option)
        ]
        single = [
            option
            for option in options
            if not (option.multiple or option.is_flag or option.count)
        ]
        twice = next((option for option in single if single.count(option) > 1), None)
        if twice is not None and not ctx.resilient_parsing:
            several = ", with commas between several" if twice.metavar == "LIST" else ""
            raise click.UsageError(
                f"{max(twice.opts, key=len)} is given twice, and only one can count; "
                f"give it once{several}."
            )

    @cached_property
    def operation(self) -> Callable[..., object]:
        """The operation that the command runs."""
        if not isinstance(self._operation, str):
            return self._operation
        module, _, name = self._operation.rpartition(":")
        home = import_module(f"calipers.{module}") if module else calipers
        function: Callable[..., Any] = getattr(home, name)
        return function

    @cached_property
    def _offered(self) -> dict[Argument, Setting]:
        """The arguments that the command takes, inputs first."""
        # Imported with the operation, not for a list of commands.
        from calipers.questions.reading import Inputs

        pairs = [
            (argument, argument.setting)
            for argument in arguments(self.operation).values()
            if argument.setting is not None
            if not argument.setting.only or self.name in argument.setting.only.split()
            if argument.name not in self._leave_out
        ]
        inputs = arguments_of(Inputs)
        return dict(sorted(pairs, key=lambda pair: pair[0].name not in inputs))

    @cached_property
    def _made(self) -> list[click.Parameter]:
        parameters: list[click.Parameter] = []
        for argument, setting in self._offered.items():
            parameters.append(parameter_of(argument, setting))
            parameters += (
                text(f"--{name}", "NAME", help_text, group=setting.group)
                for name, help_text in setting.pairs
            )
        every = [*parameters, *self._face, *([CONFIG] if self._is_configured else [])]
        return [*every, *self._answers, *([QUIET] if self._answers else []), HELP_ALL]

    @cached_property
    def _is_configured(self) -> bool:
        """Whether the command takes anything from the settings file."""
        return any(setting.file for setting in self._offered.values())

    @property
    def params(self) -> list[click.Parameter]:
        """The arguments and options."""
        return self._made

    @params.setter
    def params(self, _: list[click.Parameter]) -> None:
        """Ignore what click sets at creation; they are made later."""

    def _run(self, **params: object) -> None:
        check_outputs(params)
        self._answer(params)

    def _answer(self, params: dict[str, Any]) -> CommandInput:
        for argument, setting in self._offered.items():
            for name, _ in setting.pairs:
                if (named_value := params.pop(name)) is not None:
                    params[argument.name] = (
                        *params[argument.name],
                        f"{name}={named_value}",
                    )
        settings = _read(
            {argument.name: params.pop(argument.name) for argument in self._offered},
            self._offered,
        )
        config = params.pop("config") if self._is_configured else None
        params.pop("quiet", None)  # read where the answer is printed
        output_format = params.pop("output_format", None)
        if params.pop("as_json", False):
            output_format = "json"
        named = {
            option: params.pop(option.name)
            for option in self._face
            if isinstance(option, FileOption)
        }
        files = {option: path for option, path in named.items() if path}
        for option, path in files.items():
            check_output(path, option.kind)
        request = CommandInput(
            self.operation,
            settings,
            output_format,
            config,
            frozenset(settings),
            params.pop("explain", False),
            files,
        )
        if self._fill and self._is_configured:
            request.fill()
        token = COMPLETING.set(partial(typed_again, click.get_current_context()))
        try:
            self._body(request, **params)
        finally:
            COMPLETING.reset(token)
        if self._exits is not None and (code := self._exits(request.shown)):
            raise click.exceptions.Exit(code)
        return request


def _print_answer(request: CommandInput) -> None:
    request.show(request.answer())


def command(
    *face: click.Parameter, **how: Any
) -> Callable[[Callable[..., None]], Command]:
    """Make a command from a function that takes a CommandInput and command-line options.

    Its name is the last word of the function's name (gate_save: save), its help the
    docstring. It runs the operation of the same name unless another is named (as
    module:function), and a function without parameters prints the answer. Missing
    settings come from the settings file; without ``fill`` the function does that itself.
    For the other arguments see the class.
    """
    return lambda body: Command(body, face, **how)


def _read(
    params: Mapping[str, object], offered: Mapping[Argument, Setting]
) -> dict[str, object]:
    """Convert the given values for the operation, and leave out the others."""
    return {
        argument.name: _value(argument, value, setting)
        for argument, setting in offered.items()
        if (value := params[argument.name]) is not None
        and value is not False
        and value != ()
    }


def _value(argument: Argument, typed: Any, setting: Setting) -> Any:
    if setting.only_one:
        if len(typed) > 1:
            from calipers.cli.wrong_words import what_is_meant  # few calls have two

            ctx = click.get_current_context()
            own = ctx.command.commands if isinstance(ctx.command, Command) else {}
            how = what_is_meant(ctx, ctx.meta[TYPED], typed, own.get("save"))
            how = how or setting.only_one
            raise InvalidInput(f"Several files are given: {', '.join(typed)}; {how}")
        return typed[0]
    if setting.read is not None:
        return setting.read(typed)
    name = setting.argument.strip("[].") or setting.names(argument.name)[0]
    return convert(argument, typed, f"The option {name}", strict=False)


# Advice that can be pasted: another command for the same files.

INPUTS = ("data", "systems", "ground_truth", "run", "retriever", "config")
OF_RETRIEVERS = ("ask_for", "workers")
NOT_AGAIN = (
    *("save", "html", "markdown", "junit", "per_query", "output", "accept"),
    *("explain", "quiet", "as_json", "output_format", "all"),
)
"""Outputs and formats are not repeated in the next command."""


def typed_again(context: click.Context, words: str) -> str | None:
    """Another command for the same files; None if it does not take them.

    Options that mean the same to the other command are repeated, and files where it names
    none.
    """
    line = split_line(words)
    written = list(takewhile(lambda word: not word.startswith("-"), line))
    while written and " ".join(written) not in every_command():
        written.pop()
    name = " ".join(written)
    rest = line[len(written) :]
    if (target := every_command().get(name)) is None:
        return None
    names_files = bool(rest) and not rest[0].startswith("-")
    takes = {param.name: param for param in target.params}
    if "pilot" in takes:
        takes["systems"] = takes["pilot"]
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not ParameterSource.COMMANDLINE or parameter.name in NOT_AGAIN:
            continue
        value = context.params[parameter.name or ""]
        other = takes.get(parameter.name)
        if names_files and (
            parameter.name in INPUTS
            or isinstance(parameter, click.Argument)
            or parameter.name in OF_RETRIEVERS
        ):
            continue
        if other is None:
            if parameter.name in INPUTS:
                return None
            continue
        means_same = (
            getattr(parameter, "help", "") == getattr(other, "help", "")
            or parameter.name in INPUTS
        )
        if parameter.name == "k":
            # One k fits every command, a list only some; sweep by itself measures every k.
            fits = means_same or str(value).isdigit()
            means_same = fits and not (name == "sweep" and not rest)
        # Tags add up: all of them must hold.
        repeats = parameter.name == "where" or not any(
            flag in rest for flag in other.opts
        )
        if means_same and repeats:
            written += _words(other, value)
    return join_words(["calipers", *written, *rest])


def _words(parameter: click.Parameter, value: object) -> list[str]:
    values = list(value) if isinstance(value, tuple) else [value]
    if isinstance(parameter, click.Argument):
        return [
            str(value) for value in (values[:2] if parameter.name == "pilot" else values)
        ]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return [parameter.opts[0]]
    short = min(parameter.opts, key=len)
    return [word for value in values for word in (short, str(value))]
