"""One page of a long list."""

PAGE_SIZE = 50
LARGEST_PAGE = 500


def page_of(rows: int, page: int, size: int) -> tuple[slice, int, int]:
    """Which of the rows stand on a page, the page's number, and how many pages there are.

    What lies outside is the nearest that there is.

    >>> page_of(120, 2, 50), page_of(120, 9, 50)[1:], page_of(0, 1, 50)[1:]
    ((slice(50, 100, None), 2, 3), (3, 3), (1, 1))
    """
    size = min(max(size, 1), LARGEST_PAGE)
    pages = max(1, -(-rows // size))
    page = min(max(page, 1), pages)
    return slice((page - 1) * size, page * size), page, pages
