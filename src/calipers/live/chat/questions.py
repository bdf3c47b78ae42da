"""A language model as the writer of questions, each held to the words it was written from."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Unpack

import msgspec

from calipers.errors import InvalidInput, RetrieverFailed, check_number
from calipers.io.corpus import Corpus, open_corpus
from calipers.io.files.open import Progress
from calipers.live.chat.client import Reply, ask_model, chat_model
from calipers.live.chat.prompts import WRITE, WRITE_FROM_THIS, filled, read_written, why_rejected
from calipers.live.chat.result import SHORTEST_CHUNK, WrittenQuestions
from calipers.live.keywords import AskingModel
from calipers.model.labels import MACHINE
from calipers.text import normalise

ASKED_BEFORE = "the same question was asked before"


def questions_from(
    corpus: Any,
    *,
    endpoint: str,
    model: str,
    n: int,
    seed: int,
    key_env: str | None,
    reading: Progress | None,
    **asking: Unpack[AskingModel],
) -> WrittenQuestions:
    """Let a language model write one question from each of n chunks, drawn by ``seed``.

    A question whose quote does not stand in its chunk is rejected and counted.
    """
    check_number("n", n, whole=True, least=1)
    machine = chat_model(endpoint, model, WRITE, read_written, key_env=key_env)
    source = MACHINE + model
    opened = open_corpus(corpus, reading)
    short: Counter[bool] = Counter()
    drawn = heapq.nsmallest(n, _chunks(opened, seed, short))
    if not drawn:
        raise InvalidInput(
            f"The corpus {opened.name} holds no chunk of at least {SHORTEST_CHUNK} characters to "
            "write a question from; check that it is the right one."
        )
    prompts = [filled(WRITE_FROM_THIS, passage=chunk.text) for chunk in drawn]
    replies, report = ask_model(machine, prompts, **asking)
    records, rejected = _sorted_out(drawn, replies, source)
    if not records:
        reasons = "; ".join(f"{count} times: {reason}" for reason, count in rejected.items())
        raise RetrieverFailed(f"No question of {model} can be used ({reasons}).")
    return WrittenQuestions(tuple(records), source, len(drawn), short[True], dict(rejected), report)


class _Chunk(NamedTuple):
    place: bytes
    """Where it stands in the order of drawing."""
    text: str
    document: str | None


def _chunks(corpus: Corpus, seed: int, short: Counter[bool]) -> Iterator[_Chunk]:
    for batch in corpus.batches():
        rows = batch.select("id", "text", "document", "named").iter_rows()
        for name, text, document, named in rows:
            is_short = len(normalise(text)) < SHORTEST_CHUNK
            short[is_short] += 1
            if not is_short:
                # A hash instead of a generator: the draw does not hang on the order of the chunks.
                place = hashlib.sha256(msgspec.json.encode([seed, name, text])).digest()
                yield _Chunk(place, text, document if named else None)


def _sorted_out(
    drawn: list[_Chunk], replies: list[Reply], source: str
) -> tuple[list[dict[str, Any]], Counter[str]]:
    records: list[dict[str, Any]] = []
    rejected: Counter[str] = Counter()
    seen: set[str] = set()
    for chunk, reply in zip(drawn, replies, strict=True):
        if reply.text is None:
            continue
        written = read_written(reply.text)
        reason = why_rejected(written, chunk.text)
        asked = normalise(written.question or "", ignore_case=True)
        if reason is None and asked in seen:
            reason = ASKED_BEFORE
        if reason is not None:
            rejected[reason] += 1
            continue
        seen.add(asked)
        target = {"quote": written.quote}
        if chunk.document is not None:
            target["document"] = chunk.document
        records.append(
            {"query": written.question, "tags": {"source": source}, "ground_truth": [target]}
        )
    return records, rejected
