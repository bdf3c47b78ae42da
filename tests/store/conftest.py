"""The databases that these tests share."""

from tests.store.servers import place, quick_place, server

__all__ = ["place", "quick_place", "server"]
