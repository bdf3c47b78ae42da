"""One page of a long list."""

from collections.abc import Sequence
from typing import Any, NamedTuple

PAGE_SIZE = 50


class Page(NamedTuple):
    """The rows of one page."""

    rows: Sequence[Any]
    found: int
    """The number of rows on all pages."""
    total: int
    """The number of rows before they were filtered."""
    page: int
    pages: int


def page_of(rows: int, page: int, size: int) -> tuple[slice, int, int]:
    """Return the rows of a page as a slice, the page's number, and the number of pages.

    A page out of range becomes the nearest one.

    >>> page_of(120, 2, 50), page_of(120, 9, 50)[1:], page_of(0, 1, 50)[1:]
    ((slice(50, 100, None), 2, 3), (3, 3), (1, 1))
    """
    pages = max(1, -(-rows // size))
    page = min(max(page, 1), pages)
    return slice((page - 1) * size, page * size), page, pages
