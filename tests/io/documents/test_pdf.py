"""Headings of a PDF, from its outline and from the size of its type."""

from pathlib import Path

import pytest

import calipers
from calipers.io.documents.pdf import Entry, Line, _by_outline, _by_type, _Gaps
from calipers.io.documents.walk import read_documents

pytest.importorskip("pypdf", reason="pypdf is not installed: pip install pypdf")

LINES = {
    "Return a parcel to the shop": "Send it back within thirty days and the money comes back.",
    "Delivery to another country": "A parcel that leaves the country takes one to two weeks.",
    "Lost keys of the warehouse": "Whoever loses a key tells the guard on the same day at once.",
}


def write_pdf(path: Path, *, outline: bool, heading_size: int = 18) -> Path:
    """A page for each heading, with its text, a header and a page number."""
    from pypdf import PdfReader, PdfWriter

    streams = []
    for number, (heading, text) in enumerate(LINES.items(), 1):
        rows = [
            (9, 190, "Manual of the shop"),
            (heading_size, 150, f"{number}. {heading}"),
            (10, 120, text),
            (10, 105, "It says nothing more about that, whatever else is asked."),
            (9, 10, f"{number}"),
        ]
        streams.append(
            "".join(f"BT /F1 {size} Tf 20 {y} Td ({line}) Tj ET\n" for size, y, line in rows)
        )
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(streams)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, stream in enumerate(streams):
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 500 200] "
            f"/Contents {5 + 2 * at} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    numbered = "".join(f"{at} 0 obj\n{one}\nendobj\n" for at, one in enumerate(objects, 1))
    end = f"trailer\n<< /Root 1 0 R /Size {len(objects) + 1} >>\nstartxref\n0\n%%EOF"
    path.write_bytes(f"%PDF-1.4\n{numbered}{end}".encode())
    if outline:
        writer = PdfWriter(clone_from=PdfReader(path))
        for number, heading in enumerate(LINES):
            writer.add_outline_item(title=heading, page_number=number)
        writer.add_metadata({"/Title": "Manual of the shop"})
        writer.write(path)
    return path


@pytest.mark.parametrize(("outline", "size"), [(True, 10), (True, 18), (False, 18)])
def test_headings_come_from_the_outline_or_the_size_of_their_type(tmp_path, outline, size):
    write_pdf(tmp_path / "a.pdf", outline=outline, heading_size=size)
    [document] = read_documents(tmp_path, {})
    headed = [section for section in document.sections if section.heading]
    assert [section.heading for section in headed] == list(LINES)
    assert [document.line(section.start) for section in headed] == [1, 2, 3]
    for section, text in zip(headed, LINES.values(), strict=True):
        assert document.text[section.body : section.end].strip().startswith(text)
    # Header and page number are no text.
    assert "Manual" not in document.text
    assert document.title == ("Manual of the shop" if outline else "")
    found = calipers.first_questions(tmp_path)
    assert [record["query"].rpartition(": ")[2] for record in found.records] == list(LINES)
    assert found.recall == 1.0


def lines(*texts: str) -> list[Line]:
    """Lines of a page; those between stars are bold."""
    return [Line(text.strip("*"), 10.0, text.startswith("*")) for text in texts]


LONG = "The client waits for a while and then tries the same call again, as was asked."


@pytest.mark.parametrize(
    ("page", "headings"),
    [
        (lines(LONG, "*Retry a request*", LONG), ["Retry a request"]),
        (lines(LONG, "*Security Payload*", "protects what is sent over the network."), []),
        (lines("What is sent is protected by the", "*Security Payload*", LONG), []),
        (lines(LONG, "*The directories that are used are*", LONG), []),
        (lines(LONG, "*Payload*", LONG), []),
    ],
)
def test_bold_words_inside_a_sentence_are_no_heading(page, headings):
    assert [head[-1] for head in _by_type([page])] == headings


def test_a_pdf_without_an_outline_in_one_type_gives_its_text_and_no_heading(tmp_path):
    write_pdf(tmp_path / "a.pdf", outline=False, heading_size=10)
    [document] = read_documents(tmp_path, {})
    assert all(text in document.text for text in LINES.values())
    assert not any(section.heading for section in document.sections)


def test_a_gap_between_words_becomes_a_blank_and_what_follows_stays_in_its_place():
    from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject

    def named(**entries):
        return DictionaryObject({NameObject(f"/{name}"): one for name, one in entries.items()})

    below = ArrayObject([named(DW=FloatObject(600))])
    fonts = named(F1=named(DescendantFonts=below), F2=named())
    gaps = _Gaps(named(Resources=named(Font=fonts)))
    words = ["so", 10, "me", -230, "words"]
    for font, expected in (
        ("/F1", ["so", 10, "me", " ", 370, "words"]),
        ("/F2", words),  # a font that says how wide its blank is
    ):
        operands = [[*words]]
        gaps(b"Tf", [font, 10], None, None)
        gaps(b"TJ", operands, None, None)
        assert operands == [expected]


def test_what_stands_under_a_lost_chapter_stands_not_under_the_one_before():
    pages = [lines("1 Orders", LONG), lines("Appendix B Machines", LONG, "B.1 Print", LONG)]
    entries = [Entry("1 Orders", 0, 1), Entry("B Machines", 1, 1), Entry("B.1 Print", 1, 2)]
    heads = _by_outline(pages, entries)
    assert [head[3:] for head in heads] == [(1, "Orders"), (1, "Machines"), (2, "Print")]
    lost = [entries[0], Entry("C Of no page", 1, 1), entries[2]]
    assert [head[3:] for head in _by_outline(pages, lost)] == [(1, "Orders"), (1, "Print")]


def test_a_pdf_that_cannot_be_read_says_why(tmp_path):
    from pypdf import PdfReader, PdfWriter

    whole = write_pdf(tmp_path / "whole.pdf", outline=True)
    for name, password in (("locked.pdf", "secret"), ("open.pdf", "")):
        writer = PdfWriter(clone_from=PdfReader(whole))
        writer.encrypt(password, "owner", algorithm="RC4-128")
        writer.write(tmp_path / name)
    (tmp_path / "junk.pdf").write_bytes(b"no PDF")
    (tmp_path / "zero.pdf").write_bytes(b"")
    passed: dict[str, list[str]] = {}
    names = [one.name for one in read_documents(tmp_path, passed)]
    assert names == ["open.pdf", "whole.pdf"]
    assert passed == {
        "PDF with a password": ["locked.pdf"],
        "damaged PDF": ["junk.pdf"],
        "empty": ["zero.pdf"],
    }
