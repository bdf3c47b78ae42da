"""Claims as they are shown: one look on a terminal, in Markdown and on a page."""

from collections.abc import Sequence
from html import escape

from rich.console import Console
from rich.text import Text

from calipers.model.claim import Claim, Standing
from calipers.present.escape import for_markdown, printable

STYLES: dict[Standing, str] = {
    "better": "bold green",
    "worse": "bold red",
    "cannot_tell": "bold yellow",
    "passed": "bold green",
    "failed": "bold red",
}
"""A colour helps who sees it; the sign and the words say the same without."""


def print_claims(claims: Sequence[Claim], console: Console) -> None:
    """Each fact with its standing; under it what is possible and what would settle it."""
    for claim in claims:
        line = Text(f"{claim.sign} ", STYLES[claim.standing])
        line.append(printable(claim.line[2:]), "bold")
        console.print(line)
        for further in (claim.possible, claim.next):
            if further:
                console.print(Text(f"  {printable(further)}"))


def claims_markdown(claims: Sequence[Claim]) -> str:
    """The same as a list."""
    lines = []
    for claim in claims:
        further = " ".join(for_markdown(one) for one in (claim.possible, claim.next) if one)
        lines.append(f"- **{for_markdown(claim.line)}**{'. ' + further if further else ''}")
    return "\n".join(lines) + "\n" if lines else ""


def claims_html(claims: Sequence[Claim]) -> str:
    """The same as a part of a page."""
    items = []
    for claim in claims:
        further = "".join(
            f"<br>{escape(printable(one))}" for one in (claim.possible, claim.next) if one
        )
        sign = f'<span class="sign {claim.standing}">{claim.sign}</span>'
        items.append(
            f"<li>{sign} <strong>{escape(printable(claim.line[2:]))}</strong>{further}</li>"
        )
    return f'<ul class="claims">{"".join(items)}</ul>' if items else ""
