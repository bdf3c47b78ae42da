"""Where a record of another tool keeps the question, what came back and what should be found.

A log keeps the answer of a search engine beside the question; an experiment keeps inputs, outputs
and reference outputs. A field is taken by its name and by its value together: a list of results is
one only if results can be read from it. Whatever is found is read as a trial before it counts.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import Any

from calipers.frozen import dataclass
from calipers.io.records.documents import (
    BadDocument,
    is_number,
    read_document,
    results_in,
    text_in_parts,
)
from calipers.io.records.json_files import opened
from calipers.io.tables.cells import decoded_text, looks_like_texts
from calipers.io.tables.usual_names import IGNORED
from calipers.names import (
    ANSWER_LISTS,
    ANSWER_WORDS,
    ASKED_IN,
    NO_PART_WORDS,
    QUERY_ID,
    QUERY_TEXT,
    QUESTION_IN_INPUT,
    RETURNED_IDS,
    RETURNED_WORDS,
    ROW_ID,
    WANTED_WORDS,
    plain_name,
)

_DEEPEST = 4
"""How many objects inside one another are searched."""
_MOST_FIELDS = 200
Record = Mapping[str, object]


@dataclass(frozen=True)
class Layout:
    """The paths of the parts of a record, such as ``outputs.documents``; empty if not found."""

    query: str
    retrieved: tuple[str, ...] = ()
    """Every list of results, the likeliest first."""
    ground_truth: tuple[str, ...] = ()
    """Every list of targets, the likeliest first."""

    def names(self) -> dict[str, str]:
        """Our fields, each with the path of the likeliest part."""
        parts = {
            "query": self.query,
            "retrieved": next(iter(self.retrieved), ""),
            "ground_truth": next(iter(self.ground_truth), ""),
        }
        return {ours: path for ours, path in parts.items() if path}


def layout_of(records: Sequence[Record], said: Set[str] = frozenset()) -> Layout | None:
    """The layout of some records, judged by their names and values; None without a question.

    A part that the user ``said`` stands under our own name already.
    """
    query = question_or_id(records[0]) or question_inside(records[0])
    if query is None:
        return None
    returned: dict[str, int] = {}
    wanted: dict[str, int] = {}
    for path, _ in fields_in(records[0]):
        side = "" if path == query else side_of(path)
        values = [part_at(record, path) for record in records] if side else []
        if side == "wanted" and are_targets(values) and not _are_answers(path, values):
            wanted[path] = 0
        elif side == "returned" and _are_results(values):
            returned[path] = _turn(path)
    if not wanted:
        # Without a field of its own, what should be found is kept among the outputs.
        for path in [path for path in returned if WANTED_WORDS & {*_words(path)}]:
            del returned[path]
            wanted[path] = 0
    return Layout(
        query,
        ("retrieved",) if "retrieved" in said else _outermost(returned),
        ("ground_truth",) if "ground_truth" in said else _outermost(wanted),
    )


def _outermost(paths: Mapping[str, int]) -> tuple[str, ...]:
    """The paths in their turn, without those inside of another one."""
    kept = [
        path
        for path in paths
        if not any(path.startswith(f"{other}.") for other in paths if other != path)
    ]
    return tuple(sorted(kept, key=lambda path: paths[path]))


def nearest(layout: Layout, records: Sequence[Record]) -> Layout:
    """The layout whose targets meet the results first, where there are several lists of them."""
    if not layout.retrieved or len(layout.ground_truth) < 2:
        return layout
    returned = {
        name for record in records for name in _names(record, layout.retrieved[0])
    }

    def misses(path: str) -> bool:
        return returned.isdisjoint(
            name for record in records for name in _names(record, path)
        )

    return replace(layout, ground_truth=tuple(sorted(layout.ground_truth, key=misses)))


def _names(record: Record, path: str) -> list[str]:
    return ids_in(part_at(record, path)) or []


def value_at(record: Record, path: str) -> object:
    """The value at a path; a key may hold a dot itself, and an object stand alone in a list.

    >>> value_at({"turns": [{"output": {"chunks": ["a"]}}]}, "turns.output.chunks")
    ['a']
    """
    if path in record:
        return record[path]
    step, dot, rest = path.partition(".")
    while dot:
        inner = only_object(record.get(step))
        if inner is not None:
            return value_at(inner, rest)
        further, dot, rest = rest.partition(".")
        step = f"{step}.{further}"
    return None


def only_object(value: object) -> Record | None:
    """A value if it is an object, also as JSON in a text, or the only one in a list; else None."""
    value = _opened_text(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, Mapping) else None


def _opened_text(value: object) -> object:
    """The object or list that stands as JSON in a text; any other value unchanged."""
    return decoded_text(value) if isinstance(value, str) and value[:1] in "{[" else value


def question_at(record: Record, path: str) -> object:
    """The question at a path; of messages, what the user asked last."""
    value = value_at(record, path)
    return value if isinstance(value, str) else (_asked_text(value) or value)


def _asked_text(value: object) -> str | None:
    """The question in a list of one, in the messages of a chat or in the parts of a prompt.

    >>> _asked_text(["Who?"]), _asked_text({"content": [{"text": "Who?"}]})
    ('Who?', 'Who?')
    """
    if isinstance(value, Mapping):
        return text_in_parts(value.get("content"))
    if not isinstance(value, list):
        return None
    if len(value) == 1 and isinstance(value[0], str):
        return value[0]
    return last_asked(value)


def last_asked(messages: object) -> str | None:
    """The text of the last message of a user; None if these are not messages.

    >>> last_asked([{"role": "user", "content": "Who?"}, {"role": "assistant"}])
    'Who?'
    """
    for message in reversed(messages if isinstance(messages, list) else []):
        people = {"user", "human"}
        if (
            not isinstance(message, Mapping)
            or not {message.get("role"), message.get("type")} & people
        ):
            continue
        # OpenTelemetry calls it parts.
        content = message.get("content") or message.get("parts")
        if isinstance(content, list):
            parts = (part for part in content if isinstance(part, Mapping))
            texts = (part.get("text") or part.get("content") for part in parts)
            content = " ".join(text for text in texts if isinstance(text, str))
        if isinstance(content, str) and content.strip():
            return content.strip()
    return None


def part_at(record: Record, path: str) -> object:
    """The results or targets at a path; a list of one list, as Chroma answers, is that list."""
    value = _opened_text(value_at(record, path))
    if isinstance(value, list) and (calls := _file_searches(value)):
        return calls
    if isinstance(value, list) and len(value) == 1:
        only = value[0]
        if isinstance(only, list):
            return only
        if isinstance(only, Mapping) and isinstance(only.get("neighbors"), list):
            return only["neighbors"]  # Vertex AI answers a list of queries
    if isinstance(value, Mapping) and {"relevance", "fields"} <= value.keys():
        return value.get(
            "children", []
        )  # Vespa leaves the list out where there are no hits
    return value


def _file_searches(output: Sequence[object]) -> list[dict[str, object]]:
    """The results in an answer of OpenAI's model, each with the number of its search.

    >>> _file_searches([{"type": "file_search_call", "results": [{"file_id": "a"}]}])
    [{'file_id': 'a', 'call': 1}]
    """
    steps = [step for step in output if isinstance(step, Mapping)]
    calls = [step for step in steps if step.get("type") == "file_search_call"]
    return [
        {**result, "call": number}
        for number, call in enumerate(calls, 1)
        for result in call.get("results") or ()
        if isinstance(result, Mapping)
    ]


def fields_in(
    record: Record, before: str = "", depth: int = 1
) -> Iterator[tuple[str, object]]:
    """Every field of a record and of the objects in it, with its path."""
    for key, value in islice(record.items(), _MOST_FIELDS):
        path = f"{before}{key}"
        if path.endswith(IGNORED):
            continue
        yield path, value
        inner = only_object(value)
        if inner is not None and depth < _DEEPEST:
            yield from fields_in(inner, f"{path}.", depth + 1)


def _words(path: str) -> list[str]:
    """The words of a path, in order.

    >>> _words("referenceOutputs.doc_ids"), _words("data.Get.Article")
    (['reference', 'outputs', 'doc', 'ids'], ['data', 'get', 'article'])
    """
    return [word for step in path.split(".") for word in plain_name(step).split("_")]


def side_of(path: str) -> str:
    """Whether a path names what should be found ("wanted") or what came back ("returned").

    The first step that says anything decides, and in a step what is expected wins:
    ``expected_retrieved_context``.

    >>> side_of("reference_outputs.doc_ids"), side_of("outputs.doc_ids"), side_of("author")
    ('wanted', 'returned', '')
    """
    if NO_PART_WORDS & {*_words(path)}:
        return ""
    for step in path.split("."):
        words = set(plain_name(step).split("_"))
        if words & WANTED_WORDS:
            return "wanted"
        if words & RETURNED_WORDS or plain_name(step) in (*ANSWER_LISTS, *RETURNED_IDS):
            return "returned"
    return "returned" if path.startswith(_WEAVIATE) or ".Get." in path else ""


_WEAVIATE = "data.Get."


def _turn(path: str) -> int:
    """The place of a path among several lists of results: the surest name first."""
    last = plain_name(path.rpartition(".")[2])
    return ANSWER_LISTS.index(last) if last in ANSWER_LISTS else 0


MESSAGES = "messages"
"""The field in which chats keep what was said."""


def question_in(record: Record) -> str | None:
    """The path of the question: a text under a usual name, or the only text of the inputs.

    Where there is neither, its id stands for it.
    """
    plain = {plain_name(str(key)): str(key) for key in reversed([*record])}
    # Nearly every record has none of the many names, and each look takes its time.
    for name in filter(plain.__contains__, (*QUERY_TEXT, *ASKED_IN, MESSAGES)):
        asked = opened(record[plain[name]])
        if isinstance(asked, str) or _asked_text(asked) is not None:
            return plain[name]
    for holder in (
        plain[name] for name in (*ASKED_IN, "query", "question") if name in plain
    ):
        inner = opened(record[holder])
        if not isinstance(inner, Mapping):
            continue
        if last_asked(inner.get(MESSAGES)) is not None:
            return f"{holder}.{MESSAGES}"
        texts = [str(key) for key, value in inner.items() if isinstance(value, str)]
        usual = (*QUESTION_IN_INPUT, *QUERY_TEXT, "text")
        known = [key for key in texts if plain_name(key) in usual]
        if known or len(texts) == 1:
            return f"{holder}.{(known or texts)[0]}"
    flat = (
        key for key in map(str, record) if plain_name(key.partition(".")[0]) in ASKED_IN
    )
    dotted = [key for key in flat if "." in key and isinstance(record[key], str)]
    if len(dotted) == 1:
        return dotted[0]
    return next((plain[name] for name in QUERY_ID if name in plain), None)


def with_question(record: dict[str, Any]) -> dict[str, Any]:
    """A record whose question has our name, and is no object or list of messages.

    >>> with_question({"input": "Who?"}), with_question({"query": {"text": "Who?", "qid": 7}})
    ({'query': 'Who?'}, {'query': 'Who?', 'qid': 7})
    """
    if all(record.get(name) is None for name in ("query", "question", "text")):
        usual = (key for key in record if plain_name(str(key)) in QUERY_TEXT)
        known = next(usual, None)
        if known is None and isinstance(record.get("input"), str):
            known = "input"
        if known is not None:
            record["query"] = record.pop(known)
    asked = record.get("query")
    path = question_in({"query": asked}) if isinstance(asked, Mapping | list) else None
    if path is None:
        return record
    record["query"] = question_at({"query": asked}, path)
    if isinstance(asked, Mapping):
        record |= {name: asked[name] for name in QUERY_ID if name in asked}
    return record


def question_or_id(record: Record) -> str | None:
    """The path of the question, or of the ``id`` that stands beside a list of results.

    >>> question_or_id({"id": "q1", "results": ["a"]})
    'id'
    """
    plain = {plain_name(str(key)): str(key) for key in record}
    query = question_in(record)
    if query is not None or "text" in plain:
        return query
    ids = [plain[name] for name in ROW_ID if name in plain]
    return next((key for key in ids if isinstance(opened(record[key]), str | int)), None)


def question_inside(record: Record, depth: int = 1) -> str | None:
    """The path of the question in an object of a record, such as ``node.question``.

    >>> question_inside({"node": {"question": "Who?"}, "cursor": "c"})
    'node.question'
    """
    for key, value in islice(record.items(), _MOST_FIELDS):
        held = only_object(value)
        if held is None:
            continue
        known = [name for name in held if plain_name(str(name)) in QUERY_TEXT]
        texts = [
            name
            for name in known
            if isinstance(held[name], str) or _asked_text(held[name]) is not None
        ]
        if texts:
            return f"{key}.{texts[0]}"
        if depth < _DEEPEST and (inner := question_inside(held, depth + 1)) is not None:
            return f"{key}.{inner}"
    return None


def with_open_texts(record: Record) -> dict[str, object]:
    """The record with objects and lists that stand in it as JSON in a text."""
    return {
        str(key): decoded_text(value)
        if isinstance(value, str) and value[:1] in ("{", "[")
        else value
        for key, value in record.items()
    }


def _are_results(values: Sequence[object]) -> bool:
    """Whether every value is a list of ids, texts or documents, or an answer that holds one."""
    rows = [ids_in(value) for value in values if value is not None]
    return any(rows) and all(ids is not None for ids in rows)


def are_targets(values: Sequence[object]) -> bool:
    """Whether every value is a list of ids, texts or documents, or has a grade for each id."""
    plain = [value for value in values if value is not None]
    graded = [value for value in plain if isinstance(value, Mapping)]
    if graded:
        return len(graded) == len(plain) and all(
            value and all(map(is_number, value.values())) for value in graded
        )
    return _are_results(plain)


def _are_answers(path: str, values: Sequence[object]) -> bool:
    """Whether a list says in sentences what an answer should be."""
    texts = [text for value in values for text in ids_in(value) or ()]
    return bool(ANSWER_WORDS & {*_words(path)}) and looks_like_texts(texts)


def ids_in(value: object) -> list[str] | None:
    """The ids, or else the texts, of a list of results; None if it is none.

    >>> ids_in({"hits": {"hits": [{"_id": "a"}]}}), ids_in([0.5, 0.2])
    (['a'], None)
    """
    if not isinstance(value, list | tuple | Mapping):
        return None
    if isinstance(value, Mapping) and all(map(is_number, value.values())):
        return None  # numbers by name: settings, counts, times
    try:
        listed = results_in(value)
        rows = [read_document(item) for item in listed]
    except BadDocument:
        return None
    if any(isinstance(item, float) for item in listed):
        return None
    return [str(row.text if row.id is None else row.id) for row in rows]


def shown(query: str, targets: Sequence[str], results: Sequence[str]) -> str:
    """One query as it was understood, so that a swap of the two sides is seen.

    >>> shown("How do I?", ["a", "b"], ["a", "x", "y", "z"])
    '"How do I?": should find a, b; returned a, x, y, …'
    """
    parts = []
    for what, ids in (("should find", targets), ("returned", results)):
        if ids:
            cut = [
                name if not looks_like_texts([name]) else f"{name[:25]}…"
                for name in ids[:3]
            ]
            parts.append(f"{what} {', '.join(cut)}{', …' if len(ids) > 3 else ''}")
    return f'"{query[:40]}{"…" if len(query) > 40 else ""}": {"; ".join(parts)}'
