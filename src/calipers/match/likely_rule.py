"""What probably differs between the ids of two files, and what to do about it."""

import re
from collections.abc import Sequence

from calipers.match.map_ids import without_extension
from calipers.text import normalise

SAMPLE = 200
"""Ids of each side of which parts are looked for on the other side."""


def likely_reason(ours: Sequence[str], theirs: Sequence[str], *, mapped: bool = True) -> str:
    """What probably differs between two sets of ids, and what to do.

    ``mapped`` says whether ``--map-ids`` could help.

    >>> print(likely_reason(["docs/a.md"], ["docs/a"]))
    They differ in the extension of a file name; write them the same way in both, or give
    --map-ids extension.
    """
    rule = likely_rule(ours, theirs, mapped=mapped)
    if rule is not None:
        return rule
    numeric = [all(map(_is_number, side)) for side in (ours, theirs)]
    if numeric[0] != numeric[1]:
        side = "run" if numeric[0] else "ground truth"
        return (
            f"The ids of the {side} are all numbers and those of the other side are not: one of "
            "them may be a row number or come from another corpus."
        )
    for chunks, documents, side in ((ours, theirs, "run"), (theirs, ours, "ground truth")):
        if _are_chunks_of(chunks, documents):
            return (
                f"The ids of the {side} look like chunk ids and the other side's like document "
                "ids; use the same level in both."
            )
    return "Check that both come from the same corpus and the same way of making ids."


def likely_rule(ours: Sequence[str], theirs: Sequence[str], *, mapped: bool = True) -> str | None:
    """The one rule that makes some of the ids equal, and what to do; None where there is none.

    >>> likely_rule(["q01", "q02"], ["q1", "q2"])
    'They differ in leading zeros; write them the same way in both.'
    """
    for differs, fold, rule in _FOLDS:
        if {fold(one) for one in ours} & {fold(one) for one in theirs} - {""}:
            hint = f", or give --map-ids {rule}" if mapped and rule else ""
            return f"They differ in {differs}; write them the same way in both{hint}."
    prefix = _prefix(ours, theirs) or _prefix(theirs, ours)
    if prefix:
        hint = f" (--map-ids prefix={prefix})" if mapped and "," not in prefix else ""
        return f"One side has the prefix {prefix!r}; remove it{hint}, or add it to the other."
    bare = [[without_extension(one) for one in side] for side in (ours, theirs)]
    prefix = _prefix(bare[0], bare[1]) or _prefix(bare[1], bare[0])
    if prefix:
        hint = f", or give --map-ids prefix={prefix},extension" if mapped else ""
        return (
            f"They differ in the prefix {prefix!r} and in the extension of a file name; write them "
            f"the same way in both{hint}."
        )
    return None


def _prefix(longer: Sequence[str], shorter: Sequence[str]) -> str | None:
    """What stands before an id of one side where the rest is one of the other."""
    whole = set(shorter)
    # It ends at a sign or, where no such is found, before digits: part of a word is no prefix.
    for border in (r"[^\W_]*[\W_]+", r"[^\W\d_]+(?=\d)"):
        for one in longer[:SAMPLE]:
            ends = (found.end() for found in re.finditer(border, one))
            prefix = next((one[:end] for end in ends if one[end:] in whole), None)
            if prefix:
                return prefix
    return None


def _are_chunks_of(chunks: Sequence[str], documents: Sequence[str]) -> bool:
    whole = set(documents)
    return any(
        one[: sign.start()] in whole
        for one in chunks[:SAMPLE]
        for sign in re.finditer(r"[^A-Za-z0-9]", one)
        if sign.start()
    )


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+(\.\d+)?", text))


_FOLDS = (
    ("upper and lower case", str.casefold, "case"),
    ("white space", lambda text: re.sub(r"\s+", "", text), None),
    ("characters that cannot be seen, or in the form of their Unicode", normalise, None),
    (
        "a trailing '.0' (whole numbers that became decimals on the way)",
        lambda text: text.removesuffix(".0"),
        None,
    ),
    ("leading zeros", lambda text: re.sub(r"(?<![\d.])0+(?=\d)", "", text), None),
    ("type: quoted on one side", lambda text: text.strip("'\""), None),
    ("the extension of a file name", without_extension, "extension"),
    (
        "the extension of a file name, and in upper and lower case",
        lambda text: without_extension(text).casefold(),
        "extension,case",
    ),
)
