"""The databases that these tests share."""

from tests.engines.conftest import session as session
from tests.store.servers import place, server

__all__ = ["place", "server"]
