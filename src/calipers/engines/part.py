"""What is counted over some queries, so that parts merge in any order to the same bits."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import msgspec
import numpy as np

from calipers.model.arrays import Floats, Ints
from calipers.model.counts import InputCounts
from calipers.model.fingerprint import DigestSum
from calipers.model.matched import EXAMPLES

EXAMPLE_FIELDS = ("missing_examples", "unknown_examples")
EDGES = "edges"
"""How many targets were found at all, beside the counts of the audit."""


Counted = tuple[Floats, Ints]


@dataclass(eq=False)
class Part:
    """The counts, the fingerprint and the values of some queries."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, set[str]] = field(default_factory=dict)
    digest: DigestSum = field(default_factory=DigestSum)
    values: dict[str, list[Counted]] = field(default_factory=dict)
    """By metric: the values that it has, and how often it has each; NaN is undefined."""
    error: str | None = None
    """Why these queries could not be measured."""

    @classmethod
    def of(cls, audit: InputCounts, edges: int, digest: DigestSum) -> Self:
        """The counts of one block."""
        given = asdict(audit)
        examples = {name: set(given.pop(name)) for name in EXAMPLE_FIELDS}
        given.pop("depth")
        return cls(Counter({**given, EDGES: edges}), examples, digest)

    def count_values(self, name: str, column: Floats) -> None:
        """Take the values of one metric."""
        self.values.setdefault(name, []).append(np.unique(column, return_counts=True))

    def merge(self, other: "Part") -> None:
        """Take what another part has counted."""
        self.counts.update(other.counts)
        for name, names in other.examples.items():
            # The smallest names: the same ones, whichever part comes first.
            merged = sorted(self.examples.get(name, set()) | names)
            self.examples[name] = set(merged[:EXAMPLES])
        self.digest.merge(other.digest)
        for name, values in other.values.items():
            self.values.setdefault(name, []).extend(values)
        if other.error is not None:
            self.error = min(filter(None, (self.error, other.error)))

    def audit(self, depth: int | None) -> InputCounts:
        """The counts of all queries, once every part is here."""
        named: dict[str, Any] = {name: n for name, n in self.counts.items() if name != EDGES}
        lists = {
            name: tuple(sorted(self.examples.get(name, ()))[:EXAMPLES]) for name in EXAMPLE_FIELDS
        }
        return InputCounts(**{**_NOTHING, **named, **lists, "depth": depth})

    def column(self, name: str) -> Floats:
        """The values of one metric over all queries, sorted; NaN where it is undefined."""
        distinct, counts = _counted(self.values.get(name, []))
        return np.repeat(distinct, counts)

    def encode(self) -> bytes:
        """As bytes, to be sent elsewhere."""
        arrays = {
            name: [column.tobytes() for column in _counted(found)]
            for name, found in self.values.items()
        }
        examples = {name: sorted(names) for name, names in self.examples.items()}
        numbers = self.digest.to_numbers()
        return msgspec.msgpack.encode([dict(self.counts), examples, numbers, arrays, self.error])

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """What another process sent."""
        counts, examples, numbers, arrays, error = msgspec.msgpack.decode(content)
        part = cls(Counter(counts), {name: set(names) for name, names in examples.items()})
        part.digest.add_numbers(numbers)
        part.error = error
        for name, (keys, values) in arrays.items():
            counted = np.frombuffer(keys), np.frombuffer(values, dtype=np.int64)
            part.values[name] = [counted]
        return part


_NOTHING: Mapping[str, int] = {
    name: 0 for name in InputCounts.__dataclass_fields__ if name not in (*EXAMPLE_FIELDS, "depth")
}


def merged(parts: Iterable[Part]) -> Part:
    """All parts as one."""
    whole = Part()
    for part in parts:
        whole.merge(part)
    return whole


def _counted(found: list[Counted]) -> Counted:
    """The values in ascending order, each once with its count; NaN last."""
    if not found:
        return np.empty(0), np.empty(0, dtype=np.int64)
    distinct, place = np.unique(np.concatenate([one for one, _ in found]), return_inverse=True)
    counts = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(counts, place, np.concatenate([count for _, count in found]))
    return distinct, counts
