"""The search tool of an MCP server as a retriever: over a command's pipes, or over HTTP.

The official library speaks the protocol. Every worker has its own connection. A server's
standard error is kept for error messages and never printed.
"""

import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from calipers.errors import InvalidInput, MissingExtra, said_by
from calipers.io.records.documents import BadDocument, results_in
from calipers.live.adapters.base import (
    WORKERS,
    Question,
    Retriever,
    Secrets,
    Session,
    settings_of,
)
from calipers.live.adapters.callable import K_NAMES
from calipers.live.adapters.command import TAIL_LINES, listen, shown_words, words_of
from calipers.live.adapters.http import (
    RequestTemplate,
    header_marks,
    read_address,
    shown_address,
)
from calipers.live.answers import Layout
from calipers.live.code import code_of_files
from calipers.live.failures import AskFailed, beginning, explain
from calipers.names import LISTS, RESULT
from calipers.version import __version__, pip_install
from calipers.words import did_you_mean

QUERY_NAMES = (
    "query",
    "q",
    "question",
    "searchquery",
    "search",
    "text",
    "input",
    "prompt",
)
LIMIT_NAMES = (
    *(name.replace("_", "") for name in K_NAMES),
    "maxresults",
    "count",
    "topn",
    "num",
)
ALONE = (*RESULT["id"], *RESULT["text"], *RESULT["document"])
"""Fields that mark a single result returned without a list around it."""
START_SECONDS = 120.0
"""Time a server may take to start; not counted in any latency."""
NO_LIMIT = 1e8

Arguments = Callable[[str, int], Any]
"""The arguments of a tool for a question and a number of results."""
Connect = Callable[[AsyncExitStack, deque[bytes]], Any]


class Tool(Protocol):
    """A tool as the library describes it."""

    @property
    def name(self) -> str:
        """What it is called by."""
        ...

    @property
    def input_schema(self) -> Mapping[str, Any] | None:
        """The JSON Schema of its arguments."""
        ...


def from_mcp(
    target: str,
    *,
    request: object = None,
    headers: Mapping[str, str] | None = None,
    layout: Layout | None = None,
) -> Retriever:
    """A retriever that is a tool of an MCP server: ``command#tool`` or ``http://host/mcp#tool``.

    The arguments for the question and for the number of results are found in the tool's
    schema, or ``request`` says all arguments.
    """
    try:
        import mcp  # noqa: F401 - the official library: missing, it must fail before any question
    except ImportError:
        raise MissingExtra(
            "A tool of an MCP server needs the library mcp 2 or newer: "
            f"{pip_install('mcp')}"
        ) from None
    # The library logs the server's own text, which is only for users who configure
    # logging.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    place, _, tool = target.partition("#")
    layout = layout or Layout()
    secrets = Secrets()
    template = None if request is None else RequestTemplate.read(request, secrets)
    if template is not None and not isinstance(template.value, dict):
        raise InvalidInput(
            "The request of an MCP tool is an object that holds all of its arguments; write "
            '--request \'{"query": "{query}", "limit": "{k}"}\'.'
        )
    by_http = place.startswith(("http://", "https://"))
    connect: Connect
    if by_http:
        parts, sent = read_address(place, headers or {}, secrets)
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        shown = shown_address(place)
        words = []
        connect = lambda stack, _: _by_http(stack, address, sent)  # noqa: E731
    else:
        if headers:
            raise InvalidInput(
                "The option 'headers' means nothing for the command of an MCP tool."
            )
        words = words_of(place, "mcp:./server#search")
        arguments = [secrets.expand(word, "the command") for word in words]
        shown = shown_words(words, secrets)
        connect = lambda stack, stderr: _by_pipes(stack, arguments, stderr)  # noqa: E731
    name = f"mcp:{shown}#{tool}" if tool else f"mcp:{shown}"
    sends = None if template is None else template.source

    def arguments_of(chosen: Tool) -> Arguments:
        return arguments_for(chosen) if template is None else template.filled

    return Retriever(
        name=name,
        settings=settings_of(name, layout, headers=header_marks(headers), request=sends),
        open=lambda: _Session(connect, tool, arguments_of, layout.results is not None),
        code=code_of_files(words),
        layout=layout,
        secrets=secrets,
        # As with any command, each worker starts its own process.
        workers=WORKERS if by_http else 1,
        keeps_time=True,
    )


@dataclass(eq=False)
class _Session(Session):
    """One connection, opened when needed and again after a failure."""

    connect: Connect
    name: str
    arguments_of: Callable[[Tool], Arguments]
    paths: bool
    """Whether the caller gave paths to the results."""
    stderr: deque[bytes] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    connection: ExitStack | None = None
    answered: bool = False

    def close(self) -> None:
        connection = self.connection
        self.connection = None
        if connection is not None:
            connection.close()

    def prepare(self) -> None:
        """Start the server and list its tools, before the time of a question begins."""
        if self.connection is not None:
            return
        from anyio.from_thread import start_blocking_portal

        unusable: AskFailed | None = None
        with ExitStack() as stack:
            try:
                self.portal = stack.enter_context(start_blocking_portal())
                opened = self.portal.wrap_async_context_manager(self._connected())
                self.client, tools = stack.enter_context(opened)
            except Exception as error:
                raise self._explained(error, START_SECONDS, hopeless=True) from error
            try:
                chosen = chosen_tool(self.name, tools)
                self.arguments = self.arguments_of(chosen)
                self.tool = chosen.name
            except AskFailed as failed:
                unusable = failed
            else:
                self.connection = stack.pop_all()
        if unusable is not None:
            # Raised once the server is closed: on its way out it would be wrapped in a
            # group.
            raise unusable

    def ask(self, question: Question, k: int, timeout: float | None) -> object:
        self.prepare()
        seconds = NO_LIMIT if timeout is None else timeout
        arguments = self.arguments(question.text, k)
        try:
            result = self.portal.call(
                self.client.call_tool, self.tool, arguments, seconds
            )
        except Exception as error:
            failed = self._explained(error, seconds, hopeless=False)
            self.close()
            raise failed from error
        self.answered = True
        return read_result(result, self.paths)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[Any, list[Tool]]]:
        from mcp import Client
        from mcp.types import Implementation

        about = Implementation(name="calipers", version=__version__)
        async with AsyncExitStack() as stack:
            transport = await self.connect(stack, self.stderr)
            opened = Client(
                transport, client_info=about, read_timeout_seconds=START_SECONDS
            )
            client = await stack.enter_async_context(opened)
            page = await client.list_tools()
            tools = page.tools
            while page.next_cursor:
                page = await client.list_tools(cursor=page.next_cursor)
                tools += page.tools
            yield client, tools

    def _explained(
        self, error: BaseException, seconds: float, *, hopeless: bool
    ) -> AskFailed:
        from mcp import MCPError
        from mcp.types import REQUEST_TIMEOUT

        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        lines = b" / ".join(b" ".join(line.split()) for line in self.stderr if line)
        heard = f"; its last words: {beginning(lines, 300)}" if lines else ""
        failed = explain(error)
        if not isinstance(error, MCPError):
            why = failed.sentence + heard
            return AskFailed(failed.kind, why, retry=failed.retry, hopeless=hopeless)
        if error.code == REQUEST_TIMEOUT:
            why = f"no answer within {seconds:g} s{heard}"
            # If no answer ever came, none will.
            return AskFailed(
                "timeout", why, retry=self.answered, hopeless=not self.answered
            )
        # Its code is not an HTTP status, whatever the number.
        why = beginning(" ".join(said_by(error).split()), 300) + heard
        message = f"the server answered with error {error.code}: {why}"
        return AskFailed("mcp", message, hopeless=hopeless)


async def _by_pipes(
    stack: AsyncExitStack, arguments: list[str], stderr: deque[bytes]
) -> object:
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


async def _by_http(
    stack: AsyncExitStack, address: str, headers: dict[str, str]
) -> object:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    # Redirects are not followed: a key goes to no other address. The library sets the
    # content type.
    sent = {name: value for name, value in headers.items() if name != "Accept"}
    client = await stack.enter_async_context(
        httpx2.AsyncClient(headers=sent, timeout=None)
    )
    return streamable_http_client(address, http_client=client)


def chosen_tool(name: str, tools: Sequence[Tool]) -> Tool:
    """The named tool, or the only one if none is named."""
    named = [tool.name for tool in tools]
    able = [tool for tool in tools if tool.name == name] if name else tools
    if len(able) == 1:
        return able[0]
    known = f"the server has {beginning(', '.join(named), 300) or 'none'}"
    why = f"there is no tool {name!r}" if name else "name the tool to ask after a #"
    raise AskFailed("mcp", f"{why}; {known}.{did_you_mean(name, named)}", hopeless=True)


def arguments_for(tool: Tool) -> Arguments:
    """Find out how to turn a question into the tool's arguments, before the first question.

    The server itself refuses arguments that are missing or of another type.
    """
    schema = tool.input_schema or {}
    properties = schema.get("properties") or {}
    takes = beginning(", ".join(properties), 300) or "nothing"
    limit = _named(list(properties), LIMIT_NAMES)
    others = [name for name in properties if name != limit]
    required = [name for name in others if name in (schema.get("required") or ())]
    alone = next((names[0] for names in (required, others) if len(names) == 1), None)
    question = _named(others, QUERY_NAMES) or alone
    if question is None:
        raise AskFailed(
            "mcp",
            f"the tool {tool.name!r} does not say which argument is the question; it takes "
            f'{takes}: say it with --request \'{{"NAME": "{{query}}"}}\'',
            hopeless=True,
        )
    return lambda query, k: {question: query, **({} if limit is None else {limit: k})}


def _named(properties: Sequence[str], names: Sequence[str]) -> str | None:
    """The argument with the first of the usual names, whatever its case and signs."""
    plain = {name.replace("_", "").replace("-", "").lower(): name for name in properties}
    return next((plain[name] for name in names if name in plain), None)


def read_result(result: Any, paths: bool = False) -> object:
    """Read the results of a tool call: structured, JSON as text, resources, or texts.

    With ``paths`` the caller's own paths find them later.
    """
    texts = [content.text for content in result.content if content.type == "text"]
    if result.is_error:
        sentence = beginning(" ".join(" ".join(texts).split()), 300)
        raise AskFailed("tool error", sentence or "the tool failed, and gives no reason")
    structured = result.structured_content
    if isinstance(structured, dict) and list(structured) == ["result"]:
        # Servers wrap values that are not objects like this, JSON text included.
        structured = structured["result"]
    answers = [_decoded(structured) if isinstance(structured, str) else structured]
    decoded = [_decoded(text) for text in texts]
    if decoded and None not in decoded:
        answers.append(decoded if len(decoded) > 1 else decoded[0])
    kinds = ("resource", "resource_link")
    answers.append(
        [_resource(content) for content in result.content if content.type in kinds]
        or None
    )
    answers = [answer for answer in answers if answer is not None]
    if paths and answers:
        return answers[0]
    readable = [listed for listed in map(_listed, answers) if listed is not None]
    if readable:
        return next((listed for listed in readable if listed), readable[0])
    # A value without a list gets its error message later.
    return answers[0] if answers else [{"text": text} for text in texts if text.strip()]


def _listed(answer: object) -> Sequence[object] | object:
    """The results in an answer, also a single one; None if it holds no list."""
    if isinstance(answer, dict) and any(name in answer for name in ALONE):
        holds_list = any(isinstance(answer.get(n), list | dict) for n in ("ids", *LISTS))
        if not holds_list:
            return [answer]
    try:
        return answer if results_in(answer) else []
    except BadDocument:
        return None


def _decoded(text: str) -> object:
    """The JSON list or object in a text, or None."""
    try:
        stored_result = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return stored_result if isinstance(stored_result, list | dict) else None


def _resource(block: Any) -> dict[str, object]:
    resource = getattr(block, "resource", block)
    text = getattr(resource, "text", None) or getattr(resource, "description", None)
    return {"id": str(resource.uri), "text": text}
