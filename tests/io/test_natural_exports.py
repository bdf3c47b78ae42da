"""Exports of tools: the value that is meant, at once or with the first line that is proposed.

``CALIPERS_NATURAL_FILES=5000`` draws so many of them and prints what became of them.
"""

import collections
import os

from tests.io.natural_exports import draw_export
from tests.io.test_natural_files import outcome

N = int(os.environ.get("CALIPERS_NATURAL_FILES", "90"))


def test_an_export_gives_the_value_that_is_meant(tmp_path) -> None:
    outcomes: collections.Counter[str] = collections.Counter()
    for seed in range(N):
        file = draw_export(seed)
        path = tmp_path / f"data{file.ending}"
        path.write_bytes(file.content.encode())
        found = outcome(file, path)
        outcomes[found] += 1
        assert found in ("right", "first line"), (seed, found, file.shape, file.content)
    if "CALIPERS_NATURAL_FILES" in os.environ:
        print(outcomes.most_common())  # noqa: T201
    assert outcomes["right"] >= 0.8 * N, outcomes.most_common()
