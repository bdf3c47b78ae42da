"""OpenSearch User Behavior Insights: what people searched for, what came back, what they clicked.

Two indexes: ``ubi_queries`` holds the searches with the ids of their hits, ``ubi_events`` what
people did with them. They are joined by ``query_id``.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.format import Rows, typed_rows
from calipers.io.formats.spans import OpenInference, Otlp
from calipers.io.formats.traces import (
    Langfuse,
    LangSmith,
    RetrieverCall,
    Span,
    TraceFormat,
    no_calls,
    opened,
    retrievals,
)
from calipers.io.records.schema import At
from calipers.names import words_in

CLICKED = frozenset(
    words_in(
        "click item_click product_click result_click document_click add_to_cart purchase"
    )
)
"""The actions that say that somebody chose a result; views and hovers say nothing."""


class Ubi(TraceFormat):
    """Searches and events, one per row; events alone say nothing of results."""

    name = "ubi"
    title = "searches recorded by OpenSearch UBI"
    example = '{"query_id": …, "user_query": …, "query_response_hit_ids": […]}'
    results_field = "query_response_hit_ids"
    without_calls = (
        "These are events without the searches they belong to; give both: `calipers labels draft "
        "--from-traces ubi_queries.jsonl --from-traces ubi_events.jsonl -o questions.jsonl`."
    )

    def recognise(self, keys: frozenset[str]) -> bool:
        """``query_id`` beside the ids of hits, or beside an action."""
        return "query_id" in keys and bool(
            keys & {"query_response_hit_ids", "action_name"}
        )

    @classmethod
    def may_hold(cls, keys: frozenset[str]) -> bool:
        """Whether a file may hold such rows: as they are, or in an export of OpenSearch."""
        return cls().recognise(keys) or bool(keys & {"_source", "hits"})

    def spans(self, rows: Rows) -> Iterator[Span]:
        """Yield every search."""
        for at, row in _sources(rows):
            if (search := _search(row, at)) is not None:
                hits = tuple({"id": hit} for hit in search.hits)
                call = RetrieverCall(search.question, hits)
                yield Span(search.id, str(row.get("timestamp") or ""), at, call=call)


def _sources(rows: Rows) -> Rows:
    """Yield the documents of an index: as they are, with metadata, or in an answer to a search."""
    for at, row in rows:
        inner = row.get("hits")
        listed = inner.get("hits") if isinstance(inner, Mapping) else None
        for one in listed if isinstance(listed, list) else (row,):
            held = one.get("_source") if isinstance(one, Mapping) else None
            yield at, held if isinstance(held, dict) else one


@dataclass(frozen=True)
class Search:
    """One search: its question, and the ids that came back, best first."""

    id: str
    question: str
    hits: tuple[str, ...]


def _search(row: Mapping[str, object], at: At) -> Search | None:
    """The search in a row; None for an event, or a search for nothing."""
    if "action_name" in row:
        return None
    if "user_query" not in row:
        raise InvalidInput(
            f"A search has no question at {at()}: no 'user_query'; a row is {Ubi.example}."
        )
    asked = row["user_query"]
    if not isinstance(asked, str) or not asked.strip():
        return None
    hits = opened(row.get("query_response_hit_ids"))
    if hits is not None and not isinstance(hits, list):
        raise InvalidInput(
            f"The hits of a search are {hits!r:.60} at {at()}; query_response_hit_ids is a list of "
            "ids."
        )
    listed = (hit for hit in hits or () if hit is not None)
    return Search(str(row.get("query_id")), asked.strip(), tuple(map(str, listed)))


@dataclass(frozen=True)
class Behaviour:
    """The searches of some files, and which of their hits were clicked."""

    searches: tuple[Search, ...]
    clicked: Mapping[str, frozenset[str]]
    """The ids that were clicked in each search, by its id; each once."""
    others: Mapping[str, int]
    """How often each other action was recorded."""


def read_behaviour(files: Iterable[Probe]) -> Behaviour:
    """The searches and clicks in files of either index; none where they hold something else."""
    searches: list[Search] = []
    clicked: dict[str, set[str]] = {}
    others: dict[str, int] = {}
    file_format = Ubi()
    for probe in files:
        if probe.look is None or not file_format.may_hold(probe.look.keys):
            continue
        for at, row in _sources(typed_rows(file_format, probe.records())):
            if not file_format.recognise(frozenset(map(str, row))):
                continue
            if (found := _search(row, at)) is not None:
                searches.append(found)
            elif (action := str(row.get("action_name")).lower()) not in CLICKED:
                others[action] = others.get(action, 0) + 1
            elif (item := _clicked_id(row)) is not None:
                clicked.setdefault(str(row.get("query_id")), set()).add(item)
    several = {query: frozenset(items) for query, items in clicked.items()}
    return Behaviour(tuple(searches), several, others)


def _clicked_id(row: Mapping[str, object]) -> str | None:
    """The id of what an event is about, nested or in a column of its own."""
    about = opened(row.get("event_attributes"))
    thing = about.get("object") if isinstance(about, Mapping) else None
    found = thing.get("object_id") if isinstance(thing, Mapping) else None
    found = row.get("event_attributes.object.object_id") if found is None else found
    return None if found is None else str(found)


_ALLOWED = (
    "give an export of OpenInference or OTLP spans, of LangSmith runs, of Langfuse observations or "
    "of the queries of OpenSearch UBI."
)


def read_traces(file: Probe | str | os.PathLike[str]) -> Iterator[RetrieverCall]:
    """Yield the calls of retrievers in a trace of any tool, one per question."""
    probe = file if isinstance(file, Probe) else Probe(Source(Path(file)))
    if probe.look is None:
        raise InvalidInput(f"{probe.name} holds no traces: it is not JSON; {_ALLOWED}")
    file_formats: tuple[TraceFormat, ...] = (
        Otlp(),
        OpenInference(),
        LangSmith(),
        Langfuse(),
    )
    chosen = (
        (f, owner)
        for owner, keys in probe.row_keys.items()
        for f in file_formats
        if f.recognise(keys)
    )
    file_format, owner = next(
        chosen, (Ubi() if Ubi.may_hold(probe.look.keys) else None, None)
    )
    if file_format is None:
        raise InvalidInput(f"{probe.name} is no part of a trace; {_ALLOWED}")
    spans = [*file_format.spans(typed_rows(file_format, probe.records(owner)))]
    calls = [call for _, call in retrievals(spans)]
    if not calls and not file_format.without_calls:
        raise no_calls(probe.name, len(spans))
    yield from calls
