"""What a file brought, as plain rows to compare by eye."""

import json
from pathlib import Path
from typing import Any

from calipers.io.load import load
from calipers.model.matched import Role

FIXTURES = Path(__file__).parents[2] / "data" / "formats"


def put(folder: Path, name: str, content: Any) -> Path:
    """A file with a text, with JSON, or with a record on each line."""
    if name.endswith(".jsonl") and isinstance(content, list):
        content = "\n".join(map(json.dumps, content))
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def targets(value: Any, role: Role = "both") -> list[dict[str, Any]]:
    """The targets, absent fields and the usual grade of 1 left out."""
    found = load(value, role).ground_truth
    assert found is not None
    return [
        {k: v for k, v in row.items() if v is not None and (k, v) != ("grade", 1.0)}
        for row in found.targets.to_dicts()
    ]


def results(value: Any, role: Role = "both") -> list[dict[str, Any]]:
    """The results in rank order, absent fields and the rank left out."""
    found = load(value, role).run
    assert found is not None
    return [
        {k: v for k, v in row.items() if v is not None and k != "rank"}
        for row in found.frame.to_dicts()
    ]


def texts(value: Any, role: Role = "both") -> dict[str, str | None]:
    """The text of each query."""
    found = load(value, role)
    held = found.ground_truth or found.run
    assert held is not None
    assert held.queries is not None
    return dict(held.queries.select("query", "text").rows())
