"""The search tool of an MCP server as a retriever: over a command's pipes, or over HTTP.

The official library speaks the protocol. Every worker has its own connection, and all of them
live in one event loop. A server's standard error is kept for error messages and never printed.
"""

import concurrent.futures as futures
import logging
import os
import re
import ssl
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from typing import Any

import msgspec

from calipers.errors import InvalidInput, MissingExtra, said_by
from calipers.io.records.documents import BadDocument, results_in
from calipers.live.adapters.base import (
    WORKERS,
    Question,
    Retriever,
    Session,
    secrets_in,
    settings_of,
)
from calipers.live.adapters.callable import K_NAMES
from calipers.live.adapters.command import TAIL_LINES, listen, shown_words, words_of
from calipers.live.adapters.http import RequestTemplate, header_marks, read_address, shown_address
from calipers.live.answers import Layout
from calipers.live.code import code_of_files
from calipers.live.failures import (
    LARGEST_ANSWER,
    TOO_LARGE,
    AskFailed,
    bad_answer,
    beginning,
    explain,
)
from calipers.names import LISTS, RESULT
from calipers.version import __version__, pip_install
from calipers.words import did_you_mean

QUERY_NAMES = ("query", "q", "question", "searchquery", "search", "text", "input", "prompt")
LIMIT_NAMES = (*(name.replace("_", "") for name in K_NAMES), "maxresults", "count", "topn", "num")
ALONE = (*RESULT["id"], *RESULT["text"], *RESULT["document"])
"""Fields that mark a single result returned without a list around it."""
START_SECONDS = 120.0
"""Time a server may take to start; not counted in any latency."""
MOST_PAGES = 100
"""Pages of tools to read at most, in case a server's list never ends."""

Arguments = Callable[[str, int], dict[str, Any]]
Connect = Callable[[AsyncExitStack, deque[bytes]], Any]


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
        import mcp  # noqa: F401 - the official library: missing, it must fail before any question
    except ImportError:
        raise MissingExtra(
            f"A tool of an MCP server needs the library mcp 2 or newer: {pip_install('mcp')}"
        ) from None
    # The library logs the server's own text, which is only for users who configure logging.
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
    connect: Connect
    if by_http:
        parts, sent = read_address(place, headers or {}, secrets)
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        shown, words = shown_address(place), []
        connect = lambda stack, _: _by_http(stack, address, sent)  # noqa: E731
    else:
        if headers:
            raise InvalidInput("The option 'headers' means nothing for the command of an MCP tool.")
        words = words_of(place, "mcp:./server#search")
        arguments = [secrets.expand(word, "the command") for word in words]
        shown = shown_words(words, secrets)
        connect = lambda stack, stderr: _by_pipes(stack, arguments, stderr)  # noqa: E731
    name = f"mcp:{shown}#{tool}" if tool else f"mcp:{shown}"
    about = {"headers": header_marks(headers), "params": params}
    if template is not None:
        about["request"] = template.source
    server = _Server(connect, tool, template, dict(params or {}), layout.results is not None)
    return Retriever(
        name=name,
        settings=settings_of(name, layout, **about),
        open=server.open,
        code=code_of_files(words),
        layout=layout,
        secrets=secrets,
        # As with any command, each worker starts its own process.
        workers=WORKERS if by_http else 1,
        keeps_time=True,
        close=server.close,
    )


@dataclass(eq=False)
class _Server:
    """What all sessions share, and the event loop they run in."""

    connect: Connect
    tool: str
    template: RequestTemplate | None
    params: dict[str, Any]
    paths: bool
    """Whether the caller gave paths to the results."""
    stack: ExitStack = field(default_factory=ExitStack)
    portal: Any = None
    starting: threading.Lock = field(default_factory=threading.Lock)

    def open(self) -> "_Session":
        from anyio.from_thread import start_blocking_portal

        with self.starting:
            if self.portal is None:
                self.portal = self.stack.enter_context(start_blocking_portal())
        return _Session(self)

    def close(self) -> None:
        """Close what is still open, as after Ctrl-C, so that no process is left running."""
        if self.portal is not None:
            self.portal.call(self.portal.stop, True)
            self.stack.close()


class _Session(Session):
    """One connection, opened when needed and again after a failure."""

    def __init__(self, server: _Server) -> None:
        self.server = server
        self.stderr: deque[bytes] = deque(maxlen=TAIL_LINES)
        self.connection: futures.Future[None] | None = None
        self.answered = False

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.cancel()

    def prepare(self) -> None:
        """Start the server and list its tools, before the time of a question begins."""
        if self.connection is not None:
            return
        ready: futures.Future[Any] = futures.Future()
        self.connection = self.server.portal.start_task_soon(self._stay_connected, ready)
        self.client, tools = self._first_of(ready, START_SECONDS)
        try:
            chosen = chosen_tool(self.server.tool, tools)
            template = self.server.template
            self.arguments: Arguments = (
                arguments_for(chosen, self.server.params) if template is None else template.filled
            )
        except AskFailed:
            self.close()
            raise
        self.tool = chosen.name

    def ask(self, question: Question, k: int, timeout: float | None) -> Any:
        self.prepare()
        arguments = self.arguments(question.text, k)
        call = self.server.portal.start_task_soon(self.client.call_tool, self.tool, arguments)
        answer = read_result(self._first_of(call, timeout), self.server.paths)
        self.answered = True
        return answer

    async def _stay_connected(self, ready: "futures.Future[Any]") -> None:
        """Stay connected until cancelled, in one task as the library requires."""
        import anyio
        from mcp import Client
        from mcp.types import Implementation

        async with AsyncExitStack() as stack:
            transport = await self.server.connect(stack, self.stderr)
            about = Implementation(name="calipers", version=__version__)
            client = await stack.enter_async_context(Client(transport, client_info=about))
            tools, cursor = [], None
            for _ in range(MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
            ready.set_result((client, tools))
            await anyio.sleep_forever()

    def _first_of(self, call: "futures.Future[Any]", seconds: float | None) -> Any:
        """Return the result of the call; raise if it failed, timed out or the connection ended."""
        connection = self.connection
        futures.wait({call, connection} if connection else {call}, seconds, futures.FIRST_COMPLETED)
        try:
            if call.done():
                return call.result()
            call.cancel()
            if connection is not None and connection.done():
                connection.result()
                sentence = "the server closed the connection" + self._last_words()
                raise AskFailed("mcp", sentence, retry=True)
        except AskFailed:
            raise
        except Exception as error:
            self.close()
            raise self._explained(error) from error
        self.close()
        raise AskFailed(
            "timeout",
            f"no answer within {seconds:g} s{self._last_words()}",
            retry=self.answered,
            # If no answer ever came, none will.
            hopeless=not self.answered,
        )

    def _last_words(self) -> str:
        lines = b" / ".join(b" ".join(one.split()) for one in self.stderr if one)
        return f"; its last words: {beginning(lines, 300)}" if lines else ""

    def _explained(self, error: BaseException) -> AskFailed:
        from mcp import MCPError
        from pydantic import ValidationError

        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        failed = explain(error)
        kind, why = failed.kind, failed.sentence + self._last_words()
        if isinstance(error, ValidationError):
            wrong = error.errors()[0]
            place = ".".join(map(str, wrong["loc"])) or "it"
            kind, why = "bad answer", f"the answer is not one of MCP: {place} {wrong['msg']:.100}"
        elif isinstance(error, MCPError):
            # Its code is not an HTTP status, whatever the number.
            text = beginning(" ".join(said_by(error).split()), 300) + self._last_words()
            failed = AskFailed("mcp", f"the server answered with error {error.code}: {text}")
            kind, why = failed.kind, failed.sentence
        elif isinstance(error, FileNotFoundError | PermissionError):
            kind = "command"
            why = (
                f"the command of the server cannot be started: {error.strerror}; give the path of "
                "a program that exists and may be run"
            )
        return AskFailed(kind, why, retry=failed.retry, hopeless=not hasattr(self, "tool"))


async def _by_pipes(stack: AsyncExitStack, arguments: list[str], stderr: deque[bytes]) -> Any:
    from mcp import StdioServerParameters, stdio_client

    stderr.clear()
    reading, writing = os.pipe()
    errors = stack.enter_context(os.fdopen(writing, "w"))
    threading.Thread(
        target=listen, args=(os.fdopen(reading, "rb"), stderr.append), daemon=True
    ).start()
    about = StdioServerParameters(
        command=arguments[0],
        args=arguments[1:],
        env=dict(os.environ),
        encoding_error_handler="replace",
    )
    return stdio_client(about, errlog=errors)


async def _by_http(stack: AsyncExitStack, address: str, headers: dict[str, str]) -> Any:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Limited(httpx2.AsyncHTTPTransport):
        """Limits the size of answers, and refuses compressed ones, which may be far larger."""

        async def handle_async_request(self, request: Any) -> Any:
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                raise bad_answer("the server packs its answer, which nobody asked for")
            whole: Any = response.stream

            class Counted(httpx2.AsyncByteStream):
                async def __aiter__(self) -> AsyncIterator[bytes]:
                    length = 0
                    async for piece in whole:
                        length += len(piece)
                        if length > LARGEST_ANSWER:
                            raise bad_answer(TOO_LARGE)
                        yield piece

                async def aclose(self) -> None:
                    await whole.aclose()

            response.stream = Counted()
            return response

    client = httpx2.AsyncClient(
        # The library sets the content types.
        headers={
            **{n: v for n, v in headers.items() if n != "Accept"},
            "Accept-Encoding": "identity",
        },
        transport=Limited(verify=ssl.create_default_context()),
        timeout=None,
        trust_env=False,
    )
    return streamable_http_client(address, http_client=await stack.enter_async_context(client))


def chosen_tool(name: str, tools: Sequence[Any]) -> Any:
    """The named tool, or the only one that takes a question if none is named."""
    named = [tool.name for tool in tools]
    known = beginning(", ".join(named), 300) or "none"
    if name:
        able = [tool for tool in tools if tool.name == name]
        sentence = f"the server has no tool {name!r}; it has {known}.{did_you_mean(name, named)}"
    else:
        able = [tool for tool in tools if _question_in(*_properties(tool))]
        sentence = f"name the tool to ask after a #; the server has {known}"
    if (len(able) != 1 and not name) or not able:
        raise AskFailed("mcp", sentence, hopeless=True)
    return able[0]


def _properties(tool: Any) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a tool, and the names of the required ones."""
    schema = tool.input_schema or {}
    found, needed = schema.get("properties"), schema.get("required")
    return (
        found if isinstance(found, dict) else {},
        [one for one in needed if isinstance(one, str)] if isinstance(needed, list) else [],
    )


def _types(schema: Any) -> set[str]:
    """The types that a schema allows; empty if it names none."""
    if not isinstance(schema, dict):
        return set()
    found = schema.get("type")
    several = [one for name in ("anyOf", "oneOf") for one in schema.get(name) or ()]
    listed = [found] if isinstance(found, str) else found or ()
    return {one for one in listed if isinstance(one, str)}.union(*map(_types, several))


def _named(properties: Mapping[str, Any], names: Sequence[str], kinds: set[str]) -> str | None:
    plain = {re.sub("[_-]", "", name).lower(): name for name in reversed([*properties])}
    fits = (plain[name] for name in names if name in plain)
    return next((one for one in fits if (_types(properties[one]) or kinds) & kinds), None)


def _question_in(properties: Mapping[str, Any], required: Sequence[str]) -> str | None:
    found = _named(properties, QUERY_NAMES, {"string"})
    if found is not None:
        return found
    texts = [name for name, schema in properties.items() if "string" in _types(schema)]
    needed = [name for name in texts if name in required]
    return needed[0] if len(needed) == 1 else texts[0] if len(texts) == 1 else None


def arguments_for(tool: Any, params: dict[str, Any]) -> Arguments:
    """Find out how to turn a question into the tool's arguments, before the first question."""

    def refused(sentence: str) -> AskFailed:
        return AskFailed("mcp", f"the tool {tool.name!r} {sentence}", hopeless=True)

    properties, required = _properties(tool)
    takes = beginning(", ".join(properties), 300) or "nothing"
    for name in params:
        if name not in properties and not tool.input_schema.get("additionalProperties"):
            raise refused(f"takes no argument {name!r}; it takes {takes}")
    left = {name: schema for name, schema in properties.items() if name not in params}
    question = _question_in(left, required)
    if question is None:
        raise refused(
            f"does not say which argument is the question; it takes {takes}: say it with "
            '--request \'{"NAME": "{query}"}\''
        )
    limit = _named(left, LIMIT_NAMES, {"integer", "number"})
    for name in required:
        if name in left and name not in (question, limit):
            raise refused(f"needs the argument {name!r}; give it with --param {name}=VALUE")
    schema = None if limit is None else left[limit]
    most = schema.get("maximum") if isinstance(schema, dict) else None

    def arguments(query: str, k: int) -> dict[str, Any]:
        if isinstance(most, int | float) and k > most:
            raise refused(f"gives at most {most:g} results and was asked for {k}; ask for fewer")
        return {**params, question: query, **({limit: k} if limit is not None else {})}

    return arguments


def read_result(result: Any, paths: bool = False) -> Any:
    """Read the results of a tool call: structured, JSON as text, resources, or texts.

    With ``paths`` the caller's own paths find them later.
    """
    texts = [one.text for one in result.content if one.type == "text"]
    if result.is_error:
        sentence = beginning(" ".join(" ".join(texts).split()), 300)
        raise AskFailed("tool error", sentence or "the tool failed, and gives no reason")
    structured = result.structured_content
    if isinstance(structured, dict) and list(structured) == ["result"]:
        # Servers wrap values that are not objects like this, JSON text included.
        structured = structured["result"]
    found = [_decoded(structured) if isinstance(structured, str) else structured]
    decoded = [_decoded(text) for text in texts]
    if decoded and None not in decoded:
        found.append(decoded if len(decoded) > 1 else decoded[0])
    kinds = ("resource", "resource_link")
    found.append([_resource(one) for one in result.content if one.type in kinds] or None)
    found = [one for one in found if one is not None]
    if paths and found:
        return found[0]
    readable = [one for one in map(_listed, found) if one is not None]
    if readable:
        return next((one for one in readable if one), readable[0])
    # A value without a list gets its error message later.
    return found[0] if found else [{"text": text} for text in texts if text.strip()]


def _listed(found: Any) -> Sequence[Any] | Any:
    """The results in an answer, also a single one; None if it holds no list."""
    is_result = isinstance(found, dict) and any(name in found for name in ALONE)
    if is_result and not any(isinstance(found.get(n), list | dict) for n in ("ids", *LISTS)):
        return [found]
    try:
        return found if results_in(found) else []
    except BadDocument:
        return None


def _decoded(text: str) -> Any:
    """The JSON list or object in a text, or None."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return found if isinstance(found, list | dict) else None


def _resource(block: Any) -> dict[str, Any]:
    resource = getattr(block, "resource", block)
    text = getattr(resource, "text", None) or getattr(resource, "description", None)
    return {"id": str(resource.uri), "text": text}
