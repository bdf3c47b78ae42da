"""Files of other kinds, named for what they are: topics, answers, scores, prose.

They hold neither results nor judgements, however much they look as if they did. Whoever gives
one is told what it is and what to give instead.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from calipers.io.files.probe import Sight
from calipers.io.records.json_files import as_object
from calipers.io.tables.lines import are_measures, first_rows, holds_texts, is_lines, mostly

_TOPIC_MARK = re.compile(rb"<(top|topic|topics|num|query|DOC)\b[^>]*>", re.IGNORECASE)
_TABBED_TOPIC = re.compile(rb"\S+\t[^\t]*[^\d\s][^\t]* [^\t]*")
_COLON_TOPIC = re.compile(rb"\w+:\s*[^\d\s].* .*")
_PROMPTFOO = re.compile(rb"^(prompts|providers|tests|defaultTest)\s*:", re.MULTILINE)
_ROWS_WITHOUT_NAMES = re.compile(rb"\s*\[\s*\[")

TOPICS = (
    "is a topic file: questions without results and without judgements. Give the judgements "
    "(qrels) as the ground truth and a run as the results; to ask a live retriever, write the "
    "questions as JSON lines with id and query"
)
NAMELESS = (
    "is a list of lists: rows without the names of their columns, as pandas writes them with "
    "orient='values'. Write it with orient='records', which keeps the names"
)
MEASURES = (
    "is what trec_eval printed: the values of measures, which cannot be measured again. Give the "
    "judgements (qrels) and the run that they were made from"
)
PROSE = (
    "is plain text, neither a table nor TREC lines. Give a table with a header, such as "
    "question,chunk_id, or JSON lines with query and ground_truth"
)
_MTEB = (
    "is a result of MTEB: scores without rankings, which cannot be measured again. Save the "
    "predictions of the task (prediction_folder=…), and give them as the run and the judgements "
    "of the task as the ground truth"
)
_PROMPTFOO_OUTPUT = (
    "is the output of promptfoo: answers and whether they passed, not what was retrieved. Give "
    "records with query, retrieved and ground_truth, such as the vars and the contexts of each test"
)
_OBJECTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"scores", "task_name"}), _MTEB),
    (frozenset({"scores", "mteb_version"}), _MTEB),
    (frozenset({"evalId", "results"}), _PROMPTFOO_OUTPUT),
    (
        frozenset({"predictions", "class_name"}),
        "holds predictions of LlamaIndex without their questions. Give the LabelledRagDataset as "
        "the ground truth, and records with query and retrieved as the run",
    ),
)
_SCORES = (
    "holds the scores of queries that `calipers eval --per-query` wrote: values, and neither "
    "results nor what should be found. Give it to eval, compare or gate; here, give the "
    "run or the ground truth that it was measured from"
)
_SCORE_COLUMNS = frozenset({"query", "text", "status", "retrieved", "targets"})
_SQUAD = (
    "is SQuAD: questions with paragraphs and answers. Answers are not what a retriever returns: "
    "make a table of it with the columns question and quote, where quote is the sentence or "
    "paragraph to find (or name the column: --column quote=context)"
)
_PROMPTFOO_FILE = (
    "is a configuration of promptfoo: prompts and tests, not what was retrieved. Give records "
    "with query, retrieved and ground_truth"
)


def what_it_is(sight: Sight) -> str | None:
    """What a file is that no form knows, and what to give instead; None where that is not clear."""
    if sight.look is not None and sight.look.shape == "object":
        return of_object(sight.look.first)
    if sight.look is not None and _ROWS_WITHOUT_NAMES.match(sight.source.head):
        return NAMELESS
    if sight.look is not None and sight.look.keys >= _SCORE_COLUMNS:
        return _SCORES
    known = of_columns(sight.table.columns) if sight.table is not None else None
    if known is not None or not is_lines(sight):
        return known
    head = sight.source.head
    if _TOPIC_MARK.search(head):
        return TOPICS
    if are_measures(sight):
        return MEASURES
    if len(_PROMPTFOO.findall(head)) > 1:
        return _PROMPTFOO_FILE
    return _of_lines(sight)


def of_object(value: Mapping[Any, Any]) -> str | None:
    """The same for one object, decoded or not."""
    for keys, words in _OBJECTS:
        if keys <= value.keys():
            return words
    inner = value.get("results")
    inner = as_object(inner) if isinstance(inner, msgspec.Raw) else inner
    if isinstance(inner, Mapping) and {"results", "stats"} <= inner.keys():
        return _PROMPTFOO_OUTPUT
    data = value.get("data")
    data = msgspec.json.decode(data) if isinstance(data, msgspec.Raw) else data
    first = data[0] if isinstance(data, list) and data else None
    return _SQUAD if isinstance(first, Mapping) and "paragraphs" in first else None


def of_columns(columns: Collection[str]) -> str | None:
    """The same for the columns of a table."""
    if set(columns) >= _SCORE_COLUMNS:
        return _SCORES
    return _SQUAD if {"question", "context", "answers"} <= set(columns) else None


def _of_lines(sight: Sight) -> str | None:
    lines = [line for line in sight.source.head.splitlines()[:50] if line.strip()]
    for topic in (_TABBED_TOPIC, _COLON_TOPIC):
        if 2 * sum(bool(topic.fullmatch(line.strip())) for line in lines) > len(lines):
            return TOPICS
    words = mostly(first_rows(sight), lambda row: len(row) >= 5)
    return PROSE if words and not _is_divided(lines) and not holds_texts(sight) else None


def _is_divided(lines: list[bytes]) -> bool:
    """Whether a sign stands in the first line, and at least as often in most others."""
    for sign in (b"\t", b";", b",", b"|"):
        often = [line.count(sign) for line in lines]
        if often[0] and len(often) > 1 and sum(one >= often[0] for one in often) > 0.8 * len(often):
            return True
    return False
