"""A confirmation as a document."""

from calipers.model.document import Document, of_claim
from calipers.questions.confirm.rule import Confirmation


def document(found: Confirmation) -> Document:
    """The answer, and the looks left."""
    return of_claim(found.claim)
