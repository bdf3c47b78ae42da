from typing import Any

import pytest

from calipers.errors import InvalidInput
from calipers.live.driver import LONGEST_PAUSE, Pace, pause_before
from calipers.live.failures import AskFailed, explain

WRONG: dict[str, list[Any]] = {
    "workers": [0, 1.5, 5000, True],
    "timeout": [0, float("nan"), "5", 1e300],
    "retries": [-1],
}


@pytest.mark.parametrize(("name", "value"), [(n, one) for n, all_ in WRONG.items() for one in all_])
def test_limits_that_make_no_sense_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{name} is "):
        Pace(**{"workers": 1, name: value})


def test_warm_up_is_one_per_worker_but_never_much_of_it_all() -> None:
    assert Pace(workers=8).warm_up_of(1000) == 8
    assert Pace(workers=8).warm_up_of(30) == 3
    assert Pace(workers=8).warm_up_of(3) == 0


def test_pauses_double_and_end() -> None:
    failed = AskFailed("reset", "x", retry=True)
    for attempt in range(5):
        assert 0.25 * 2**attempt <= pause_before(attempt, failed) <= 0.5 * 2**attempt
    assert pause_before(30, failed) == LONGEST_PAUSE
    # The server says how long.
    assert pause_before(0, AskFailed("http 429", "x", retry=True, after=7)) == 7
    assert pause_before(0, AskFailed("http 429", "x", retry=True, after=1e9)) == LONGEST_PAUSE


class ReadTimeout(Exception):
    pass


class ConnectError(Exception):
    pass


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "kind", "retry"),
    [
        (TimeoutError(), "timeout", True),
        (ReadTimeout("late"), "timeout", True),
        (ConnectionRefusedError("no"), "refused", True),
        (ConnectError("gone"), "reset", True),
        (KeyError("x"), "KeyError", False),
        (SystemExit(3), "SystemExit", False),
        (Speechless(), "Speechless", False),
    ],
)
def test_what_is_worth_another_attempt(error: BaseException, kind: str, retry: bool) -> None:
    failed = explain(error)
    assert (failed.kind, failed.retry) == (kind, retry)
