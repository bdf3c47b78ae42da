"""OTLP: spans of OpenTelemetry as they are exported, resource by resource."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from calipers.io.formats.openinference import retrievals
from calipers.io.records import Record
from calipers.io.wholes import Place, WholeFormat


class Scope(msgspec.Struct):
    """The spans of one instrument."""

    spans: list[dict[str, Any]] = []


class Resource(msgspec.Struct):
    """The spans of one program."""

    scope_spans: list[Scope] = msgspec.field(name="scopeSpans", default_factory=list)


class Export(msgspec.Struct):
    """One export."""

    resource_spans: list[Resource] = msgspec.field(name="resourceSpans")


def recognise(first: Mapping[str, Any]) -> bool:
    """``resourceSpans``."""
    return "resourceSpans" in first


def _records(whole: Export, place: Place) -> Iterator[tuple[str, Record]]:
    passing: list[str] = []

    def rows() -> Iterator[Any]:
        for i, resource in enumerate(whole.resource_spans):
            for j, scope in enumerate(resource.scope_spans):
                for k, span in enumerate(scope.spans):
                    passing.append(place(f"$.resourceSpans[{i}].scopeSpans[{j}].spans[{k}]"))
                    yield partial(str, passing[-1]), span

    for record in retrievals(rows()):
        yield passing[-1], record


FORM = WholeFormat(
    name="otlp",
    title="OpenInference spans in an OTLP export",
    recognise=recognise,
    whole=Export,
    records=_records,
    example='{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": […]}]}]}]}',
    kept=frozenset({"resourceSpans"}),
    fields={"retrieved": "retrieval.documents"},
)
