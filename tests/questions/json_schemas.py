"""The JSON Schema of every document that `--json` prints, made from the samples of all operations.

`make schemas` writes them; without it a document that has a new field, or lacks a promised one, is
a failed test. Any value may be null, where it is not known: a sample cannot show that it never is.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import calipers

FOLDER = Path(calipers.__file__).parent / "schemas"
WRITES = "CALIPERS_WRITE_SCHEMAS" in os.environ
PARTS_OF = dict.fromkeys(("slices", "bounds", "corrected"), "evaluate")
"""Documents that are another one with a part more."""
BY_NAME = frozenset(
    {
        *("tags", "weights", "errors", "counts", "params", "parameters", "reasons", "waterfall"),
        *("judges", "metrics", "means", "grades", "values", "scores", "levels", "lost", "numbers"),
        *("settings", "options", "failures", "unread", "thresholds"),
    }
)
"""Objects whose keys are data, such as the names of metrics."""
_FIELD = re.compile(r"[a-z][a-z0-9_]*")

Schema = dict[str, Any]


def inferred(value: Any, name: str = "") -> Schema:
    """The narrowest schema of a value."""
    if value is None:
        return {}
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
    if WRITES:
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        head = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"What --json prints: {name}",
        }
        if known:
            known["properties"]["schema"] = seen["properties"]["schema"]
        body = merged({k: v for k, v in known.items() if k not in head}, seen)
        body["properties"]["schema"] = {"const": 1}
        FOLDER.mkdir(exist_ok=True)
        path.write_text(json.dumps(head | body, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return
    assert path.exists(), "a new document: run `make schemas`"
    stored = json.loads(path.read_text(encoding="utf-8"))
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(stored)
    jsonschema.validate(document, stored)
    assert _names(seen) <= _names(stored), "a new field: run `make schemas`, and say so"


def _names(schema: Schema, path: str = "") -> set[str]:
    """Every field that a schema knows, by its path."""
    found = set[str]()
    for key, one in schema.get("properties", {}).items():
        found |= {f"{path}.{key}", *_names(one, f"{path}.{key}")}
    for part in ("items", "additionalProperties"):
        if part in schema:
            found |= _names(schema[part], f"{path}[]")
    return found
