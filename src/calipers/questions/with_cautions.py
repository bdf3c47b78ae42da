"""Scores with notes on ties and on lists that are the whole corpus, where there may be any."""

from calipers.model.matched import Matched
from calipers.model.scores import Scores


def with_cautions(pair: Matched, scores: Scores) -> Scores:
    """The scores of a pair, with what makes their means say less than they seem to."""
    if not _may_be_tied(pair, scores) and not _may_be_whole(pair, scores):
        return scores
    # Few results need it, so most commands never load it.
    from calipers.questions.cautions import cautions

    return scores.with_notes(cautions(pair, scores))


def _may_be_tied(pair: Matched, scores: Scores) -> bool:
    """Whether neighbours have the same score, where the run is in memory."""
    if scores.audit.ties_on_targets or not pair.run.in_memory:
        return scores.audit.ties_on_targets > 0
    if pair.run.order == "score":
        # Counted while matching; the table of a mapping would be built for this alone.
        return scores.audit.ties > 0
    for frame in pair.run.scan():
        if "score" in frame.columns:
            score = frame["score"].to_numpy()
            if (score[1:] == score[:-1]).any():
                return True
    return False


def _may_be_whole(pair: Matched, scores: Scores) -> bool:
    """Whether all lists are equally long and hold all targets, as those of a whole corpus do."""
    every = pair.matches.retrieved
    alike = every.size > 1 and every.min() == every.max()
    return bool(alike) and any(
        scores[metric.name].mean == 1.0
        for metric in scores.metrics
        if metric.kind == "recall"
    )
