"""A confirmation as a document."""

from calipers.model.document import Document, of_claim
from calipers.questions.confirm.rule import Confirmation


def document(found: Confirmation) -> Document:
    """The answer, and what is left of the budget."""
    return of_claim(found.claim)
