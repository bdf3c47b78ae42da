"""Chunks of a corpus on their way through an audit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from calipers.text import normalise

KEPT = 3
"""How many of the chunks that hold a target are remembered by name and text."""

UNNAMED = ""
"""The document of chunks that name none."""


@dataclass(frozen=True, eq=False)
class Chunks:
    """One batch of a corpus: with its columns, and the texts as they are compared."""

    frame: pl.DataFrame

    @cached_property
    def ids(self) -> Sequence[str]:
        """The id of each chunk."""
        return self.frame["id"].to_list()

    @cached_property
    def documents(self) -> Sequence[str]:
        """The document of each chunk; its own id where none is given."""
        return self.frame["document"].to_list()

    @cached_property
    def together(self) -> Sequence[str]:
        """What each chunk belongs to: its document; the whole corpus where none is named."""
        named = self.frame.select(pl.when("named").then("document").otherwise(pl.lit(UNNAMED)))
        return named.to_series().to_list()

    @cached_property
    def texts(self) -> list[str]:
        """The text of each chunk as the corpus has it."""
        return self.frame["text"].to_list()

    @cached_property
    def normalised(self) -> list[str]:
        """The text of each chunk as it is compared with quotes."""
        return [normalise(text) for text in self.texts]

    @cached_property
    def places(self) -> list[tuple[int, int] | None]:
        """Start and end of each chunk in its document, None where they are not known."""
        ends = zip(self.frame["start"], self.frame["end"], strict=True)
        return [None if start is None else (start, end) for start, end in ends]
