"""A function as a retriever, sync or async."""

import inspect
import os
import threading
from collections.abc import (
    AsyncIterable,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
)
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from calipers.errors import InvalidInput
from calipers.live.adapters.base import (
    WORKERS,
    Question,
    Retriever,
    Session,
    secrets_in,
    settings_of,
    without_secrets,
)
from calipers.live.answers import Layout
from calipers.live.code import code_of
from calipers.live.failures import AskFailed

if TYPE_CHECKING:
    import asyncio

K_NAMES = ("k", "top_k", "topk", "n_results", "limit", "size", "n", "top", "num_results")
"""Usual names of the parameter for the number of results."""
_STARTING = threading.Lock()

Call = Callable[[object, int], object]
Way = Callable[[object, int], tuple[tuple[object, ...], dict[str, object]]]
"""The arguments, by place and by name, for a question and a number of results."""


def from_callable(
    function: Callable[..., object],
    *,
    name: str | None = None,
    params: Mapping[str, object] | None = None,
    layout: Layout | None = None,
    workers: int = WORKERS,
    code: Mapping[str, str] | None = None,
) -> Retriever:
    """A retriever that calls ``function(query, k)``; ``params`` are passed by name."""
    known = name or name_of(function)
    layout = layout or Layout()
    session = _Session(caller(function, dict(params or {}), known))
    return Retriever(
        name=known,
        settings=settings_of(known, layout, params=_plain(without_secrets(params))),
        # All workers share it: a function has no connection to keep.
        open=lambda: session,
        code=code_of(function) if code is None else code,
        layout=layout,
        workers=workers,
        secrets=secrets_in(params),
    )


def name_of(function: object) -> str:
    """The function as ``module:name``, as on the command line."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', None) or '?'}:{named.__qualname__}"


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return name_of(value) if callable(value) else type(value).__qualname__


@dataclass(eq=False)
class _Session(Session):
    call: Call

    def ask(self, question: Question, k: int, timeout: float | None) -> object:
        answer = self.call(question.text, k)
        if type(answer) is list:
            return answer
        if inspect.isawaitable(answer):
            answer = _wait_for(_awaited(answer), timeout)
        # Consumed here, so that its time is counted.
        if isinstance(answer, AsyncIterable):
            return _wait_for(_collected(answer, k), timeout)
        if isinstance(answer, Iterator):
            return list(islice(answer, k))
        return answer


async def _awaited(answer: Awaitable[object]) -> object:
    """The value that is waited for, as a coroutine."""
    return await answer


async def _collected(answer: AsyncIterable[object], most: int) -> list[object]:
    """The first values of an async generator."""
    some: list[object] = []
    async for result in answer:
        some.append(result)
        if len(some) >= most:
            break
    return some


@cache
def _loop(process: int) -> "asyncio.AbstractEventLoop":  # noqa: ARG001 - a fork has its own
    """The one event loop of a process for all async functions: a client is never in two."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _wait_for(answer: Coroutine[object, object, object], timeout: float | None) -> object:
    import asyncio

    with _STARTING:
        loop = _loop(os.getpid())
    future = asyncio.run_coroutine_threadsafe(answer, loop)
    try:
        return future.result(timeout)
    except TimeoutError:
        if future.done():
            raise
        future.cancel()
        raise AskFailed(
            "timeout", f"no answer within {timeout:g} s", retry=True
        ) from None


def caller(function: Callable[..., object], params: dict[str, object], name: str) -> Call:
    """Find out how to call the function, before the first question."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return lambda query, k: function(query, k, **params)
    known = signature.parameters
    kinds = {parameter.kind for parameter in known.values()}
    for param in params:
        if param not in known and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise InvalidInput(
                f"{name}{signature} takes no parameter {param!r}; it takes "
                f"{', '.join(known)}."
            )
    free = [parameter for parameter in known.values() if parameter.name not in params]
    by_name = {
        parameter.name
        for parameter in free
        if parameter.kind is not parameter.POSITIONAL_ONLY
    }
    placed = [
        parameter
        for parameter in free
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    k_name = next((name for name in K_NAMES if name in by_name), None)
    ways: list[Way] = []
    if k_name is not None:
        ways.append(lambda query, k: ((query,), {k_name: k, **params}))
    needed = sum(parameter.default is parameter.empty for parameter in placed)
    # A text that is needed beside the question, such as search_type, is no number.
    takes_number = len(placed) < 2 or placed[1].annotation not in (str, "str")
    if (needed >= 2 and takes_number) or inspect.Parameter.VAR_POSITIONAL in kinds:
        ways.append(lambda query, k: ((query, k), params))
    # Some functions fix k themselves.
    ways.append(lambda query, _: ((query,), params))
    for way in ways:
        try:
            arguments, named = way("", 1)
            signature.bind(*arguments, **named)
        except TypeError:
            continue

        def call(query: object, k: int, way: Way = way) -> object:
            arguments, named = way(query, k)
            return function(*arguments, **named)

        return call
    raise InvalidInput(
        f"{name}{signature} cannot be called as a retriever; it must take (query, k) or "
        "(query), with a default for everything else."
    )
