"""The corpus of the demo: Python's own language reference, which every Python carries."""

import re
from dataclasses import dataclass
from pydoc_data import topics

TARGET_LENGTH = 700


@dataclass(frozen=True)
class Chunk:
    """A piece of one topic, with its place in it, in characters."""

    id: str
    document: str
    start: int
    end: int
    text: str


def documents() -> dict[str, str]:
    """The topics, without those that another topic repeats word for word."""
    flat = {name: " ".join(text.split()) for name, text in topics.topics.items()}
    return {
        name: topics.topics[name]
        for name, text in sorted(flat.items())
        # A topic's heading differs where it is repeated as a section, so it is left aside.
        if not any(text[60:] in other for key, other in flat.items() if key != name)
    }


def chunks(target_length: int = TARGET_LENGTH) -> list[Chunk]:
    """Every document cut at empty lines into pieces of about the target length."""
    found = []
    for document, text in documents().items():
        for number, (start, end) in enumerate(_pieces(text, target_length)):
            found.append(Chunk(f"{document}#{number}", document, start, end, text[start:end]))
    return found


def _pieces(text: str, target_length: int) -> list[tuple[int, int]]:
    cuts = [match.end() for match in re.finditer(r"\n\s*\n", text)] + [len(text)]
    pieces = []
    start = 0
    for i, cut in enumerate(cuts):
        following = cuts[i + 1] if i + 1 < len(cuts) else cut
        if cut - start and (following - start > target_length or cut == len(text)):
            pieces.append((start, cut))
            start = cut
    return pieces
