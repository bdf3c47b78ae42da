"""The documents of a folder, and their sections as the chunks of a corpus."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.corpus import Corpus, files_in, in_tables, open_corpus
from calipers.io.documents.sections import TextDocument, as_document
from calipers.io.documents.walk import PassedOver, Progress, TextFile, read_folder

ENDINGS = ".md, .rst, .html, .txt, .py, .ipynb or .pdf"


def read_documents(
    place: Path, passed: PassedOver, progress: Progress | None = None
) -> list[TextDocument]:
    """The documents of a folder, or the rows of a corpus file."""
    if place.is_dir():
        documents = [as_document(one) for one in read_folder(place, passed, progress)]
        if not documents and files_in(place)[1]:
            documents = _rows(open_corpus(place, progress))
    elif place.exists():
        documents = _rows(open_corpus(place, progress))
    else:
        raise UnreadableFile(f"There is no folder {place}; check its name.")
    documents = [one for one in documents if one.text.strip()]
    if not documents:
        others = ", ".join(f"{n:,} {reason}" for reason, n in passed.counts.items())
        raise InvalidInput(
            f"Name a folder with documents: {place} holds none that can be read "
            f"({ENDINGS}){f'; passed over: {others}' if others else ''}."
        )
    return documents


def _rows(corpus: Corpus) -> list[TextDocument]:
    found: dict[str, TextDocument] = {}
    for batch in corpus.batches():
        for name, text in batch.select("id", "text").iter_rows():
            found[name] = as_document(TextFile(name, "markdown", text))
    return list(found.values())


def corpus_of(documents: Iterable[TextDocument], name: str) -> Corpus:
    """The sections of documents as chunks."""
    return Corpus(name, lambda: in_tables(_chunks(documents)))


def _chunks(documents: Iterable[TextDocument]) -> Iterator[dict[str, Any]]:
    for document in documents:
        for number, (start, end) in enumerate(document.chunks(), 1):
            yield {
                "id": f"{document.name}#{number}",
                "document": document.name,
                "text": document.text[start:end],
                "start": start,
            }


def open_folder(folder: Path) -> Corpus:
    """The sections of a folder's documents as a corpus, in memory."""
    return corpus_of(read_documents(folder, PassedOver()), str(folder))
