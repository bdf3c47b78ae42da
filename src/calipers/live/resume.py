"""The run file of before: whose it is, and whether it is continued, kept or asked again.

A run that was interrupted is continued, as long as nothing changed that decides its answers.
A finished one is asked again, because a retriever is measured again when it was worked on; the
file of before is kept beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput

FORMAT = "calipers run 1"
IDENTITY = ("retriever", "make", "search")
"""The settings that name the retriever; a file of another one is never asked again."""


class Meta(msgspec.Struct, omit_defaults=True):
    """What stands beside a run file."""

    format: str
    calipers: str
    settings: dict[str, Any]
    complete: bool = False
    report: dict[str, Any] | None = None
    code: dict[str, str] = {}
    """The fingerprint of each file that the retriever is written in."""


@dataclass(frozen=True)
class Wish:
    """What the caller wants of a file that exists; at most one of the first three is true."""

    restart: bool = False
    resume: bool = False
    keep: bool = False
    retry_errors: bool = False
    afresh: bool = False
    """Whether a run that does not fit is set aside and asked again, where it would be refused."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant together."""
        given = [name for name in ("restart", "resume", "keep") if getattr(self, name)]
        if len(given) > 1:
            raise InvalidInput(
                f"Both {given[0]} and {given[1]} are given; restart begins again, resume goes on "
                "with the file as it is, keep asks again only where something changed: give one."
            )


@dataclass(frozen=True)
class Fate:
    """What becomes of the file."""

    emptied: bool = False
    """Whether its content goes away."""
    set_aside: bool = False
    """Whether it is kept under another name, and a new one is begun."""
    said: str | None = None
    """What the report says about it."""


def meta_path(path: Path) -> Path:
    """Where the settings of a run file stand."""
    return path.with_name(path.name + ".meta.json")


def backup_path(path: Path) -> Path:
    """Where the run file of before is kept when it is asked again."""
    return path.with_name(path.name + ".bak")


def read_meta(path: Path) -> Meta | None:
    """What stands beside a run file; None where nothing does, or nothing that we wrote."""
    try:
        meta = msgspec.json.decode(meta_path(path).read_bytes(), type=Meta)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError):
        return None
    return meta if meta.format == FORMAT else None


def fate_of(path: Path, settings: Mapping[str, Any], code: Mapping[str, str], wish: Wish) -> Fate:
    """What becomes of an output that may exist; one that is not ours to replace is refused."""
    meta = _owned(path)
    if meta is None or not path.exists() or not path.stat().st_size:
        return Fate(emptied=wish.restart)
    if wish.restart:
        return Fate(emptied=True)
    changed, rewritten = _changed(meta, settings), _rewritten(meta, code)
    goes_on = wish.resume or wish.retry_errors or not meta.complete
    other = any(meta.settings.get(name) != settings.get(name) for name in IDENTITY)
    aside = Fate(
        set_aside=True,
        said=f"The {'finished' if meta.complete else 'interrupted'} run of before is kept in "
        f"{backup_path(path)}.",
    )
    if wish.afresh and (changed or (rewritten and not wish.retry_errors)):
        return aside
    if changed and (goes_on or other):
        raise InvalidInput(
            f"The output {path} belongs to another run: {'; '.join(changed)}. Give the same "
            "settings to go on with it, name another output, or replace it with --restart "
            "(restart=True)."
        )
    if wish.resume or wish.retry_errors:
        said = f"{rewritten} since the first of these answers were given." if rewritten else None
        return Fate(said=said)
    if not meta.complete:
        if rewritten:
            raise InvalidInput(
                f"The output {path} holds a run that was interrupted, and {rewritten} since. Begin "
                "again with --restart (restart=True), or go on and keep the answers it has with "
                "--resume (resume=True)."
            )
        return Fate()
    if wish.keep and not changed and not rewritten:
        return Fate()
    return aside


def _owned(path: Path) -> Meta | None:
    """What stands beside the file. A file that is no run may be the questions themselves."""
    beside = meta_path(path)
    if not beside.exists():
        if path.exists() and path.stat().st_size:
            raise InvalidInput(
                f"The output {path} exists and was not written by `calipers retrieve` (there is no "
                f"{beside.name} beside it); name another file, or remove it."
            )
        return None
    meta = read_meta(path)
    if meta is None:
        raise InvalidInput(
            f"The file {beside} does not say to which run {path.name} belongs; name another "
            "output, or remove both."
        )
    return meta


def _changed(meta: Meta, settings: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} was {_said(meta.settings.get(name))} and is {_said(settings.get(name))}"
        for name in dict.fromkeys((*meta.settings, *settings))
        if meta.settings.get(name) != msgspec.to_builtins(settings.get(name))
    ]


def _rewritten(meta: Meta, code: Mapping[str, str]) -> str | None:
    """Which of the retriever's files changed, in words; None where none did."""
    if not meta.code or meta.code == code:
        return None
    names = [
        name for name in dict.fromkeys((*meta.code, *code)) if meta.code.get(name) != code.get(name)
    ]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more} {'has' if len(names) == 1 else 'have'} changed"


def _said(value: Any) -> str:
    text = "not set" if value is None else msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else text[:79] + "…"
