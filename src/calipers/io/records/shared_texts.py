"""Long texts that come back for many queries, each held in memory once."""

import polars as pl

LONG = 64
"""Characters of a text, on average, from which it is worth looking for the same one before."""
MOST = 64_000_000
"""Characters that are remembered; then all is forgotten, so that memory stays bounded."""
FEW = 0.9
"""Where more than this share of many texts are new, nobody looks any further."""
MANY = 50_000


class SharedTexts:
    """Columns of texts in which a text that came before is not held a second time.

    >>> texts = SharedTexts()
    >>> column = pl.Series(["x" * 80, None, "x" * 80])
    >>> texts.shared(column).equals(column)
    True
    """

    def __init__(self) -> None:
        self._looked_at = self._new = self._size = 0
        self.taken = 0
        """Bytes of the texts that were given out, each counted where it is held."""
        self._codes: dict[str, int] = {}
        self._texts = pl.Series([], dtype=pl.String)

    def shared(self, column: pl.Series) -> pl.Series:
        """The same column; its texts stand where those of earlier columns do."""
        hopeless = self._looked_at > MANY and self._new > FEW * self._looked_at
        if hopeless or (column.str.len_bytes().mean() or 0) < LONG:  # type: ignore[operator]
            self.taken += int(column.estimated_size())
            return column
        codes: list[int | None] = []
        new: list[str] = []
        known = self._codes
        for text in column.to_list():
            if text is None:
                codes.append(None)
                continue
            code = known.get(text)
            if code is None:
                code = known[text] = len(known)
                new.append(text)
            codes.append(code)
        self._looked_at += len(codes)
        self._new += len(new)
        self._size += sum(map(len, new))
        # In one piece: only then do the rows that are taken from it share its texts.
        column_of_new = pl.Series(new, dtype=pl.String)
        self.taken += int(column_of_new.estimated_size())
        self._texts = pl.concat([self._texts, column_of_new], rechunk=True)
        found = self._texts.gather(pl.Series(codes, dtype=pl.UInt32)).alias(column.name)
        if self._size > MOST:
            self._forget()
        return found

    def _forget(self) -> None:
        self._codes = {}
        self._texts = pl.Series([], dtype=pl.String)
        self._size = 0
