"""What the tests of live retrievers share."""

from collections.abc import Iterator

import pytest

from calipers.live import driver
from tests.live.server import Server, running


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as one:
        yield one


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses before another attempt that are too short to wait for."""
    monkeypatch.setattr(driver, "FIRST_PAUSE", 0.001)
