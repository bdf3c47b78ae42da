"""A server on this machine that answers like the part of GitHub's API that comments need."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import JsonHandler, LoopbackServer, serving


@dataclass
class GitHub:
    """The comments of one pull request, and what was asked."""

    address: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    refuse: int | None = None
    login: str | None = None
    """Whose the token is; an app, which may not ask, where there is no name."""


@contextmanager
def running() -> Iterator[GitHub]:
    state = GitHub()

    class Handler(JsonHandler):
        def answer(self) -> None:
            parts = urlsplit(self.path)
            state.requests.append((self.command, self.path))
            body = self.body()
            if state.refuse or self.headers["Authorization"] != "Bearer ghs_secret":
                return self.send(state.refuse or 401, {"message": "Resource not accessible"})
            if parts.path == "/repos/acme/search/issues/7/comments" and self.command == "GET":
                asked = parse_qs(parts.query)
                size, page = (int(asked[name][0]) for name in ("per_page", "page"))
                return self.send(200, state.comments[(page - 1) * size : page * size])
            if parts.path == "/repos/acme/search/issues/7/comments" and self.command == "POST":
                kind = "User" if state.login else "Bot"
                user = {"login": state.login or "github-actions[bot]", "type": kind}
                made = {"id": 1000 + len(state.comments), "body": body["body"], "user": user}
                state.comments.append(made)
                return self.send(201, made)
            if parts.path == "/user" and state.login:
                return self.send(200, {"login": state.login})
            found = re.fullmatch(r"/repos/acme/search/issues/comments/(\d+)", parts.path)
            if found and self.command == "PATCH":
                one = next(c for c in state.comments if c["id"] == int(found[1]))
                one["body"] = body["body"]
                return self.send(200, one)
            return self.send(404, {"message": "Not Found"})

        do_GET = do_POST = do_PATCH = answer  # noqa: N815

    with serving(LoopbackServer(Handler)) as server:
        state.address = server.address
        yield state
