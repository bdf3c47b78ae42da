"""What there is to judge, printed: pools, one pool, and what became of it."""

from calipers.labels.desk import Desk
from calipers.labels.result import PoolChanged
from calipers.present.escape import printable
from calipers.present.terminal import show_lines
from calipers.store.pool import PoolInfo, PoolList
from calipers.words import plural


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
    closed = f", closed {one.closed[:10]}" if one.closed else ""
    machines = f", {one.by_machines:,} by language models" if one.by_machines else ""
    return (
        f"{printable(one.name)}: {one.judged:,} of {one.items:,} results to {one.queries:,} "
        f"questions judged, {one.labels:,} labels by {judges}{machines}; made {one.created[:10]}"
        f"{closed}"
    )


def changed_line(found: PoolChanged) -> str:
    """What became of a pool."""
    done = {
        "close": "is closed: nothing is judged in it until `labels close --reopen`",
        "reopen": "is open again",
        "delete": f"is deleted with its {plural(found.items, 'result')}; its log is kept",
    }
    return f"The pool {printable(found.pool)} {done[found.change]}."


def desk_lines(desk: Desk) -> list[str]:
    """What there is to judge, and by whom."""
    judges = ", ".join(printable(name, 40) for name in desk.judges)
    return [f"{printable(desk.name)}: {plural(len(desk.items), 'result')} to judge by {judges}."]


show_lines(Desk, desk_lines)
show_lines(PoolList, pool_lines, table=False, rows=lambda found: found.pools)
show_lines(PoolChanged, lambda found: [changed_line(found)])
