"""The databases that these tests share."""

from tests.store.servers import place, server

__all__ = ["place", "server"]
