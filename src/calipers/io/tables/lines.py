"""Whitespace-separated lines without a header, as in TREC and MS MARCO files.

A file is read in blocks. A block with one kind of separator goes straight to the CSV parser; any
other is cleaned first. Only when something is wrong is a block read line by line, to name the bad
line.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from urllib.parse import unquote

import numpy as np
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.io.files.open import BYTE_ORDER_MARK, HEAD, Source, not_utf8
from calipers.io.files.probe import Probe
from calipers.io.tables.usual_names import is_long
from calipers.prefetch import ahead

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
FIRST = 50
"""Lines that are inspected to detect the format of a file."""
AT_ONCE = 1 << 18
"""Bytes that are scanned together: few enough for the processor's cache."""


@dataclass(frozen=True)
class LineLayout:
    """The columns to read from a line."""

    name: str
    format: str
    columns: tuple[tuple[int, str], ...]
    number: str
    needed: int
    rank: int | None = None
    """A numeric column that is not used: if it is no number, an id contains a space."""
    tag: int | None = None
    """The column that says with ``ENCODED`` that the ids of a line are percent-encoded."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for _, name in self.columns)


def is_lines(probe: Probe) -> bool:
    """Whether the file is lines of text, not a table with a header."""
    has_header = probe.table is not None and is_long(probe.table.columns)
    return probe.is_text and not has_header


_MEASURE = re.compile(
    rb"runid|num_(ret|rel|rel_ret|q)|(gm_)?map(_cut_\d+|_avgjg)?|R(prec|ndcg)(_mult_[\d.]+)?|bpref|"
    rb"recip_rank|iprec_at_recall_[\d.]+|P_\d+|recall_\d+|relative_P_\d+|n?dcg(_cut_\d+|_rel)?|"
    rb"infAP|success_\d+|set_(P|recall|F|map|relative_P)(_[\d.]+)?|11pt_avg|utility|G|binG|relstring|"
    rb"yaap|unj_\d+|rbp(_resid)?(_[\d.,]+)?"
)


def are_measures(probe: Probe) -> bool:
    """Whether the lines are what trec_eval prints: a measure, a query or "all", and its value."""
    return mostly(
        first_rows(probe), lambda row: len(row) == 3 and bool(_MEASURE.fullmatch(row[0]))
    )


def scan(source: Source, layout: LineLayout) -> Iterator[pl.DataFrame]:
    """Yield parsed blocks; the next ones are parsed while the caller works on this one."""
    return ahead(lambda block: _parse(*block, source, layout), enumerate(source.blocks()))


ENCODED = "calipers-%"
"""What stands in place of a tag where ids are written as in web addresses, blanks as %20."""


def decoded_ids(ids: pl.Series) -> pl.Series:
    """Percent-encoded ids as they were before."""
    changed = ids.filter(ids.str.contains("%", literal=True)).unique().to_list()
    plain = {name: "" if name == "%00" else unquote(name) for name in changed}
    return ids.replace(plain) if plain else ids


def _parse(number: int, block: bytes, source: Source, layout: LineLayout) -> pl.DataFrame:
    """The rows of a block, with ids as they were before they were encoded for this format."""
    frame = _parse_block(number, block, source, layout)
    # A search for one character is far faster than one for several, and most blocks have none.
    if layout.tag is None or b"%" not in block or ENCODED.encode() not in block:
        return frame
    tags = _parse_leniently(
        _cleaned(block), replace(layout, columns=((layout.tag, "tag"),))
    )
    is_encoded = tags["tag"] == ENCODED
    return frame.with_columns(
        decoded_ids(frame[name]).zip_with(is_encoded, frame[name])
        for name in ("query", "item")
    )


def _parse_block(
    number: int, block: bytes, source: Source, layout: LineLayout
) -> pl.DataFrame:
    separator = b"\t" if b"\t" in block[: block.find(b"\n") + 1 or None] else b" "
    blanks = _single_blanks(block, separator)
    if blanks is None:
        block = _cleaned(block)
        separator = b" "
        if not block:
            return empty(layout)
        blanks = _single_blanks(block, separator)
    try:
        frame = _parse_columns(block, separator, layout, blanks)
    except pl.exceptions.PolarsError:
        frame = None
    holes = frame is not None and any(column.null_count() for column in frame)
    if frame is None or holes or not frame[layout.number].is_finite().all():
        _explain(source, number, layout)
        return _parse_leniently(_cleaned(block), layout)
    return frame


def _single_blanks(block: bytes, separator: bytes) -> int | None:
    """The number of blanks and line ends, if columns are separated by single ones; else None."""
    other = b" " if separator == b"\t" else b"\t"
    if other in block or block[:1] in (b"#", b"\n", separator):
        return None
    # A search for two characters is far slower than for one.
    if b"#" in block and b"\n#" in block:
        return None
    characters = np.frombuffer(block, dtype=np.uint8)
    blanks = 0
    for begin in range(0, characters.size, AT_ONCE):
        # Every control character counts as a blank: one comparison is faster than two, and
        # cleaning a block without need does no harm.
        blank = characters[begin : begin + AT_ONCE + 1] <= ord(" ")
        if (blank[1:] & blank[:-1]).any():
            return None
        blanks += int(np.count_nonzero(blank[:AT_ONCE]))
    return blanks


def _cleaned(block: bytes) -> bytes:
    """One blank between columns, no comments, no empty lines."""
    block = re.sub(rb"[ \t]+", b" ", block)
    block = re.sub(rb"(?m)^ | $", b"", block)
    return re.sub(rb"(?m)^(#.*)?(\n|\Z)", b"", block)


def _parse_columns(
    block: bytes, separator: bytes, layout: LineLayout, blanks: int | None
) -> pl.DataFrame:
    wanted = dict(layout.columns)
    first = block[: block.find(b"\n") + 1 or None].rstrip(b"\n").split(separator)
    n_columns = len(first)
    schema = {
        f"column_{i + 1}": pl.Float64() if wanted.get(i) == layout.number else pl.String()
        for i in range(max(n_columns, layout.needed))
    }
    read = partial(
        pl.read_csv,
        block,
        separator=separator.decode(),
        has_header=False,
        quote_char=None,
        truncate_ragged_lines=True,
    )
    frame = read(columns=[i for i, _ in layout.columns], schema=schema)
    if layout.rank is not None and n_columns > layout.rank:
        even = blanks == frame.height * n_columns - (not block.endswith(b"\n"))
        usual = even and n_columns <= len(layout.format.split())
        if not usual or not NUMBER.fullmatch(first[layout.rank]):
            # Extra columns come from a tag with spaces, which is fine, or from an id with spaces.
            ranked = {**schema, f"column_{layout.rank + 1}": pl.Float64()}
            read(columns=[layout.rank], schema=ranked)
    return frame.rename({f"column_{i + 1}": name for i, name in layout.columns})


def _explain(source: Source, number: int, layout: LineLayout) -> None:
    """Raise for the first bad line of a block, naming it."""
    line_number = 0
    for i, block in enumerate(source.blocks()):
        if i < number:
            line_number += block.count(b"\n")
            continue
        for line in block.split(b"\n"):
            line_number += 1
            if _holds_data(line):
                _check_line(line, source.name, line_number, layout)
        return


def _check_line(line: bytes, name: str, number: int, layout: LineLayout) -> None:
    columns = _columns(line)
    place = f"{name}:{number}"
    if said := not_utf8(line, name, number):
        raise UnreadableFile(said)
    if len(columns) < layout.needed:
        raise InvalidInput(
            f"{place} has {len(columns)} columns; a line of a {layout.name} file has "
            f"{len(layout.format.split())}: {layout.format}."
        )
    if layout.rank is not None and not NUMBER.fullmatch(columns[layout.rank]):
        raise InvalidInput(
            f"{place} has the rank {columns[layout.rank].decode()!r}; a line of a {layout.name} "
            f"file is {layout.format}, and an id cannot hold a blank there: write %20 in "
            "its place, in both files."
        )
    value = columns[{name: i for i, name in layout.columns}[layout.number]]
    if not NUMBER.fullmatch(value) or not np.isfinite(float(value)):
        raise InvalidInput(
            f"{place} has the {layout.number} {value.decode()!r}; "
            f"a {layout.number} is a finite number."
        )


def _parse_leniently(block: bytes, layout: LineLayout) -> pl.DataFrame:
    """Parse valid numbers that are written in a way the fast parser rejects."""
    rows = [_columns(line) for line in block.split(b"\n") if _holds_data(line)]
    data = {
        name: [row[i].decode() if i < len(row) else None for row in rows]
        for i, name in layout.columns
    }
    frame = pl.DataFrame(data, schema=dict.fromkeys(data, pl.String()))
    if layout.number not in data:
        return frame
    numbers = [float(value) for value in frame[layout.number]]
    return frame.with_columns(pl.Series(layout.number, numbers, dtype=pl.Float64))


def _columns(line: bytes) -> list[bytes]:
    """Split a line at spaces and tabs; other white space may be part of an id."""
    return [column for column in re.split(rb"[ \t\r]+", line) if column]


def _holds_data(line: bytes) -> bool:
    """Whether a line is neither empty nor a comment."""
    text = line.strip(b" \t\r")
    return bool(text) and not text.startswith(b"#")


def first_rows(probe: Probe, most: int | None = FIRST) -> list[list[bytes]]:
    """The columns of the first data lines; empty if the file is not such text."""
    if not is_lines(probe):
        return []
    return [_columns(line) for line in islice(_first_lines(probe.source), most)]


def mostly(rows: list[list[bytes]], fits: Callable[[list[bytes]], bool]) -> bool:
    """Whether at least half of the rows fit; the others are reported as errors when read."""
    return bool(rows) and 2 * sum(map(fits, rows)) >= len(rows)


def are_ranked_fours(rows: list[list[bytes]]) -> bool:
    """Whether lines have an item, its rank from 0 or 1 on, and a score that never turns.

    >>> are_ranked_fours([[b"q", b"a", b"1", b"9.5"], [b"q", b"b", b"2", b"8"]])
    True
    >>> are_ranked_fours([[b"q", b"0", b"1", b"1"], [b"q", b"0", b"2", b"0"]])
    False
    """
    if not rows or not all(len(row) == 4 and NUMBER.fullmatch(row[3]) for row in rows):
        return False
    by_query: dict[bytes, list[list[bytes]]] = {}
    for row in rows:
        by_query.setdefault(row[0], []).append(row)
    several = [lines for lines in by_query.values() if len(lines) > 1]
    return bool(several) and all(map(_is_ranking, several))


def _is_ranking(lines: list[list[bytes]]) -> bool:
    """Whether the lines of one query are a ranking: no item twice, and ranks that count up."""
    ranks = [line[2] for line in lines]
    first = 0 if ranks[0] == b"0" else 1
    counted = [str(rank).encode() for rank in range(first, first + len(ranks))]
    scores = [float(line[3]) for line in lines]
    turns = {b > a for a, b in pairwise(scores) if a != b}
    is_each_once = len({line[1] for line in lines}) == len(lines)
    return is_each_once and ranks == counted and len(turns) < 2


def holds_texts(probe: Probe) -> bool:
    """Whether cells contain spaces, so that they are texts and not ids.

    Cells stand between tabs, or between other signs of which each line has as many.
    """
    lines = [line.strip(b" \t\r") for line in islice(_first_lines(probe.source), FIRST)]
    for sign in (b";", b"|"):
        counts = {line.count(sign) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and min(counts) > 1:
            return True
    divided = [line.split(b"\t") for line in lines if b"\t" in line]
    return any(b" " in cell.strip() for cells in divided for cell in cells)


def _first_lines(source: Source) -> Iterator[bytes]:
    lines = source.head.replace(b"\r\n", b"\n").split(b"\n")
    # The last line may be cut off.
    whole = (
        lines[:-1]
        if len(source.head) >= HEAD - len(BYTE_ORDER_MARK) and lines[1:]
        else lines
    )
    return filter(_holds_data, whole)


def place_of(source: Source, row: int) -> str:
    """The place of the line with the n-th row of data."""
    seen = -1
    for number, line in source.lines():
        if _holds_data(line):
            seen += 1
            if seen == row:
                return f"{source.name}:{number}"
    return source.name


def empty(layout: LineLayout) -> pl.DataFrame:
    """The table of a file without lines."""
    return pl.DataFrame(
        schema={
            n: pl.Float64() if n == layout.number else pl.String()
            for _, n in layout.columns
        }
    )
