"""A page of a document as something to find: its name, and what the name says."""

import polars as pl

from calipers.errors import InvalidInput

MARK = "#page="
"""Between a document and the number or label of its page, as in the address of a PDF."""


def page_id(document: object, page: object, at: str, part: str = "ground_truth") -> str:
    """The id of a page that stands at a place in words; 3 and 3.0 are one page.

    >>> page_id("a.pdf", 3.0, "here"), page_id("a.pdf", "iv", "here")
    ('a.pdf#page=3', 'a.pdf#page=iv')
    """
    if part == "forbidden":
        raise InvalidInput(
            f"A page cannot be forbidden, as at {at}; name the document, or the ids of its chunks."
        )
    if document is None:
        raise InvalidInput(f"A page is given without its document at {at}; add 'document'.")
    return f"{document}{MARK}{page_label(page)}"


def page_label(page: object) -> str:
    """The number or label of a page as a text."""
    whole = isinstance(page, float) and page.is_integer()
    return str(int(page)) if whole else str(page).strip()  # type: ignore[call-overload]


def are_pages(items: pl.Series) -> bool:
    """Whether all ids are names of pages."""
    return len(items) > 0 and bool(items.str.contains(MARK, literal=True).fill_null(False).all())


def document_of(item: pl.Expr) -> pl.Expr:
    """The document in the name of a page; nothing for any other id."""
    return item.str.extract(rf"^(.+){MARK}.+$")
