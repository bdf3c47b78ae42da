"""The JSON Schema of every document that `--json` prints, made from the samples of all operations.

`make schemas` writes them; without it a document that has a new field, or lacks a promised one, is
a failed test. Any value may be null, where it is not known: a sample cannot show that it never is.
"""

import json
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.model.fact import Fact

FOLDER = Path(calipers.__file__).parent / "schemas"
WRITES = "CALIPERS_WRITE_SCHEMAS" in os.environ
PARTS_OF = dict.fromkeys(("slices", "corrected"), "evaluate")
"""Documents that are another one with a part more."""
BY_NAME = frozenset(
    {
        *("tags", "weights", "errors", "counts", "params", "parameters", "reasons"),
        *("judges", "metrics", "means", "grades", "values", "scores", "levels", "lost", "numbers"),
        *("settings", "options", "failures", "thresholds"),
    }
)
"""Objects whose keys are data, such as the names of metrics."""
_FIELD = re.compile(r"[a-z][a-z0-9_]*")

Schema = dict[str, Any]


def _kind(annotation: str) -> str:
    """The JSON type of a field of a fact."""
    known = {"float": "number", "int": "integer", "bool": "boolean"}
    return known.get(annotation.partition(" ")[0], "string")


def _facts() -> Schema:
    """A fact, whose fields are those of its class: a sample holds but some of them."""
    annotations = {one.name: str(getattr(one.type, "__name__", one.type)) for one in fields(Fact)}
    parts = {name: {"type": [_kind(one), "null"]} for name, one in annotations.items()}
    return {"type": ["object", "null"], "properties": parts, "required": ["about"]}


SENTENCES: Schema = {
    "type": ["array", "null"],
    "items": {
        "type": ["object", "null"],
        "properties": {
            "text": {"type": ["string", "null"]},
            "facts": {"type": ["array", "null"], "items": _facts()},
        },
        "required": ["facts", "text"],
    },
}
"""What a result says: every sentence with the facts that it is made of."""


def inferred(value: Any, name: str = "") -> Schema:
    """The narrowest schema of a value."""
    if value is None:
        return {}
    if name == "sentences":
        return SENTENCES
    if isinstance(value, dict):
        parts = {key: inferred(one, key) for key, one in value.items()}
        if name in BY_NAME or not all(_FIELD.fullmatch(key) for key in value):
            return {"type": ["object", "null"], "additionalProperties": _together(parts.values())}
        return {"type": ["object", "null"], "properties": parts, "required": sorted(parts)}
    if isinstance(value, list):
        return {"type": ["array", "null"], "items": _together(map(inferred, value))}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": [kinds[type(value)], "null"]}


def _together(schemas: Any) -> Schema:
    result: Schema = {}
    for one in schemas:
        result = merged(result, one)
    return result


def merged(one: Schema, other: Schema) -> Schema:
    """A schema that allows what either allows."""
    if not one or not other:
        return one or other
    types = sorted({*one["type"], *other["type"]} - {"null"})
    if "number" in types and "integer" in types:
        types.remove("integer")
    result: Schema = {"type": [*types, "null"]}
    for name in ("items", "additionalProperties"):
        if name in one or name in other:
            result[name] = merged(one.get(name, {}), other.get(name, {}))
    if "properties" in one or "properties" in other:
        mine, theirs = one.get("properties", {}), other.get("properties", {})
        if "additionalProperties" in result:
            values = (*mine.values(), *theirs.values(), result["additionalProperties"])
            result["additionalProperties"] = _together(values)
            return result
        result["properties"] = {
            key: merged(mine.get(key, {}), theirs.get(key, {})) for key in (*mine, *theirs)
        }
        always = [set(each["required"]) for each in (one, other) if "required" in each]
        result["required"] = sorted(set.intersection(*always))
    return result


def held(name: str, document: dict[str, Any]) -> None:
    """Compare a document with its schema, or write the schema where that is asked for."""
    assert document["schema"] == 1
    name = PARTS_OF.get(name, name)
    path = FOLDER / f"{name}.json"
    seen = inferred(document)
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known = expanded(stored, stored.get("$defs", {}))
    if WRITES:
        head = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"What --json prints: {name}",
        }
        if known:
            known["properties"]["schema"] = seen["properties"]["schema"]
        body = merged({k: v for k, v in known.items() if k not in head}, seen)
        body["properties"]["schema"] = {"const": 1}
        FOLDER.mkdir(exist_ok=True)
        path.write_text(laid_out(head | shared(body)) + "\n", "utf-8")
        return
    assert stored, "a new document: run `make schemas`"
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(stored)
    jsonschema.validate(document, stored)
    assert _names(seen) <= _names(known), "a new field: run `make schemas`, and say so"


def shared(schema: Schema) -> Schema:
    """The same schema, with each object that stands in it more than once defined once."""
    often = Counter(json.dumps(one) for _, one in _objects(schema))
    names: dict[str, str] = {}
    for name, one in _objects(schema):
        text = json.dumps(one)
        if often[text] > 1 and text not in names:
            free = (name + "_" * more for more in range(len(names) + 1))
            names[text] = next(one for one in free if one not in names.values())

    def refer(value: Any, keep: str = "") -> Any:
        if isinstance(value, list):
            return [refer(one) for one in value]
        if not isinstance(value, dict):
            return value
        text = json.dumps(value)
        if text in names and text != keep:
            return {"$ref": f"#/$defs/{names[text]}"}
        return {key: refer(one) for key, one in value.items()}

    defined = {name: refer(json.loads(text), keep=text) for text, name in names.items()}
    whole: Schema = refer(schema)
    return whole | ({"$defs": defined} if defined else {})


def _objects(value: Any, name: str = "part") -> Iterator[tuple[str, Schema]]:
    """Every schema of an object below a schema, with the field it describes."""
    if not isinstance(value, dict):
        return
    if "properties" in value:
        yield name, value
    for key, one in value.get("properties", {}).items():
        yield from _objects(one, key)
    for part in ("items", "additionalProperties"):
        yield from _objects(value.get(part), name)


def expanded(value: Any, definitions: Schema) -> Any:
    """A schema with its definitions where they are used."""
    if isinstance(value, list):
        return [expanded(one, definitions) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return expanded(definitions[value["$ref"].rpartition("/")[2]], definitions)
    return {key: expanded(one, definitions) for key, one in value.items() if key != "$defs"}


def laid_out(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON in lines of at most 100 characters: a value on one line where it fits."""
    flat = json.dumps(value, ensure_ascii=False)
    if indent + before + len(flat) < 100 or not isinstance(value, dict | list):
        return flat
    inner = " " * (indent + 1)
    if isinstance(value, list):
        words = textwrap.fill(flat[1:-1], 100, initial_indent=inner, subsequent_indent=inner)
        return f"[\n{words}\n{' ' * indent}]"
    lines = (
        f'{inner}"{key}": {laid_out(one, indent + 1, len(key) + 4)}' for key, one in value.items()
    )
    return "{\n" + ",\n".join(lines) + f"\n{' ' * indent}}}"


def _names(schema: Schema, path: str = "") -> set[str]:
    """Every field that a schema knows, by its path."""
    found = set[str]()
    for key, one in schema.get("properties", {}).items():
        found |= {f"{path}.{key}", *_names(one, f"{path}.{key}")}
    for part in ("items", "additionalProperties"):
        if part in schema:
            found |= _names(schema[part], f"{path}[]")
    return found
