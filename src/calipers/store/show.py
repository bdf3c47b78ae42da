"""The state of a history in words."""

from calipers.present.escape import printable
from calipers.present.terminal import show_lines
from calipers.store.result import Checked, Copied, Logged, Pruned
from calipers.words import plural

MOST_LISTED = 20


def check_lines(found: Checked) -> list[str]:
    """What is damaged, or that nothing is; what it holds, and how large it is."""
    if found.problems:
        return [
            f"{printable(found.place)} is damaged: {plural(len(found.problems), 'problem')}.",
            *(printable(line) for line in found.problems),
        ]
    kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[found.kind]
    lines = [
        f"{printable(found.place)} is whole: {plural(found.evaluations, 'evaluation')} read.",
        f"{kind}, tables of version {found.version}",
    ]
    if not found.evaluations:
        return lines
    names = "one name" if found.names == 1 else f"{found.names:,} names"
    lines.append(
        f"{plural(found.evaluations, 'evaluation')} under {names}, "
        f"{found.oldest:%Y-%m-%d %H:%M} to {found.newest:%Y-%m-%d %H:%M} UTC"
    )
    each = size(found.bytes / found.evaluations)
    lines.append(f"{size(found.bytes)}, {each} per evaluation")
    return lines


def copied_lines(found: Copied) -> list[str]:
    """What was copied, and that it arrived; what was left."""
    present = f", {found.present:,} were there already" if found.present else ""
    target = printable(found.target)
    return [
        f"{plural(found.copied, 'evaluation')} copied from {printable(found.source)} to "
        f"{target}{present}.",
        *(
            f"The pool {one} was there already and lacks labels, which are not copied; bring them: "
            f"calipers labels export {one} --store {printable(found.source)} --every-label -o "
            f"labels.jsonl, then calipers labels import {one} labels.jsonl --store {target}"
            for one in map(printable, found.left)
        ),
    ]


def prune_lines(found: Pruned) -> list[str]:
    """The evaluations that went, or would go."""
    if not found.evaluations:
        return [f"Nothing to remove from {printable(found.place)}."]
    lines = [
        f"  @{one.short}  {one.saved:%Y-%m-%d %H:%M}  {printable(one.name, 40)}"
        for one in found.evaluations[:MOST_LISTED]
    ]
    if len(found.evaluations) > MOST_LISTED:
        lines.append(f"  and {len(found.evaluations) - MOST_LISTED:,} more")
    done = "Removed" if found.removed else "Would remove"
    if found.removed:
        lines.append(f"{size(found.bytes_before)} before, {size(found.bytes)} now.")
    gone = plural(len(found.evaluations), "evaluation")
    return [f"{done} {gone} from {printable(found.place)}:", *lines]


def size(n: float) -> str:
    """A number of bytes for people.

    >>> size(900), size(53_000), size(12_400_000)
    ('900 bytes', '53 kB', '12.4 MB')
    """
    if n < 1000:
        return f"{n:.0f} bytes"
    if n < 1_000_000:
        return f"{n / 1000:.0f} kB"
    return f"{n / 1_000_000:,.1f} MB"


show_lines(Checked, check_lines)
show_lines(Copied, copied_lines)
show_lines(Pruned, prune_lines, table=False, rows=lambda found: found.evaluations)
show_lines(
    Logged, lambda one: [f"Logged to MLflow as run {one.run_id} of {printable(one.experiment)}."]
)
