"""What a release needs beside its files: checks, and a list of what is in it.

python tools/release.py check v0.1.0     whether this tree may be released under that tag
python tools/release.py sbom FILE        what is installed with Calipers, as CycloneDX
"""

import json
import os
import re
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def version() -> str:
    """The version, from the one place that says it."""
    text = (ROOT / "src/calipers/version.py").read_text(encoding="utf-8")
    return str(re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0])


def problems(tag: str) -> Iterator[str]:
    """Why this tree may not be released under that tag."""
    if tag != f"v{version()}":
        yield f"The tag is {tag} and src/calipers/version.py says {version()}."
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"\n## {version()}" not in changes:
        yield f"CHANGELOG.md has no part for {version()}."
    for name in ("pyproject.toml", "templates/gitlab-ci.yml"):
        if "github.com/OWNER/" in (ROOT / name).read_text(encoding="utf-8"):
            yield f"{name} says OWNER; write who publishes."
    for name in ("CITATION.cff", "templates/gitlab-ci.yml"):
        if version() not in (ROOT / name).read_text(encoding="utf-8"):
            yield f"{name} is of another version."


def _required(name: str) -> list[str]:
    """What a package needs here, without its extras."""
    from packaging.requirements import Requirement

    needed = [Requirement(one) for one in metadata.requires(name) or []]
    return sorted(
        one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})
    )


def sbom() -> dict[str, Any]:
    """What is installed with Calipers, and what needs what, as CycloneDX 1.6."""
    reached: dict[str, list[str]] = {}
    waiting = ["calipers"]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name not in reached:
            reached[name] = _required(name)
            waiting += reached[name]
    address = {name: f"pkg:pypi/{name}@{metadata.version(name)}" for name in sorted(reached)}
    parts = [
        {
            "type": "application" if name == "calipers" else "library",
            "bom-ref": address[name],
            "name": name,
            "version": metadata.version(name),
            "purl": address[name],
            **_license(name),
        }
        for name in address
    ]
    needs = {
        name: sorted(address[re.sub(r"[-_.]+", "-", one).lower()] for one in reached[name])
        for name in address
    }
    content = json.dumps([parts, needs], sort_keys=True)
    made = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), UTC)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": next(one for one in parts if one["name"] == "calipers"),
        },
        "components": [one for one in parts if one["name"] != "calipers"],
        "dependencies": [{"ref": address[one], "dependsOn": needs[one]} for one in address],
    }


def _license(name: str) -> dict[str, Any]:
    said = metadata.metadata(name)
    known = "License-Expression" in said
    return {"licenses": [{"expression": said["License-Expression"]}]} if known else {}


def main(words: list[str]) -> int:
    """Do what the words ask."""
    match words:
        case ["check", tag]:
            found = list(problems(tag))
            print("\n".join(found) or f"{tag} may be released.")
            return 1 if found else 0
        case ["sbom", file]:
            Path(file).write_text(json.dumps(sbom(), indent=2) + "\n", encoding="utf-8")
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
