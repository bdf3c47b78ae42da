"""calipers diagnose: why a retriever fails, and what to do."""

from typing import Any

import click

from calipers.cli.parts import deciding, options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking, reading
from calipers.errors import InvalidInput


@click.command("diagnose", short_help="Look for the known failure modes of a retriever.")
@options.input_options
@click.option(
    "-k",
    "k",
    metavar="K",
    help="How many of the first results to look at. [default: 10, or the longest list]",
)
@click.option(
    "--before", metavar="FILE", help="An earlier run of the same queries: say what changed."
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Compare with --before although ground truth or queries differ; the result says so.",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="NAME=VALUE",
    help="Override a threshold, such as too_wide.recall=0.7; may be given several times.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="TAG",
    help="Look for a collapsed slice by this tag, length or targets only. [default: all]",
)
@options.price_option
@click.option(
    "--tokenizer",
    metavar="PACKAGE:FUNCTION",
    help="Counts the tokens of a text. [default: 'tokens' of the data, else characters / 4]",
)
@deciding.interval_options
@options.matching_options
@options.config_option
@click.option("--rules", "list_rules", is_flag=True, help="List the rules and their thresholds.")
@options.explain_option
@options.json_option
def command(
    config: str | None,
    thresholds: tuple[str, ...],
    by: tuple[str, ...],
    list_rules: bool,
    explain: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Look for the known failure modes of a retriever, with evidence and what to do.

    DATA is a file that holds results and ground truth; or give --ground-truth and --run; or
    questions and --retriever.

    \b
    Examples:
      calipers diagnose evals.jsonl
      calipers diagnose evals.jsonl -k 20 --price 2.50
      calipers diagnose new.jsonl --before old.jsonl -g gt.jsonl
      calipers diagnose evals.jsonl --threshold too_wide.recall=0.7
    """
    from calipers.questions.diagnose.settings import diagnose, rules

    if list_rules:
        listed = rules()
        if as_json:
            print_json(listed)
        else:
            from calipers.questions.diagnose.show import print_rules

            print_rules(listed, console())
        return
    given = options.largest_k(options.filled(config, **settings))
    with reading() as progress:
        diagnosis = diagnose(
            thresholds=_numbers(thresholds), by=by or None, progress=progress, watch=asking, **given
        )
    if as_json:
        print_json(diagnosis.to_dict())
    else:
        from calipers.questions.diagnose.show import print_diagnosis

        print_diagnosis(diagnosis, console(), explain=explain)


def _numbers(pairs: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for pair in pairs:
        name, equals, number = pair.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InvalidInput(
                f"The threshold {pair!r} cannot be read; write name=value, such as "
                "too_wide.recall=0.7."
            )
    return found
