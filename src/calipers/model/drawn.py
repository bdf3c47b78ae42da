"""A sample that was drawn at random: what every query of it says of the draw, wherever it goes."""

from dataclasses import asdict, dataclass

import msgspec

DRAWN = "drawn"
"""The tag of a query in an exported ground truth that was drawn, and judged by people since."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How a sample was drawn: fixed before the first label."""

    seed: int
    total: int
    """Queries that it was drawn from, or clusters of them."""
    looks: tuple[int, ...]
    """Numbers of judged queries (clusters) at which the result may be read."""
    until: float
    """How far the interval may reach to either side."""
    confidence: float = 0.95
    cluster: str | None = None
    by: str | None = None
    """The tag whose values have their share at any time."""
    ground_truth: str
    """The fingerprint of the machine's."""
    runs: tuple[str, ...]
    """Those of the runs whose results are judged."""


@dataclass(frozen=True, kw_only=True)
class DrawnQuery:
    """One query of a sample, as it was exported."""

    draw: Draw
    place: int
    """Which of the draw it was, from 1; queries of one cluster have the same."""
    labels: str
    """The fingerprint of all that people said of the sample."""

    def as_tag(self) -> str:
        """The text of the tag."""
        return msgspec.json.encode(asdict(self)).decode()


def from_tag(text: str) -> DrawnQuery:
    """What a tag says; ValueError where it is no such tag."""
    return msgspec.json.decode(text, type=DrawnQuery)
