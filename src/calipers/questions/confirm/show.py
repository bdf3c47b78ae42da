"""A confirmation on a terminal: the claim."""

from rich.console import Console

from calipers.present.terminal import print_claims, show_with
from calipers.questions.confirm.rule import Confirmation


def print_confirmation(found: Confirmation, console: Console) -> None:
    """The answer, and what is left of the budget."""
    print_claims([found.claim], console)


show_with(Confirmation, print_confirmation)
