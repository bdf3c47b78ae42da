"""What a settings file may do that nobody named: of another user, or outside of the repository."""

import re
from collections.abc import Mapping
from typing import Any

from calipers.config import Config
from calipers.errors import InvalidInput
from calipers.shell import join_words

WRITES = ("junit", "markdown")
"""Files that the table [gate] may name."""
_SECRET = re.compile(r"//[^@/\s]*@")


def introduced(
    file: Config, found: Mapping[str, Any], keys: Mapping[str, str], *, gate: bool
) -> str:
    """A sentence about such a file and what it sets; one that would run code is refused."""
    said = {keys[name]: value for name, value in found.items()}
    if runs_code(said.get("retriever")):
        refuse_code(file, f"retriever = {said['retriever']!r}", "--config")
    said |= {name: file.gate[name] for name in WRITES if gate and name in file.gate}
    asks = _SECRET.sub("//***@", ", ".join(f"{name} = {one!r:.200}" for name, one in said.items()))
    return f"{file.path} {file.stranger}; it sets {asks or 'nothing for this command'}."


def refuse_code(file: Config, what: str, named_by: str) -> None:
    """Refuse to run what such a file names."""
    if file.stranger:
        raise InvalidInput(
            f"{file.path} {file.stranger}, and it would run code: {what}. Look at it, and if you "
            f"trust it name it yourself: {named_by} {join_words([str(file.path)])}"
        )


def runs_code(retriever: Any) -> bool:
    """Whether a retriever is a program on this machine, and no address.

    >>> runs_code("search:search"), runs_code("cmd:./search"), runs_code("https://host/q={query}")
    (True, True, False)
    """
    if not isinstance(retriever, str):
        return False
    return not retriever.removeprefix("mcp:").startswith(("http://", "https://"))
