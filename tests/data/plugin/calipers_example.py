"""A package that adds a form, a metric and a retriever to Calipers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from calipers.io.build import TargetRows, build
from calipers.io.files.write import opened
from calipers.io.format import Format, Output
from calipers.measures import metric
from calipers.measures.views import Found
from calipers.model.arrays import Floats
from calipers.model.matched import Dataset, Role

MARK = b"%arrows\n"


class Arrows(Format):
    """Lines of ``query -> item``, below a mark."""

    name = "arrows"
    title = "arrows from queries to items"
    outputs: tuple[Output, ...] = (
        Output("arrows", "arrows", frozenset({"targets"}), (".arrows",)),
    )

    def detect(self, probe: Any) -> bool:
        """The mark."""
        return bool(probe.source.head.startswith(MARK))

    def read(self, probe: Any, role: Role) -> Dataset:
        """Each line is one target."""
        del role
        lines = probe.source.read().decode().splitlines()[1:]
        pairs = [line.split(" -> ") for line in lines]
        targets = pl.DataFrame(pairs, schema=["query", "item"], orient="row")
        return build(self.title, TargetRows(targets, lambda row: f"{probe.name}:{row + 2}"))

    def write(
        self, output: Output, parts: Iterable[Dataset], path: Path, remarks: Any
    ) -> list[Path]:
        """Each target is one line."""
        del output, remarks
        with opened(path) as file:
            file.write(MARK)
            for part in parts:
                if part.ground_truth is not None:
                    for row in part.ground_truth.targets.iter_rows(named=True):
                        file.write(f"{row['query']} -> {row['item']}\n".encode())
        return [path]


class Fails(Arrows):
    """A form that is broken only when it is asked."""

    name = "fails"
    outputs = ()

    def detect(self, probe: Any) -> bool:
        """Fail."""
        raise RuntimeError(f"cannot look at {type(probe).__name__}")


@metric(better="higher", also=("first_hit",))
def first_is_right(view: Found, k: int = 1) -> Floats:
    """1 if a target stands in the first k results, else 0; the example of a plug-in."""
    return (view.hits(k) > 0).astype(np.float64)


def fixed(target: str) -> Any:
    """``fixed:a,b`` returns a and b, whatever is asked."""

    def search(query: str, k: int) -> list[str]:
        del query
        return target.split(",")[:k]

    return search
