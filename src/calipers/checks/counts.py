"""The audit of one evaluation, from its matches and the tally of its run."""

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import ANSWERED, EMPTY, EXAMPLES, FAILED, MISSING, Matches, Tally
from calipers.model.policy import Policy
from calipers.model.scores import InputCounts


def audit_counts(
    ground_truth: GroundTruth,
    matches: Matches,
    tally: Tally,
    *,
    depth: int | None,
    rel: float | None,
) -> InputCounts:
    """Every count behind a result."""
    answerable = matches.answerable(rel)
    missing = matches.having_status(MISSING)
    shown = matches.retrieved if depth is None else np.minimum(matches.retrieved, depth)
    judged = (
        matches.is_new_rank
        if depth is None
        else (matches.is_new_rank & (matches.edge_rank <= depth))
    )
    copies = tally.copy_ranks >= 0 if depth is None else tally.copy_ranks <= depth
    return InputCounts(
        queries=matches.n_queries,
        answered=int(matches.having_status(ANSWERED).sum()),
        empty=int(matches.having_status(EMPTY).sum()),
        missing=int(missing.sum()),
        missing_examples=tuple(
            matches.asked["query"][np.flatnonzero(missing)[:EXAMPLES]].to_list()
            if missing.any()
            else ()
        ),
        errors=int(matches.having_status(FAILED).sum()),
        unanswerable=int((~answerable).sum()),
        unanswerable_silent=int((~answerable & (matches.retrieved == 0)).sum()),
        unknown=tally.unknown,
        unknown_examples=tally.unknown_examples,
        targets=int(matches.relevant(rel).sum()),
        judgements=matches.target_grade.size,
        repeated_judgements=ground_truth.repeated,
        retrieved=int(matches.retrieved.sum()),
        duplicates=tally.duplicates,
        ties=tally.ties,
        ties_on_targets=_relevant_among(ground_truth, tally.tied_targets, rel),
        depth=depth,
        shown=int(shown.sum()),
        # A copy of a judged item is judged, although it earns nothing.
        unjudged=int(shown.sum()) - int(judged.sum()) - int(copies.sum()),
    )


def _relevant_among(ground_truth: GroundTruth, targets: Ints, rel: float | None) -> int:
    grade = ground_truth.grades[targets]
    return int((grade > 0 if rel is None else grade >= rel).sum())


def enforce(policy: Policy, audit: InputCounts) -> None:
    """Raise where a policy says that a counted case is an error."""
    cases = (
        (
            "missing",
            audit.missing,
            "in the ground truth and not in the run",
            audit.missing_examples,
            "run the retriever on them",
        ),
        (
            "unknown",
            audit.unknown,
            "in the run and not in the ground truth",
            audit.unknown_examples,
            "remove them",
        ),
        ("errors", audit.errors, "with a failure of the retriever", (), "repair the retriever"),
        ("unanswerable", audit.unanswerable, "without any relevant target", (), "label them"),
    )
    for name, count, what, examples, remedy in cases:
        if getattr(policy, name) == "error" and count:
            named = f" ({', '.join(map(repr, examples))}{', …' if count > len(examples) else ''})"
            raise InvalidInput(
                f"There {'is 1 query' if count == 1 else f'are {count} queries'} {what}"
                f"{named if examples else ''}, and {name}=error forbids it; {remedy}, or choose "
                f"another policy for {name}."
            )
