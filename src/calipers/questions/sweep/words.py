"""Which k to take by recall, in the one claim that every output shows."""

from calipers.model.claim import Claim
from calipers.questions.sweep.enough_k import EnoughK
from calipers.words import number, plural


def which_k(found: EnoughK, largest_recall: float) -> Claim:
    """What was seen, what is not ruled out, what would settle it, and what is safe until then."""
    here = f"in these {found.n:,} queries" if found.n > 1 else "in this one query"
    if not largest_recall:
        return Claim(
            "cannot_tell",
            f"nothing is found up to k = {found.largest} {here}",
            "no k can be chosen by recall",
        )
    if found.guess == found.largest:
        return _no_smaller(found, here)
    if found.guess_loss:
        seen = (
            f"k = {found.guess} loses {number(found.guess_loss)} of recall against "
            f"k = {found.largest} {here}"
        )
    else:
        seen = f"k = {found.guess} finds all that k = {found.largest} finds {here}"
    possible = f"Up to {number(found.guess_bound)} could be lost ({100 * found.confidence:g}%)"
    if found.safe == found.guess:
        return Claim("passed", seen, "safe", f"{possible}, within the {found.margin:g} allowed.")
    settles = f"That is too near {found.margin:g} to be settled by more queries like these"
    if found.more is not None:
        more = plural(found.more, "more query", "more queries")
        settles = f"About {more} would settle {found.margin:g}"
    return Claim(
        "cannot_tell",
        seen,
        "not shown to be safe",
        f"{possible}.",
        f"{settles}; until then k = {found.safe} is safe.",
    )


def _no_smaller(found: EnoughK, here: str) -> Claim:
    if found.below is None:
        return Claim("cannot_tell", f"k = {found.largest} is the only k here", "nothing to choose")
    return Claim(
        "passed",
        f"k = {found.largest} is the smallest that keeps recall {here}",
        f"k = {found.below} already loses {number(found.below_loss or 0.0)}",
        None,
        "Recall may still grow: retrieve more and sweep again.",
    )
