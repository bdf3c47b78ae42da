"""What a lead does through the API: links for people, conflicts that are settled, exports."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from calipers.errors import InvalidInput
from calipers.labels.desk import Desk
from calipers.labels.take import write_every_label
from calipers.store.label_pools import check_judge
from calipers.store.pool import PoolChange
from calipers.web import parameters as asked
from calipers.web.api import Request_, answer, body, desk_of, in_thread
from calipers.web.login import Doors, Role
from calipers.web.pages_team import page_of

KINDS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
"""What labels are written as."""


class Invited(msgspec.Struct, forbid_unknown_fields=True):
    """Somebody who gets a new link, or is shut out."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    role: Role | None = None
    """None: the role that they have, or else that of a judge."""
    out: bool = False
    """End every session and the link of this person instead."""


class Settling(msgspec.Struct, forbid_unknown_fields=True):
    """A grade that settles what judges differ on."""

    request: Request_
    item: int
    grade: float | None
    """None: open it again."""


class Changed(msgspec.Struct, forbid_unknown_fields=True):
    """A pool that is to be closed, opened again or deleted."""

    change: PoolChange
    why: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None


def _doors(request: Request) -> Doors:
    doors: Doors = request.app.state.doors
    return doors


def people(request: Request) -> Response:
    """Everybody who may come in, and whether they did."""
    found = [asdict(one) for one in _doors(request).people()]
    return answer({"people": found})


async def invite(request: Request) -> Response:
    """A new link for a person, while the server runs; nobody is signed out by that."""
    wanted: Invited = await body(request, Invited)
    doors = _doors(request)
    if wanted.out:
        if wanted.name not in doors.roles:
            raise InvalidInput(f"Nobody called {wanted.name!r:.60} may come in.")
        await in_thread(lambda: doors.shut_out(wanted.name))
        return answer({"name": wanted.name, "role": None, "link": None})
    name = check_judge(wanted.name)
    token = await in_thread(lambda: doors.invite(name, wanted.role))
    link = request.app.state.address.link(token)
    return answer({"name": name, "role": doors.roles[name], "link": link}, 201)


async def settle(request: Request) -> Response:
    """Settle a conflict; it is on disk when this is answered."""
    wanted: Settling = await body(request, Settling)
    desk, who = desk_of(request), request.state.judge

    def write() -> dict[str, Any]:
        if wanted.grade is None:
            entry = desk.reopen(who, wanted.item, wanted.request)
        else:
            entry = desk.give(who, wanted.item, wanted.grade, kind="settle", request=wanted.request)
        return {"saved": entry.to_dict()}

    return answer(await in_thread(write))


async def change_pool(request: Request) -> Response:
    """Close a pool, open it again or delete what it holds; the log says who did it."""
    wanted: Changed = await body(request, Changed)
    desk, who = desk_of(request), request.state.judge
    await in_thread(lambda: desk.change(wanted.change, who, wanted.why))
    return answer({"pool": desk.content.number, "change": wanted.change})


def agreement(request: Request) -> Response:
    """How far the judges agree, and a page of where they do not."""
    found = desk_of(request).agreement(machines=asked.switch(request, "machines"))
    listed = page_of(found.conflicts, asked.whole(request, "page"))
    agreed = None if found.agreement is None else found.agreement.to_dict()
    if agreed is not None:
        # Each of them stands among the conflicts, with what settled it.
        agreed.pop("disagreements")
    shown = [one.to_dict() for one in listed.rows]
    if request.state.role != "lead":
        for one in shown:
            one.pop("notes")
    return answer(
        {
            "agreement": agreed,
            "conflicts": shown,
            "page": listed.page,
            "pages": listed.pages,
            "total": listed.total,
            "open": len(found.open),
        }
    )


def labels(request: Request) -> Response:
    """Every label with its judge, quote, note and time, as a file that can be imported again."""
    form = asked.words(request, "as", "jsonl")
    if form not in KINDS:
        raise InvalidInput(f"as is {form[:40]!r}; it can be {', '.join(KINDS)}.")
    desk = desk_of(request)
    return _download(desk, f"-labels.{form}", KINDS[form], lambda at: write_every_label(desk, at))


def export(request: Request) -> Response:
    """The ground truth with the labels, as a file to keep."""
    desk, machines = desk_of(request), asked.switch(request, "machines")
    return _download(desk, ".jsonl", KINDS["jsonl"], lambda at: desk.export(at, machines=machines))


def _download(desk: Desk, ending: str, kind: str, write: Callable[[Path], object]) -> Response:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ending}"
        write(path)
        content = path.read_bytes()
    plain = "".join(one if one.isascii() and one.isalnum() else "-" for one in desk.name)[:60]
    name = f'attachment; filename="{plain or "pool"}{ending}"'
    return Response(content, media_type=kind, headers={"content-disposition": name})
