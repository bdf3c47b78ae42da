"""What is printed about quotes that were looked for."""

from io import StringIO

from rich.console import Console

from calipers import resolve
from calipers.questions.resolve.show import print_resolution

CORPUS = {"gil": "The GIL is a lock.", "list": "A list is an array."}


def printed(*targets: dict[str, object]) -> str:
    console = Console(file=StringIO(), width=200)
    evals = [{"query": "q", "ground_truth": list(targets)}]
    print_resolution(resolve(evals, CORPUS), console, written=None)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_an_unknown_document_is_not_blamed_on_spelling() -> None:
    text = printed({"quote": "is a lock", "document": "docs/gil.md"})
    assert "1 quote not found: the corpus does not have the document (docs/gil.md)." in text
    assert "(it stands in gil)" in text
    assert "spelling" not in text


def test_another_spelling_is() -> None:
    text = printed({"quote": "is a lokc"}, {"quote": "is a lock", "document": "list"})
    assert "spelling and punctuation count" in text
    assert "does not have the document" not in text


def test_nothing_to_do_is_said_and_not_counted() -> None:
    text = printed({"quote": "is a lock", "document": "gil", "start": 8, "end": 17})
    assert "0 of 0" not in text
    assert "No quote is open: each has its place, or there is none." in text
