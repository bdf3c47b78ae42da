"""Keep a small history as this version writes it, for the tests of all later ones.

Run it once for each new version of the tables, before the next one is begun:
``python -m tests.store.keep_version``. What it wrote is never written again after a release.
"""

from pathlib import Path

import msgspec

from calipers.store.git import GitState
from calipers.store.open import open_store
from calipers.store.record import write
from calipers.store.schema import HEAD
from tests.store.saved import record
from tests.systems import tagged

FOLDER = Path(__file__).parents[1] / "data" / "histories"


def keep() -> None:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{HEAD}.db"
    path.unlink(missing_ok=True)
    store = open_store(path, create=True)
    expected = []
    for day, hits in enumerate(([1, None, 4], [1, 2, 4])):
        scores, kept = record(
            tagged({"a": hits, "b": [3, None]}),
            day=day,
            tags={"model": "e5"},
            corpus=f"c{day}",
            git=GitState("0123456789abcdef" * 2, "main", dirty=bool(day)),
        )
        write(store, kept)
        expected.append(scores.to_dict())
    (FOLDER / f"{HEAD}.json").write_bytes(msgspec.json.encode(expected))


if __name__ == "__main__":
    keep()
