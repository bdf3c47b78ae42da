"""Which k to take by recall, in the one sentence that every output shows."""

from calipers.questions.sweep.enough_k import EnoughK


def which_k(found: EnoughK, largest_recall: float) -> str:
    """What was seen, what is not ruled out, what would settle it, and what is safe until then."""
    here = f"in these {found.n:,} queries" if found.n > 1 else "in this one query"
    if not largest_recall:
        return f"Nothing is found up to k = {found.largest} {here}: no k can be chosen by recall."
    if found.guess == found.largest:
        return _no_smaller(found, here)
    if found.guess_loss:
        seen = (
            f"k = {found.guess} loses {found.guess_loss:.3f} of recall against k = {found.largest} "
            f"{here}"
        )
    else:
        seen = f"k = {found.guess} finds all that k = {found.largest} finds {here}"
    possible = f"up to {found.guess_bound:.3f} could be lost ({100 * found.confidence:g}%)"
    if found.safe == found.guess:
        return f"{seen}; {possible}, within the {found.margin:g} allowed: k = {found.safe} is safe."
    if found.more is None:
        settles = f"too near {found.margin:g} to be settled by more queries like these"
        return f"{seen}; {possible}, {settles}; k = {found.safe} is safe."
    return (
        f"{seen}; {possible}; about {found.more:,} more queries would settle {found.margin:g}; "
        f"until then k = {found.safe} is safe."
    )


def _no_smaller(found: EnoughK, here: str) -> str:
    if found.below is None:
        return f"k = {found.largest} is the only k here."
    return (
        f"k = {found.largest} is the smallest that keeps recall {here}: k = {found.below} already "
        f"loses {found.below_loss:.3f}. Recall may still grow: retrieve more and sweep again."
    )
