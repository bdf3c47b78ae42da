"""What a lead does through the API: links for people, conflicts that are settled, exports."""

from dataclasses import asdict
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from calipers.errors import InvalidInput
from calipers.store.label_pools import check_judge
from calipers.store.pool import PoolChange
from calipers.web.api import Request_, answer, body, desk_of, in_thread
from calipers.web.login import Doors, Role


class Invited(msgspec.Struct, forbid_unknown_fields=True):
    """Somebody who gets a new link, or is shut out."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    role: Role | None = None
    """None: the role that they have, or else that of a judge."""
    out: bool = False
    """End every session and the link of this person instead."""


class Settled(msgspec.Struct, forbid_unknown_fields=True):
    """A grade that settles what judges differ on."""

    request: Request_
    item: int
    grade: float


class Changed(msgspec.Struct, forbid_unknown_fields=True):
    """A pool that is to be closed, opened again or deleted."""

    change: PoolChange
    why: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None


def routes() -> list[Route]:
    """Every address of a lead's work."""
    return [
        Route("/api/v1/people", people),
        Route("/api/v1/people", invite, methods=["POST"]),
        Route("/api/v1/pools/{number:int}/settle", settle, methods=["POST"]),
        Route("/api/v1/pools/{number:int}/change", change_pool, methods=["POST"]),
    ]


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
        doors.shut_out(wanted.name)
        return answer({"name": wanted.name, "role": None, "link": None})
    name = check_judge(wanted.name)
    link = request.app.state.address.link(doors.invite(name, wanted.role))
    return answer({"name": name, "role": doors.roles[name], "link": link}, 201)


async def settle(request: Request) -> Response:
    """Settle a conflict; it is on disk when this is answered."""
    wanted: Settled = await body(request, Settled)
    desk, who = desk_of(request), request.state.judge

    def write() -> dict[str, Any]:
        entry = desk.give(who, wanted.item, wanted.grade, kind="settle", request=wanted.request)
        return {"saved": entry.to_dict()}

    return answer(await in_thread(write))


async def change_pool(request: Request) -> Response:
    """Close a pool, open it again or delete what it holds; the log says who did it."""
    wanted: Changed = await body(request, Changed)
    desk, who = desk_of(request), request.state.judge
    await in_thread(lambda: desk.change(wanted.change, who, wanted.why))
    return answer({"pool": desk.content.number, "change": wanted.change})
