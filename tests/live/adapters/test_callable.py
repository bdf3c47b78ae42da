import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from calipers import retrieve
from calipers.errors import InvalidInput
from calipers.live.adapters.callable import from_callable

QUESTIONS = ["one", "two", "three"]


class Searcher:
    def __call__(self, query: str, k: int) -> list[str]:
        return found(query, k)

    def method(self, query: str, *, top_k: int = 5) -> list[str]:
        return found(query, top_k)


def found(query: str, k: int) -> list[str]:
    return [f"{query}-{i}" for i in range(k)]


async def in_time(query: str, k: int) -> list[str]:
    await asyncio.sleep(0.001)
    return found(query, k)


def generated(query: str, k: int) -> Any:
    yield from found(query, k)


async def streamed(query: str, k: int) -> AsyncIterator[str]:
    for item in found(query, k + 9):
        yield item


def unlimited(query: str) -> list[str]:
    return found(query, 50)


def anything(*args: Any) -> list[str]:
    return found(*args)


def named(query: str, limit: int = 3, fuzzy: bool = False) -> list[str]:
    return found(query, limit)


@pytest.mark.parametrize(
    "search",
    [
        found,
        in_time,
        generated,
        streamed,
        unlimited,
        anything,
        named,
        Searcher(),
        Searcher().method,
        functools.partial(named, fuzzy=True),
    ],
)
def test_every_way_to_write_a_function(search: Callable[..., Any]) -> None:
    run = retrieve(search, QUESTIONS, k=4, workers=2)
    assert run.report.answered == 3
    assert run.frame.group_by("query", maintain_order=True).agg("item").rows() == [
        (query, found(query, 4)) for query in QUESTIONS
    ]


def test_async_calls_share_one_loop_and_run_together() -> None:
    loops = set()
    together = 0
    most = 0

    async def search(query: str, k: int) -> list[str]:
        nonlocal together, most
        loops.add(id(asyncio.get_running_loop()))
        together += 1
        most = max(most, together)
        await asyncio.sleep(0.02)
        together -= 1
        return found(query, k)

    retrieve(search, [f"q{i}" for i in range(12)], k=1, workers=4)
    assert len(loops) == 1
    assert most == 4


def test_an_async_call_that_hangs_is_cancelled() -> None:
    cancelled = threading.Event()

    async def search(query: str, k: int) -> list[str]:
        if query == "two":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.set()
                raise
        return found(query, k)

    run = retrieve(search, QUESTIONS, k=1, timeout=0.2, retries=0)
    assert dict(run.report.errors) == {"timeout": 1}
    assert cancelled.wait(2)


def test_params_are_passed_and_recorded_without_secrets() -> None:
    seen = []

    def search(query: str, k: int, index: list[str], api_key: str) -> list[str]:
        seen.append((index, api_key))
        return found(query, k)

    given: dict[str, Any] = {"index": ["small"], "api_key": "abc"}
    retrieve(search, ["one"], params=given)
    assert seen == [(["small"], "abc")]
    settings = from_callable(search, params=given).settings
    assert settings["params"] == {"index": ["small"], "api_key": "***"}


def three(query: str, k: int, index: str) -> list[str]:
    return []


def nothing() -> list[str]:
    return []


@pytest.mark.parametrize(
    ("search", "settings", "words"),
    [
        (three, {}, r"must take \(query, k\) or \(query\)"),
        (nothing, {}, r"must take \(query, k\) or \(query\)"),
        (found, {"params": {"indx": 1}}, "takes no parameter 'indx'"),
    ],
)
def test_wrong_settings_are_told_before_the_first_question(
    search: Callable[..., Any], settings: Any, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        retrieve(search, QUESTIONS, **settings)
