"""A plan as a claim: what the pilot had, what is promised of how many queries, and its range."""

from dataclasses import dataclass

from calipers.model.claim import Claim, moved
from calipers.questions.compare.words import missed_how_often
from calipers.statistics.queries_needed import Needed


@dataclass(frozen=True)
class Pilot:
    """Two systems on the queries that a plan is made from."""

    systems: tuple[str, ...]
    metric: str
    means: tuple[float, float]
    better_and_worse: tuple[int, int]
    queries: int
    units: int
    """Queries, or clusters of them."""
    cluster: str | None

    @property
    def seen(self) -> str:
        """What happened on its queries."""
        counts = moved(*self.means, *self.better_and_worse, self.queries, "queries")
        among = f", {self.units:,} clusters by {self.cluster}" if self.cluster else ""
        return f"pilot {' → '.join(self.systems)}: {self.metric} {counts}{among}"

    def counted(self, n: float, more: str = "") -> str:
        """So many queries, or clusters of them."""
        unit = "cluster" if self.cluster else "query"
        many = "clusters" if self.cluster else "queries"
        return f"{n:,.0f}{more} {unit if n == 1 else many}"


def plan_claim(pilot: Pilot, found: Needed, power: float, smaller: Needed | None = None) -> Claim:
    """How many queries show a difference; with ``smaller``, what some queries show.

    It has passed where the pilot has as many as could be needed, as far as it can tell.
    """
    often, tells = missed_how_often(power), "as far as this pilot can tell (90%)"
    if smaller is not None:
        return Claim(
            "cannot_tell",
            pilot.seen,
            f"{pilot.counted(found.queries)} show a difference of {found.difference:.2g}, and miss "
            f"it {often}",
            f"It may be {found.low:.2g} to {found.high:.2g}, {tells}: count on {found.high:.2g} "
            "to be safe.",
            f"To see {smaller.difference:g} takes about {pilot.counted(smaller.queries)} "
            f"({smaller.low:,.0f} to {smaller.high:,.0f}).",
        )
    shown = (
        f"about {pilot.counted(found.queries)} show a difference of {found.difference:.2g}, and "
        f"miss it {often}"
    )
    most = max(found.high, found.queries)
    if pilot.units >= most:
        return Claim(
            "passed", pilot.seen, shown, f"{most:,.0f} are safe: the pilot's own are enough."
        )
    now, later = found.queries - pilot.units, most - pilot.units
    enough = f"{pilot.counted(now, ' more')} would do, {later:,.0f} are safe"
    if now <= 0:
        enough = f"These may do; {pilot.counted(later, ' more')} are safe"
    return Claim(
        "cannot_tell",
        pilot.seen,
        shown,
        f"It may take {found.low:,.0f} to {most:,.0f}, {tells}.",
        f"{enough}. A larger pilot narrows the range.",
    )
