"""calipers calls: what does each further call of the retriever add?"""

from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking, reading


@click.command("calls", short_help="Show what each further call of an agent adds.")
@options.input_options
@click.option("-k", "k", type=int, help="How many results of each call count. [default: all]")
@options.matching_options
@options.config_option
@options.explain_option
@options.json_option
@options.printed_as("csv", "Print every call as CSV.")
def command(
    k: int | None,
    config: str | None,
    explain: bool,
    as_json: bool,
    as_csv: bool,
    **settings: Any,
) -> None:
    """Show recall after the first call of the retriever, after the second, and so on.

    An agent may search several times for one question. Every result says in 'call' which search
    returned it, numbered from 1; traces are read so.

    \b
    Examples:
      calipers calls agent.jsonl
      calipers calls traces.jsonl -g questions.jsonl -k 5
    """
    from calipers.questions.calls.settings import calls
    from calipers.questions.calls.show import calls_csv, print_calls

    # A k in the settings file is for rankings, and here it counts the results of each call.
    given = options.filled(config, **settings)
    with reading() as progress:
        found = calls(k=k, progress=progress, watch=asking, **given)
    if as_json:
        print_json(found.to_dict())
    elif as_csv:
        click.echo(calls_csv(found), nl=False)
    else:
        print_calls(found, console(), explain=explain)
