"""Workbooks as Excel saves them, written by hand, so that no library that writes them is needed."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """Sheets of rows of texts, numbers, truth values and None (an empty cell)."""
    numbers = range(1, len(sheets) + 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        overrides = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
            f'ContentType="{_SHEET}.worksheet+xml"/>'
            for i in numbers
        )
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override '
            f'PartName="/xl/workbook.xml" ContentType="{_SHEET}.sheet.main+xml"/>'
            f"{overrides}</Types>",
        )
        book.writestr("_rels/.rels", _links([("officeDocument", "xl/workbook.xml")]))
        listed = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="rId{i}"/>'
            for i, name in zip(numbers, sheets, strict=True)
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        targets = [("worksheet", f"worksheets/sheet{i}.xml") for i in numbers]
        book.writestr("xl/_rels/workbook.xml.rels", _links(targets))
        for i, rows in zip(numbers, sheets.values(), strict=True):
            cells = "".join(_row(number, row) for number, row in enumerate(rows, 1))
            book.writestr(
                f"xl/worksheets/sheet{i}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>',
            )
    return path


def _links(targets: Sequence[tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="rId{i}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def _row(number: int, row: Sequence[object]) -> str:
    cells = [_cell(f"{chr(65 + i)}{number}", one) for i, one in enumerate(row) if one is not None]
    return f'<row r="{number}">{"".join(cells)}</row>' if cells else ""


def _cell(place: str, value: object) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
