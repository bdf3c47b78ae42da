"""The questions to ask, from whatever holds them: a file, a ground truth, a list of texts."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.source import Source
from calipers.model.ground_truth import GroundTruth
from calipers.retrievers.base import Question

Id = str | int


class _Asked(msgspec.Struct):
    """The part of a record that is asked; also BEIR's spelling of it."""

    query: Id | None = None
    id: Id | None = None
    question: str | None = None
    text: str | None = None
    beir_id: Id | None = msgspec.field(name="_id", default=None)


_LINE = msgspec.json.Decoder(_Asked)
_LIST = msgspec.json.Decoder(list[_Asked | str])


def read_questions(value: Any) -> tuple[Question, ...]:
    """The questions in a file, a ground truth, a mapping of id to text, or a list.

    >>> read_questions(["Who wrote it?", {"query": "When?", "id": "q2"}])
    (Question(id='Who wrote it?', text='Who wrote it?'), Question(id='q2', text='When?'))
    """
    if isinstance(value, str | os.PathLike):
        return _once_each(lambda: _from_file(Path(value)), str(value))
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
        return _once_each(lambda: _from_mapping(value), "questions")
    if isinstance(value, list | tuple):
        return _once_each(lambda: _from_list(value), "questions")
    return _once_each(lambda: _from_ground_truth(value, "questions"), "questions")


def fingerprint(questions: Iterable[Question]) -> str:
    """The same for the same questions, whatever their order."""
    digest = hashlib.sha256()
    for question in sorted(questions):
        # As JSON, so that no text can be written to look like two.
        digest.update(msgspec.json.encode(question))
    return digest.hexdigest()[:32]


def _from_file(path: Path) -> Iterator[tuple[str, Question]]:
    source = Source(path)
    head = source.head.lstrip()
    if head[:1] not in (b"{", b"["):
        yield from _from_ground_truth(path, str(path))
        return
    source.check_has_content()
    if head[:1] == b"[":
        try:
            listed = _LIST.decode(source.read())
        except msgspec.DecodeError:
            yield from _from_ground_truth(path, str(path))
            return
        yield from _from_list(listed, str(path))
        return
    yield from _from_lines(source)


def _from_lines(source: Source) -> Iterator[tuple[str, Question]]:
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            asked = _LINE.decode(line)
        except msgspec.DecodeError:
            if number > 1:
                raise InvalidInput(
                    f"A line is no question at {source.name}:{number}; each line is a JSON object "
                    'with "query", such as {"query": "Who wrote it?"}.'
                ) from None
            yield from _from_ground_truth(source.path, source.name)
            return
        yield f"{source.name}:{number}", _question(asked, f"{source.name}:{number}")


def _from_mapping(texts: Mapping[Any, str]) -> Iterator[tuple[str, Question]]:
    for key, text in texts.items():
        yield f"questions[{key!r}]", Question(str(key), text)


def _from_list(values: Sequence[Any], name: str = "questions") -> Iterator[tuple[str, Question]]:
    for number, one in enumerate(values):
        place = f"{name}[{number}]"
        if isinstance(one, Question):
            yield place, one
        elif isinstance(one, str):
            yield place, Question(one, one)
        else:
            try:
                asked = one if isinstance(one, _Asked) else msgspec.convert(one, _Asked)
            except msgspec.ValidationError:
                raise InvalidInput(
                    f"{place} is no question: {one!r:.80}; give a text, or a record with 'query'."
                ) from None
            yield place, _question(asked, place)


def _question(asked: _Asked, place: str) -> Question:
    text = next((t for t in (asked.query, asked.question, asked.text) if t is not None), None)
    if text is None:
        raise InvalidInput(
            f'A record holds no question at {place}; give it a "query" with the text to ask.'
        )
    known = asked.id if asked.id is not None else asked.beir_id
    return Question(str(text if known is None else known), str(text))


def _from_ground_truth(value: Any, name: str) -> Iterator[tuple[str, Question]]:
    found = load(value, "ground_truth")
    truth: GroundTruth | None = found.ground_truth
    queries = truth.queries if truth is not None else found.run.queries if found.run else None
    if queries is None or not queries.height:
        raise InvalidInput(f"{name} holds no questions; give a file with a question per record.")
    texts = queries["text"] if "text" in queries.columns else queries["query"]
    if texts.null_count() == queries.height:
        if not any(" " in query for query in queries["query"].head(20)):
            raise InvalidInput(
                f"{name} knows its queries only by ids such as {queries['query'][0]!r}, and an id "
                'cannot be asked; give a file of records with "id" and "query" (the text).'
            )
        texts = queries["query"]
    for query, text in zip(queries["query"], texts, strict=True):
        yield f"{name} (query {query!r:.60})", Question(query, text if text is not None else query)


def _once_each(
    read: Callable[[], Iterable[tuple[str, Question]]], name: str
) -> tuple[Question, ...]:
    """The questions with their places, each of which may be asked.

    The places are not kept, as they would double the memory of many questions: where two have
    the same id, the place of the first is read once more.
    """
    questions: list[Question] = []
    seen: set[str] = set()
    for place, question in read():
        if not question.text.strip():
            raise InvalidInput(f"A question is empty at {place}; give it a text, or leave it out.")
        if not _is_valid(question.text) or not _is_valid(question.id):
            raise InvalidInput(
                f"A question holds half a character (a lone surrogate) at {place}; write it again."
            )
        if question.id in seen:
            before = next(at for at, one in read() if one.id == question.id)
            raise InvalidInput(
                f"Two questions have the same id {question.id!r:.80}: {before} and {place}; "
                "give each an 'id' of its own, or keep one."
            )
        seen.add(question.id)
        questions.append(question)
    if not questions:
        raise InvalidInput(f"{name} holds no questions; give at least one.")
    return tuple(questions)


def _is_valid(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
