"""Ids in forms that cannot write every character, and ids for texts that have none."""

import hashlib
import re
from urllib.parse import quote

import polars as pl

from calipers.io.writers.remarks import Remarks

UNSAFE = r"[\x00-\x20\x7f]|^#|^$"
"""What a form with columns between blanks cannot hold; a leading # would be a comment."""


def without_blanks(ids: pl.Series, remarks: Remarks) -> pl.Series:
    """The ids, with blanks and other such characters written as in a web address."""
    unsafe = ids.filter(ids.str.contains(UNSAFE)).unique().to_list()
    if not unsafe:
        return ids
    remarks.add(
        "Some ids hold blanks, which this form cannot; they are written as in web addresses, "
        "such as " + encoded(sorted(unsafe)[0])[:60] + "."
    )
    return ids.replace({one: encoded(one) for one in unsafe})


def encoded(text: str) -> str:
    """One id without blanks.

    >>> encoded("What is it?")
    'What%20is%20it?'
    """
    if not text:
        return "%00"
    return re.sub(r"[\x00-\x20\x7f%]|^#", lambda found: quote(found[0], safe=""), text)


def id_of(text: str) -> str:
    """An id made from a text: the same text always has the same one.

    >>> id_of("some evidence")
    'quote-3bd75f9d3321'
    """
    return "quote-" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


MADE_IDS = "Quotes without an id, each given one made from its text: {n}."
