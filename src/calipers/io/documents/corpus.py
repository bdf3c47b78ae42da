"""The documents of a folder, and their sections as the chunks of a corpus."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.corpus import Corpus, files_in, in_tables, open_corpus
from calipers.io.documents.sections import TextDocument, as_document
from calipers.io.documents.walk import PassedOver, Progress, read_folder

ENDINGS = ".md, .rst, .html, .txt, .py, .ipynb or .pdf"


def read_documents(
    place: Path, passed: PassedOver, progress: Progress | None = None
) -> list[TextDocument]:
    """The documents of a folder, or the rows of a corpus file."""
    if not place.exists():
        raise UnreadableFile(f"There is no folder {place}; check its name.")
    documents = []
    if place.is_dir():
        documents = [as_document(*one) for one in read_folder(place, passed, progress)]
    if not documents and (not place.is_dir() or files_in(place)[1]):
        batches = open_corpus(place, progress).batches()
        rows = dict(row for one in batches for row in one.select("id", "text").iter_rows())
        documents = [as_document(name, "markdown", text) for name, text in rows.items()]
    documents = [one for one in documents if one.text.strip()]
    if not documents:
        others = ", ".join(f"{len(names):,} {reason}" for reason, names in passed.items())
        raise InvalidInput(
            f"Name a folder with documents: {place} holds none that can be read "
            f"({ENDINGS}){f'; passed over: {others}' if others else ''}."
        )
    return documents


def corpus_of(documents: Iterable[TextDocument], name: str) -> Corpus:
    """The sections of documents as chunks."""

    def chunks() -> Iterator[dict[str, Any]]:
        for one in documents:
            for number, (start, end) in enumerate(one.chunks(), 1):
                chunk = {"document": one.name, "text": one.text[start:end], "start": start}
                yield {"id": f"{one.name}#{number}", **chunk}

    return Corpus(name, lambda: in_tables(chunks()))


def open_folder(folder: Path) -> Corpus:
    """The sections of a folder's documents as a corpus, in memory."""
    return corpus_of(read_documents(folder, {}), str(folder))
