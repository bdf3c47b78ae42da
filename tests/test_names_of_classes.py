"""One name, one thing: whoever searches for a class finds one."""

import ast
from collections import defaultdict
from pathlib import Path

import calipers

SOURCE = Path(calipers.__file__).parent


def test_no_public_class_has_the_name_of_another():
    homes = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert "Matched" in homes
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
