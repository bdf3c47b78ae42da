"""Locate a history: a file or a database, named by the user or found from the working folder."""

import os
import re
from dataclasses import field
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from calipers.config import STORE as VARIABLE
from calipers.config import find_config
from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass

Where = str | os.PathLike[str] | None
"""A history as a caller names it: a path or an address; None looks it up (see
``locate``)."""

FOLDER = ".calipers"
FILE = "history.db"
HIDDEN = "***"
ALLOWED = "a path, or postgresql://user@host/database"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SECRET_PARAMETER = re.compile(
    r"([?&][^=&]*(?:pass|secret|key|token)[^=&]*=)([^&#\s]*)", re.I
)
_WORDS = re.compile(r"(\b(?:password|passfile|sslpassword)\s*=\s*)('[^']*'|\S+)", re.I)


@dataclass(frozen=True)
class StorePlace:
    """The location of a history: its type of database, and its address with and without secrets."""

    kind: Literal["sqlite", "postgresql"]
    shown: str
    """The path or address for display, without secrets."""
    path: Path | None = None
    address: str = field(default="", repr=False)
    """The full address with secrets; never show it."""

    def redact(self, text: str) -> str:
        """Remove the password from a driver's message, however the driver writes it."""
        for secret in _secrets(self.address):
            for form in (secret, quote(secret, safe=""), unquote(secret)):
                text = text.replace(form, HIDDEN)
        return _WORDS.sub(rf"\1{HIDDEN}", text)


def locate(
    address: str | os.PathLike[str] | None = None, *, create: bool = False
) -> StorePlace:
    """Locate the history: from the caller, the environment, the configuration or a parent folder.

    With ``create`` a history that does not exist yet is placed next to ``.git``, or in
    the working folder.
    """
    if address is not None:
        return place_of(os.fspath(address))
    if named := os.environ.get(VARIABLE, "").strip():
        return place_of(named)
    if (configured := find_config().shared.get("store")) is not None:
        return place_of(configured)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FOLDER / FILE).is_file():
            return _file(folder / FOLDER / FILE)
    if not create:
        raise UnreadableFile(
            f"There is no history: no {FOLDER}/{FILE} in {here} or in a folder above it. "
            "Save an evaluation with `calipers eval … --save NAME`, or name a history "
            f"with --store or {VARIABLE}."
        )
    roots = [folder for folder in (here, *here.parents) if (folder / ".git").exists()]
    return _file((roots[0] if roots else here) / FOLDER / FILE)


def place_of(text: str) -> StorePlace:
    """Parse a path or an address.

    >>> place_of("postgres://ann:secret@db/team").shown
    'postgresql://ann:***@db/team'
    >>> place_of("mysql://ann:secret@db/team")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The history mysql://ann:***@db/team is in a database that \
Calipers cannot use; a history is a path, or postgresql://user@host/database.
    """
    scheme_match = _SCHEME.match(text)
    if not text.strip() or "\x00" in text:
        raise InvalidInput(
            f"The history cannot be called {text[:60]!r}; it is {ALLOWED}."
        )
    if not scheme_match:
        return _file(Path(os.path.expanduser(text)))  # noqa: PTH111 - leaves an unknown user as is
    scheme = scheme_match[1].lower()
    rest = text[scheme_match.end() :]
    if scheme in ("postgres", "postgresql") or scheme.startswith("postgresql+"):
        return _postgresql(rest)
    raise InvalidInput(
        f"The history {without_password(text)} is in a database that Calipers cannot "
        f"use; a history is {ALLOWED}."
    )


def without_password(address: str) -> str:
    """The address for display, with the password and parameters that look secret hidden.

    >>> without_password("postgresql://ann:p@ss/w:rd@db:5432/team?sslpassword=x&sslmode=require")
    'postgresql://ann:***@db:5432/team?sslpassword=***&sslmode=require'
    """
    scheme, separator, rest = address.partition("://")
    # A password may contain an at sign: everything before the last one belongs to it.
    before, _, query = rest.partition("?")
    user, at, host = before.rpartition("@")
    name, colon, _ = user.partition(":")
    shown = f"{name}{colon}{HIDDEN if colon else ''}{at}{host}" + (
        f"?{query}" if query else ""
    )
    return scheme + separator + _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", shown)


def _secrets(address: str) -> list[str]:
    _, _, rest = address.partition("://")
    before, _, query = rest.partition("?")
    user = before.rpartition("@")[0]
    secrets = [user.partition(":")[2]]
    secrets += [value for _, value in _SECRET_PARAMETER.findall(f"?{query}")]
    return [secret for secret in secrets if secret]


def _postgresql(rest: str) -> StorePlace:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    address = f"postgresql+psycopg://{rest}"
    shown = without_password(f"postgresql://{rest}")
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    if url is None or not url.database:
        raise InvalidInput(
            f"The history {shown} is no address of a database; write "
            "postgresql://user@host:5432/database, with special characters of the "
            "password as %40 and the like."
        )
    return StorePlace("postgresql", shown, address=address)


def _file(path: Path) -> StorePlace:
    absolute = path.absolute()
    here = Path.cwd()
    shown = absolute.relative_to(here) if absolute.is_relative_to(here) else absolute
    return StorePlace("sqlite", str(shown), path=absolute)
