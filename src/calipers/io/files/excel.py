"""Excel and LibreOffice spreadsheets: one sheet as a table, every cell a text."""

import io
import zipfile

import polars as pl

from calipers.errors import InvalidInput, MissingExtra, UnreadableFile
from calipers.io.files.open import Source, most_unpacked
from calipers.io.tables.columns import Columns
from calipers.io.tables.scan import InputTable
from calipers.model.fact import Fact, named, sentence
from calipers.version import pip_install

ZIP = b"PK\x03\x04"
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of .xlsx and .ods, and of .xls."""
WORKBOOKS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
"""A file in the zip of each kind of spreadsheet: Excel, binary Excel, LibreOffice."""
SAVE_AS_CSV = "or save the sheet as CSV (UTF-8) and give that file"


def is_spreadsheet(source: Source) -> bool:
    """Whether the content is a workbook and not another zip file."""
    if source.head.startswith(OLD):
        return True
    if not source.head.startswith(ZIP):
        return False
    try:
        with _opened(source) as book:
            return any(name in book.namelist() for name in WORKBOOKS)
    except (zipfile.BadZipFile, OSError, ValueError):
        # A truncated file has lost its directory, but keeps its first name.
        return b"[Content_Types].xml" in source.head[:200]


def _check_size(source: Source) -> None:
    """Refuse a small file that claims an implausibly large content (a zip bomb)."""
    if not source.head.startswith(ZIP):
        return
    try:
        with _opened(source) as book:
            parts = book.infolist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return  # damaged: the reader reports it
    packed = sum(part.compress_size for part in parts)
    unpacked = sum(part.file_size for part in parts)
    if unpacked > most_unpacked(packed):
        raise UnreadableFile(
            f"The Excel file {source.name} of {packed:,} bytes unpacks to {unpacked >> 20:,} MB; "
            f"such a file is usually made to fill the memory. If it is not, {SAVE_AS_CSV[3:]}."
        )


def sheet_table(source: Source, columns: Columns) -> InputTable:
    """The sheet named by the user, or the first one, as a table."""
    _check_size(source)
    names = _sheet_names(source)
    columns.sheets[source.name] = names
    asked = columns.sheet if columns.sheet in names else None
    if columns.sheet is not None and asked is None and len(names) > 1:
        raise columns.no_such_sheet()
    name = asked or names[0]
    cells = _read(source, name)
    if cells.height < 2:
        raise UnreadableFile(
            f"The sheet {name!r} of {source.name} holds no rows below a header; nothing can be "
            f"measured from it.{_others(names, name)}"
        )
    header = [str(one or "").strip() for one in cells.row(0)]
    twice = next((one for one in header if one and header.count(one) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"{source.name} has the column {twice!r} twice in the sheet {name!r}; give each column "
            "a name of its own, or write several ids into one cell with ';' between them."
        )
    called = {
        old: new or f"column {i}"
        for i, (old, new) in enumerate(zip(cells.columns, header, strict=True), 1)
    }
    below = cells.slice(1).with_row_index("__at", 1)
    below = below.filter(~pl.all_horizontal(pl.col(cells.columns).is_null()))
    at = below["__at"]
    kept = below.drop("__at").rename(called)
    notes: tuple[str, ...] = ()
    if asked is None and len(names) > 1:
        notes = (
            sentence(
                "{file.text} has {it.count} sheets, and the first, {first.text}, is read; "
                "--sheet takes another: {others.text}.",
                file=named(source.name),
                it=Fact(about="count", count=len(names), text="sheets"),
                first=named(repr(name)),
                others=named(", ".join(names[1:])[:200]),
            ),
        )
    return InputTable(
        kept.lazy,
        source.name,
        lambda row: f"{source.name}, sheet {name!r}, row {at[row]} below the header",
        frozenset(kept.columns),
        notes=notes,
        listed=tuple(kept.columns),
    )


def _others(names: list[str], name: str) -> str:
    others = [one for one in names if one != name]
    return (
        f" Its other sheets are {', '.join(others)[:200]}: --sheet NAME."
        if others
        else ""
    )


def _sheet_names(source: Source) -> list[str]:
    try:
        import fastexcel
    except ImportError:
        raise MissingExtra(
            f"{source.name} is an Excel file, which needs a library; install it with "
            f"{pip_install('excel')}, {SAVE_AS_CSV}."
        ) from None
    try:
        names = fastexcel.read_excel(source.place).sheet_names
    except fastexcel.FastExcelError as error:
        raise _damaged(source, error) from None
    if not names:
        raise UnreadableFile(
            f"The Excel file {source.name} holds no sheet; {SAVE_AS_CSV[3:]}."
        )
    return list(names)


def _read(source: Source, sheet: str) -> pl.DataFrame:
    import fastexcel

    try:
        # As texts: a column of ids may mix numbers and names, and 12 must not become 12.0.
        return pl.read_excel(
            source.place,
            sheet_name=sheet,
            has_header=False,
            infer_schema_length=0,
            drop_empty_rows=False,
            drop_empty_cols=True,
            raise_if_empty=False,
        )
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, ValueError) as error:
        raise _damaged(source, error) from None


def _damaged(source: Source, error: Exception) -> UnreadableFile:
    first = str(error).partition("\n")[0]
    return UnreadableFile(
        f"The Excel file {source.name} cannot be read ({first[:120]}); open it and save it again, "
        f"{SAVE_AS_CSV}. A file with a password cannot be read."
    )


def _opened(source: Source) -> zipfile.ZipFile:
    place = source.place
    return zipfile.ZipFile(io.BytesIO(place) if isinstance(place, bytes) else place)
