"""Commands for queries that are set aside: seal them, and confirm by them."""

import click

from calipers.cli.command import CommandInput, command
from calipers.cli.options import JSON, flag
from calipers.cli.output import console


@command(JSON, short_help="Set queries aside, to confirm by.")
def seal(asked: CommandInput) -> None:
    """Set queries aside: an open part to tune on, a sealed part to confirm by, and its ledger.

    Every other command refuses the sealed part, also where it was copied to; `calipers retrieve`
    may ask its questions, and `calipers confirm` takes a look at a time. It is a ledger and good
    manners, and keeps nothing secret.

    \b
    Examples:
      calipers seal gt.jsonl
      calipers seal gt.jsonl --share 0.3 --cluster intent --by type
    """
    from calipers.questions.seal.show import print_sealed

    found = asked.answer()
    if not asked.is_printed(found):
        print_sealed(found, console())


@command(
    flag("--strict", "Exit with 1 if it is not confirmed."),
    JSON,
    short_help="Ask sealed queries whether a gain is real.",
)
def confirm(asked: CommandInput, strict: bool) -> None:
    """Ask the sealed queries one thing: is NEW better than OLD?

    Both are runs with results for every sealed query. An answer spends one look of the budget in
    the ledger; the same runs and metric asked again get the same answer and spend nothing.
    Exit codes: 0 answered, 1 not confirmed with --strict, 2 nothing was asked.

    \b
    Examples:
      calipers confirm new.jsonl old.jsonl --sealed gt.sealed.jsonl
      calipers confirm new.jsonl old.jsonl --sealed gt.sealed.jsonl -m ndcg@10 --strict
    """
    from calipers.questions.confirm.show import print_confirmation

    found = asked.answer()
    if not asked.is_printed(found):
        print_confirmation(found, console())
    if strict and not found.confirmed:
        raise click.exceptions.Exit(1)
