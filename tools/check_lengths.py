"""Check that no source file has grown past what a reader holds in mind.

Run it from the root of the repository.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

MOST_LINES = 350


def too_long(folder: Path, most: int = MOST_LINES) -> Iterator[tuple[Path, int]]:
    """Yield each Python file under the folder with more lines than allowed, and its lines."""
    for path in sorted(folder.rglob("*.py")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > most:
            yield path, lines


def main() -> int:
    """Print every file that is too long; 0 if there is none, else 1."""
    found = list(too_long(Path("src")))
    for path, lines in found:
        print(f"{path}: {lines} lines, {MOST_LINES} allowed; split it by noun")
    print(f"file lengths: {f'{len(found)} too long' if found else 'all fine'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
