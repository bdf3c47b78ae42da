"""What the samples of live operations need: a model to ask, and a path that stays as it was."""

import sys
from collections.abc import Iterator

import pytest

from tests.live.chat.model_server import running
from tests.questions.live_samples import PORT


@pytest.fixture(autouse=True, scope="session")
def model_port() -> Iterator[None]:
    """A language model on loopback, whose port the samples name by an environment variable."""
    with running() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(PORT, str(server.server_address[1]))
        yield


@pytest.fixture(autouse=True)
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a retriever's file is added to the path."""
    monkeypatch.setattr(sys, "path", list(sys.path))
