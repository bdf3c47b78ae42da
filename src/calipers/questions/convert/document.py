"""A conversion as a document: what was read, what was written, what was left out."""

from calipers.model.document import Document
from calipers.questions.convert.rule import Conversion
from calipers.words import plural

SHOWN = {"targets": "target", "results": "result"}


def document(conversion: Conversion) -> Document:
    """What was written, from what, and what the format could not hold."""
    held = [
        plural(count, name)
        for facet, name in SHOWN.items()
        if (count := conversion.counts.get(facet))
    ]
    source = f" from {' and '.join(conversion.read)}" if conversion.read else ""
    read = ", ".join(held) or "no targets and no results"
    return Document(
        f"Wrote {', '.join(conversion.files)} ({conversion.form}){source}: {read}.",
        notes=[*conversion.sentences],
    )
