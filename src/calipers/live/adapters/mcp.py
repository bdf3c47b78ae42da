"""The search tool of an MCP server as a retriever: over the pipes of a command, or over HTTP.

Each worker keeps one connection and one event loop, which runs while it asks. What a server says on
standard error is kept for the error that it may end in, and never reaches the terminal.
"""

import asyncio
import logging
import os
import ssl
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from calipers.errors import InvalidInput, MissingExtra, said_by
from calipers.live.adapters.base import WORKERS, Question, Retriever
from calipers.live.adapters.command import TAIL_LINES, listen, shown_words, words_of
from calipers.live.adapters.http import header_marks, read_address, shown_address
from calipers.live.adapters.mcp_tool import Arguments, arguments_for, chosen_tool, read_result
from calipers.live.adapters.request import RequestTemplate
from calipers.live.adapters.secrets import secrets_in, without_secrets
from calipers.live.answers import Layout
from calipers.live.code import code_of_files
from calipers.live.failures import LARGEST_ANSWER, TOO_LARGE, AskFailed, beginning, explain
from calipers.version import __version__, pip_install

MOST_PAGES = 100
"""Pages of tools to read; a server that never ends its list is not followed for ever."""
GOODBYE_SECONDS = 3.0
"""How long servers may take to end after Ctrl-C."""


def from_mcp(
    target: str,
    *,
    request: Any = None,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    layout: Layout | None = None,
) -> Retriever:
    """A retriever that is a tool of an MCP server: ``command#tool`` or ``http://host/mcp#tool``.

    The arguments for the question and for the number of results are found in the tool's schema,
    ``params`` are further ones; or ``request`` says them all.
    """
    try:
        import mcp  # noqa: F401 - the official library, told here so that no question fails of it
    except ImportError:
        raise MissingExtra(
            f"A tool of an MCP server needs the library mcp 2 or newer: {pip_install('mcp')}"
        ) from None
    # What the library logs holds the server's own text, which is for those who ask for it.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    place, _, tool = target.rpartition("#") if "#" in target else (target, "", "")
    layout = layout or Layout()
    secrets = secrets_in(params)
    template = None if request is None else RequestTemplate.read(request, secrets)
    if template is not None and (params or not isinstance(template.value, dict)):
        raise InvalidInput(
            "The request of an MCP tool is an object that holds all of its arguments, so there are "
            'no parameters beside it; write --request \'{"query": "{query}", "limit": "{k}"}\'.'
        )
    by_http = place.startswith(("http://", "https://"))
    connect: Callable[[AsyncExitStack, deque[bytes]], Any]
    if by_http:
        parts, sent = read_address(place, headers or {}, secrets)
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        shown, words = shown_address(place), []
        connect = lambda held, _: _by_http(held, address, sent)  # noqa: E731
    else:
        if headers:
            raise InvalidInput("The option 'headers' means nothing for the command of an MCP tool.")
        words = words_of(place, "mcp:./server#search")
        arguments = [secrets.expand(word, "the command") for word in words]
        shown = shown_words(words, secrets)
        connect = lambda held, said: _by_pipes(held, arguments, said)  # noqa: E731
    name = f"mcp:{shown}#{tool}" if tool else f"mcp:{shown}"
    settings = {
        "retriever": name,
        **({"headers": header_marks(headers)} if headers else {}),
        **({"request": without_secrets(template.source)} if template else {}),
        **({"params": without_secrets(params)} if params else {}),
        **layout.to_dict(),
    }
    server = _Server(connect, tool, template, dict(params or {}), layout.results is not None)
    return Retriever(
        name=name,
        settings=settings,
        open=server.open,
        code=code_of_files(words),
        layout=layout,
        secrets=secrets,
        # As with any command: each worker starts a process of its own.
        workers=WORKERS if by_http else 1,
        keeps_time=True,
        close=server.close,
    )


@dataclass(eq=False)
class _Server:
    """What every session needs, and which of them are open."""

    connect: Callable[[AsyncExitStack, deque[bytes]], Any]
    tool: str
    template: RequestTemplate | None
    params: dict[str, Any]
    paths: bool
    """Whether the caller says where the results are."""
    sessions: "set[_Session]" = field(default_factory=set)

    def open(self) -> "_Session":
        session = _Session(self)
        self.sessions.add(session)
        return session

    def close(self) -> None:
        """End what is still open, as after Ctrl-C; a process that is left would live on."""
        for session in list(self.sessions):
            session.interrupt()
        until = time.monotonic() + GOODBYE_SECONDS
        while self.sessions and time.monotonic() < until:
            time.sleep(0.02)


class _Session:
    """One connection, made when needed and again after it failed."""

    def __init__(self, server: _Server) -> None:
        self.server = server
        self.loop = asyncio.new_event_loop()
        self.said: deque[bytes] = deque(maxlen=TAIL_LINES)
        self.held: asyncio.Task[None] | None = None
        self.asking: asyncio.Task[Any] | None = None
        self.answered = False

    def ask(self, questions: Sequence[Question], k: int, timeout: float | None) -> Sequence[Any]:
        return [self._run(self._one(question.text, k, timeout)) for question in questions]

    def close(self) -> None:
        self._run(self._drop())
        self.loop.close()
        self.server.sessions.discard(self)

    def interrupt(self) -> None:
        asking = self.asking
        if asking is not None:
            with suppress(RuntimeError):  # The loop may just have been closed.
                self.loop.call_soon_threadsafe(asking.cancel)

    def _run(self, work: Any) -> Any:
        self.asking = self.loop.create_task(work)
        return self.loop.run_until_complete(self.asking)

    async def _one(self, query: str, k: int, timeout: float | None) -> Any:
        try:
            async with asyncio.timeout(timeout):
                if self.held is None:
                    await self._connect()
                call = self.client.call_tool(self.tool, self.arguments(query, k))
                answer = read_result(await self._before_it_ends(call), self.server.paths)
        except TimeoutError:
            await self._drop()
            raise AskFailed(
                "timeout",
                f"no answer within {timeout:g} s{self._last_words()}",
                retry=self.answered,
                # Where not one answer ever came, none will.
                hopeless=not self.answered,
            ) from None
        except AskFailed:
            raise
        except Exception as error:
            await self._drop()
            raise self._explained(error) from error
        self.answered = True
        return answer

    async def _connect(self) -> None:
        ready = self.loop.create_future()
        self.leave = asyncio.Event()
        self.held = self.loop.create_task(self._hold(ready))
        self.client, tools = await self._before_it_ends(ready)
        try:
            chosen = chosen_tool(self.server.tool, tools)
            template = self.server.template
            self.arguments: Arguments = (
                arguments_for(chosen, self.server.params) if template is None else template.filled
            )
        except AskFailed:
            await self._drop()
            raise
        self.tool = chosen.name

    async def _hold(self, ready: "asyncio.Future[Any]") -> None:
        """Connected from here on until somebody leaves, all in one task as the library wants it."""
        from mcp import Client
        from mcp.types import Implementation

        async with AsyncExitStack() as held:
            transport = await self.server.connect(held, self.said)
            about = Implementation(name="calipers", version=__version__)
            client = await held.enter_async_context(Client(transport, client_info=about))
            tools, cursor = [], None
            for _ in range(MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
            if not ready.done():
                ready.set_result((client, tools))
            await self.leave.wait()

    async def _before_it_ends(self, awaited: Any) -> Any:
        """What comes, or why the connection ended before."""
        call = asyncio.ensure_future(awaited)
        held = self.held
        try:
            await asyncio.wait({call, held} if held else {call}, return_when="FIRST_COMPLETED")
            if call.done():
                return call.result()
        finally:
            call.cancel()
        if held is not None:
            await held
        raise AskFailed("mcp", "the server closed the connection" + self._last_words(), retry=True)

    async def _drop(self) -> None:
        held, self.held = self.held, None
        if held is not None:
            self.leave.set()
            if not self.answered:
                # It may never have come so far as to wait.
                held.cancel()
            await asyncio.wait({held})
            if not held.cancelled():
                held.exception()

    def _last_words(self) -> str:
        said = b" / ".join(b" ".join(one.split()) for one in self.said if one)
        return f"; its last words: {beginning(said, 300)}" if said else ""

    def _explained(self, error: BaseException) -> AskFailed:
        from mcp import MCPError
        from pydantic import ValidationError

        never = not hasattr(self, "tool")
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, ValidationError):
            wrong = error.errors()[0]
            place = ".".join(map(str, wrong["loc"])) or "it"
            return AskFailed(
                "bad answer",
                f"the answer is not one of MCP: {place} {wrong['msg']:.100}",
                hopeless=never,
            )
        if isinstance(error, MCPError):
            said = " ".join(said_by(error).split())
            return AskFailed(
                "mcp",
                f"the server answered with error {error.code}: {beginning(said, 300)}"
                + self._last_words(),
                hopeless=never,
            )
        if isinstance(error, FileNotFoundError | PermissionError):
            return AskFailed(
                "command",
                f"the command of the server cannot be started: {error.strerror}; give the path of "
                "a program that exists and may be run",
                hopeless=never,
            )
        failed = explain(error)
        said = failed.sentence + self._last_words()
        return AskFailed(failed.kind, said, retry=failed.retry, hopeless=never)


async def _by_pipes(held: AsyncExitStack, arguments: list[str], said: deque[bytes]) -> Any:
    from mcp import StdioServerParameters, stdio_client

    said.clear()
    reading, writing = os.pipe()
    errors = held.enter_context(os.fdopen(writing, "w"))
    threading.Thread(
        target=listen, args=(os.fdopen(reading, "rb"), said.append), daemon=True
    ).start()
    about = StdioServerParameters(
        command=arguments[0],
        args=arguments[1:],
        env=dict(os.environ),
        encoding_error_handler="replace",
    )
    return stdio_client(about, errlog=errors)


async def _by_http(held: AsyncExitStack, address: str, headers: dict[str, str]) -> Any:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Limited(httpx2.AsyncHTTPTransport):
        """No more than an answer may have; and nothing packed, which could be a thousand times."""

        async def handle_async_request(self, request: Any) -> Any:
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                raise AskFailed("bad answer", "the server packs its answer, which nobody asked for")
            whole: Any = response.stream

            class Counted(httpx2.AsyncByteStream):
                async def __aiter__(self) -> AsyncIterator[bytes]:
                    length = 0
                    async for piece in whole:
                        length += len(piece)
                        if length > LARGEST_ANSWER:
                            raise AskFailed("bad answer", TOO_LARGE)
                        yield piece

                async def aclose(self) -> None:
                    await whole.aclose()

            response.stream = Counted()
            return response

    client = httpx2.AsyncClient(
        # The content types are the library's to say.
        headers={
            **{n: v for n, v in headers.items() if n != "Accept"},
            "Accept-Encoding": "identity",
        },
        transport=Limited(verify=ssl.create_default_context()),
        timeout=None,
        trust_env=False,
    )
    return streamable_http_client(address, http_client=await held.enter_async_context(client))
