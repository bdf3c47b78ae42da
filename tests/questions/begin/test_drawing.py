"""Which candidates are asked, and how many are looked at for that."""

from collections import Counter

from calipers.io.documents.sections import as_document
from calipers.io.documents.walk import corpus_of
from calipers.questions.begin.candidates import Candidate
from calipers.questions.begin.drawing import IN_PLACES, NOT_REACHED, Drawing
from calipers.questions.begin.library import Library

PROSE = "The client waits for a while and then tries the same call again."


def test_of_many_copies_thirty_times_as_many_as_are_wanted_are_looked_at():
    """In a folder of 20,000 near copies all of them were looked at, which took half a minute."""
    documents = [as_document(f"{n}.md", "markdown", f"# Page {n}\n\n{PROSE}\n") for n in range(80)]
    copies = [
        Candidate(f"Page {one.name}", "headings", one.name, 1, quotes=(PROSE,)) for one in documents
    ]
    dropped: Counter[str] = Counter()
    drawing = Drawing(Library(documents), corpus_of(documents, "docs"), 2, 0)
    assert drawing.draw({"headings": copies}, dropped).candidates == []
    assert dropped == {IN_PLACES: 60, NOT_REACHED: 20}
