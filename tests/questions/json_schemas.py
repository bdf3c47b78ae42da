"""The JSON Schema of every document that `--json` prints, made from the samples of all operations.

`make schemas` writes them; without it a document whose schema would be another one is a failed
test. Any value may be null, where it is not known: a sample cannot show that it never is. What is
null in a sample, or a list without entries, has the type that the class of the result declares.
"""

import json
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

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
        *("options", "failures", "thresholds", "facts", "snippets"),
    }
)
"""Objects whose keys are data, such as the names of metrics."""
ANYTHING = "settings"
"""An object whose keys are data, and whose values may be of any type."""
OPTIONAL = frozenset({"detail"})
"""What some entries of a list have and others have not."""
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
        if name == ANYTHING:
            return {"type": ["object", "null"], "additionalProperties": {}}
        parts = {key: inferred(one, key) for key, one in value.items()}
        of_systems = name == "fingerprints" and all(isinstance(one, dict) for one in value.values())
        if name in BY_NAME or of_systems or not all(_FIELD.fullmatch(key) for key in value):
            return {"type": ["object", "null"], "additionalProperties": _together(parts.values())}
        required = sorted(parts.keys() - OPTIONAL)
        return {"type": ["object", "null"], "properties": parts, "required": required}
    if isinstance(value, list):
        return {"type": ["array", "null"], "items": _together(map(inferred, value))}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": [kinds[type(value)], "null"]}


def declared(schema: Schema, result: Any) -> Schema:
    """The schema of a result's document, with what its class declares where the result has nothing.

    Only what is printed as it is has such a type: texts, numbers and lists of them.
    """
    if isinstance(result, Mapping):
        parts = schema.get("properties", {})
        for key, one in parts.items():
            parts[key] = declared(one, result.get(key))
        for one in result.values() if "additionalProperties" in schema else ():
            schema["additionalProperties"] = declared(schema["additionalProperties"], one)
    elif isinstance(result, Sequence) and not isinstance(result, str):
        for one in result if "items" in schema else ():
            schema["items"] = declared(schema["items"], one)
    elif is_dataclass(result):
        parts = schema.get("properties", {})
        for key, one in parts.items():
            hint, value = _attribute(result, key)
            parts[key] = declared(one, value)
            if value is None and not one:
                parts[key] = _printed(hint)
            if isinstance(value, tuple | list) and one.get("items") == {}:
                parts[key] = one | {"items": _printed(hint).get("items", {})}
    return schema


def _attribute(result: Any, key: str) -> tuple[Any, Any]:
    """The type that is declared for a key of a result's document, and the value there."""
    kind = type(result)
    names = dict(pair.partition("=")[::2] for pair in getattr(kind, "dict_keys", "").split())
    name = names.get(key) or key
    hints = {one.name: one.type for one in fields(result)}
    shown = getattr(kind, name, None)
    if isinstance(shown, property):
        hints[name] = shown.fget.__annotations__.get("return")
    return hints.get(name), getattr(result, name, None) if name in hints else None


def _printed(hint: Any) -> Schema:
    """The schema of a declared type; empty where it is not certain how it is printed."""
    if isinstance(hint, str):
        hint = {"str | None": str, "int | None": int, "float | None": float}.get(hint)
    several = [one for one in get_args(hint) if one is not NoneType]
    if get_origin(hint) is Literal:
        return _together(map(inferred, several))
    if get_origin(hint) in (tuple, list, Sequence):
        items = _printed(several[0])
        return {"type": ["array", "null"], "items": items} if items else {}
    if get_origin(hint) in (Union, UnionType):
        kinds = [_printed(one) for one in several]
        return _together(kinds) if all(kinds) else {}
    if not isinstance(hint, type) or get_origin(hint) is not None:
        return {}
    kinds_of = {bool: "boolean", int: "integer", float: "number", str: "string"}
    kinds_of |= {datetime: "string", Path: "string"}
    known = next((name for kind, name in kinds_of.items() if issubclass(hint, kind)), None)
    return {"type": [known, "null"]} if known else {}


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


def held(name: str, document: dict[str, Any], result: Any) -> None:
    """Compare a document with its schema, or write the schema where that is asked for."""
    assert document["schema"] == 1
    is_part = name in PARTS_OF
    name = PARTS_OF.get(name, name)
    path = FOLDER / f"{name}.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    seen = inferred(document) if is_part else declared(inferred(document), result)
    known = expanded(stored, stored.get("$defs", {}))
    # One of several samples shows a part of the schema; another must not show anything else.
    others = known if WRITES or name in PARTS_OF.values() else {}
    text = _written(name, others, seen)
    if WRITES:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return
    assert stored, "a new document: run `make schemas`"
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(stored)
    jsonschema.validate(document, stored)
    assert text == path.read_text(encoding="utf-8"), "run `make schemas`, and say what is new"


def _written(name: str, known: Schema, seen: Schema) -> str:
    """The file of a schema: what is known of it, with what another document shows."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"What --json prints: {name}",
    }
    if known:
        known["properties"]["schema"] = seen["properties"]["schema"]
    body = merged({key: part for key, part in known.items() if key not in head}, seen)
    body["properties"]["schema"] = {"const": 1}
    return laid_out(head | shared(body)) + "\n"


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
