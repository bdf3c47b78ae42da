"""Pools and labels in words."""

from calipers.labels.judging_result import Exported, Imported
from calipers.present.escape import printable
from calipers.store.pool import PoolInfo, PoolList


def pool_lines(found: PoolList) -> list[str]:
    """One line for each pool."""
    if not found.pools:
        return [
            f"There is no pool in {printable(found.place)}; make one with `calipers serve --judge "
            "RUN …`."
        ]
    return [_pool(one) for one in found.pools]


def _pool(one: PoolInfo) -> str:
    judges = ", ".join(printable(name, 40) for name in one.judges)
    return (
        f"{printable(one.name)}: {one.judged:,} of {one.items:,} results to {one.queries:,} "
        f"questions judged, {one.labels:,} labels by {judges}; made {one.created[:10]}"
    )


def exported_lines(found: Exported) -> list[str]:
    """What was written, and what was left out."""
    lines = [
        f"Written to {', '.join(map(printable, found.files))}: {found.targets:,} targets of "
        f"{found.queries:,} queries, {found.labels:,} of them labelled here; fingerprint "
        f"{found.fingerprint[:12]}."
    ]
    if found.unsettled:
        lines.append(
            f"Left out: {found.unsettled:,} on which judges differ; settle them in the browser."
        )
    return lines


def imported_line(found: Imported) -> str:
    """What was read, and what was there already."""
    more = f", {found.known:,} were there already" if found.known else ""
    empty = f", {found.ungraded:,} rows have no grade" if found.ungraded else ""
    judges = ", ".join(printable(name, 40) for name in found.judges) or "nobody"
    return f"{found.added:,} labels by {judges} added to {printable(found.pool)}{more}{empty}."
