"""The error for two files that speak of different things, with the likely reason."""

import re

from calipers.errors import NoCommonIds
from calipers.model.ground_truth import GroundTruth
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.tally import EXAMPLES, Tally


def check_common_ids(
    ground_truth: GroundTruth, run: Run, policy: Policy, tally: Tally, n_edges: int
) -> None:
    """Refuse to score 0 everywhere when no id of the run is one of the ground truth.

    Items that are targets of other queries are ids in common: then the ids are right, and the
    retriever found nothing.
    """
    if n_edges or policy.nothing_in_common == "zero":
        return
    if not ground_truth.targets.height or not tally.sample_items:
        return
    if not tally.retrieved.any():
        theirs = ground_truth.queries["query"].head(EXAMPLES).to_list()
        texts = ground_truth.queries["text"].drop_nulls().head(EXAMPLES).to_list()
        raise NoCommonIds(
            _sentence("query id", list(tally.sample_queries), theirs, _likely_for_queries(
                list(tally.sample_queries), theirs, texts))
        )  # fmt: skip
    targets = ground_truth.targets["item"].drop_nulls()
    # Read once more, but only here, where nothing was found at all.
    if any(batch["item"].is_in(targets.implode()).any() for batch in run.scan()):
        return
    theirs = targets.head(EXAMPLES).to_list()
    ours = list(tally.sample_items)
    raise NoCommonIds(_sentence("item id", ours, theirs, likely_reason(ours, theirs)))


def _sentence(what: str, ours: list[str], theirs: list[str], reason: str) -> str:
    return (
        f"The run and the ground truth have no {what} in common: the run has "
        f"{_show(ours)}; the ground truth has {_show(theirs)}. {reason}"
    )


def _show(ids: list[str]) -> str:
    return ", ".join(repr(one if len(one) <= 60 else one[:57] + "…") for one in ids)


def _likely_for_queries(ours: list[str], theirs: list[str], texts: list[str]) -> str:
    if set(ours) & set(texts):
        return (
            "The run names queries by their text and the ground truth by an id; use the ids in "
            "both."
        )
    return likely_reason(ours, theirs)


def likely_reason(ours: list[str], theirs: list[str]) -> str:
    """What probably differs between two samples of ids, and what to do."""
    pairs = [(a, b) for a in ours for b in theirs]
    for differs, fold in _FOLDS:
        if any(fold(a) == fold(b) for a, b in pairs):
            return f"They differ in {differs}; write them the same way in both."
    numeric = [[_is_number(one) for one in side] for side in (ours, theirs)]
    if all(numeric[0]) != all(numeric[1]):
        side = "run" if all(numeric[0]) else "ground truth"
        return (
            f"The ids of the {side} are all numbers and those of the other side are not: one of "
            "them may be a row number or come from another corpus."
        )
    for chunk, document, side in [(a, b, "run") for a, b in pairs] + [
        (b, a, "ground truth") for a, b in pairs
    ]:
        if len(chunk) > len(document) >= 1 and re.match(
            re.escape(document) + r"[^A-Za-z0-9]", chunk
        ):
            return (
                f"The ids of the {side} look like chunk ids and the other side's like document "
                "ids; use the same level in both."
            )
    for longer, shorter in pairs + [(b, a) for a, b in pairs]:
        if longer != shorter and longer.endswith(shorter) and shorter:
            prefix = longer[: -len(shorter)]
            return f"One side has the prefix {prefix!r}; remove it or add it to the other."
    return "Check that both come from the same corpus and the same way of making ids."


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+(\.\d+)?", text))


_FOLDS = (
    ("upper and lower case", str.casefold),
    ("white space", lambda text: re.sub(r"\s+", "", text)),
    ("a trailing '.0' (whole numbers that became decimals on the way)",
     lambda text: text.removesuffix(".0")),
    ("leading zeros", lambda text: text.lstrip("0")),
    ("type: quoted on one side", lambda text: text.strip("'\"")),
)  # fmt: skip
