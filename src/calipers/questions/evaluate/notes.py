"""What was counted and which policies applied, in plain words."""

from calipers.model.policy import Policy
from calipers.model.scores import InputCounts, Scores
from calipers.present.escape import printable

SCORED = {"zero": "scored 0", "exclude": "left out"}


def notes(scores: Scores) -> list[str]:
    """One sentence per thing a reader must know to trust the table."""
    audit, policy = scores.audit, scores.policy
    lines = [
        *remarked(scores),
        f"{_count(audit.queries, 'query', 'queries')}, "
        f"{_count(audit.targets, 'relevant target')}, {_count(audit.retrieved, 'result')}.",
    ]
    if audit.unanswerable:
        lines.append(
            f"{_count(audit.unanswerable, 'query', 'queries')} without any relevant target: "
            f"{SCORED[policy.unanswerable]}; {_silence(audit)}."
        )
    # Where nothing was to be found, the line above has said what happened.
    hopeless = audit.unanswerable_silent and policy.unanswerable == "exclude"
    among = " where there was something to find" if hopeless else ""
    if audit.missing:
        lines.append(
            f"{_count(audit.missing, 'query', 'queries')} missing from the run "
            f"({_names(audit.missing_examples, audit.missing)}): {SCORED[policy.missing]}{among}."
        )
    if audit.errors:
        lines.append(
            f"{_count(audit.errors, 'query', 'queries')} on which the retriever failed: "
            f"{SCORED[policy.errors]}{among}."
        )
    if audit.empty:
        count = _count(audit.empty, "query", "queries")
        lines.append(f"{count} without results: scored 0{among}.")
    if audit.unknown:
        lines.append(
            f"{_count(audit.unknown, 'query', 'queries')} of the run not in the ground truth "
            f"({_names(audit.unknown_examples, audit.unknown)}): not measured."
        )
    if audit.duplicates:
        lines.append(
            f"{_count(audit.duplicates, 'result')} returned a second time for the same query: "
            "each takes up its rank and earns nothing."
        )
    if audit.ties_on_targets:
        lines.append(
            f"{_count(audit.ties_on_targets, 'target')} found among equal scores: their rank is "
            f"decided by ties={policy.ties}."
        )
    if audit.repeated_judgements:
        lines.append(f"{_count(audit.repeated_judgements, 'judgement')} given twice: counted once.")
    if audit.unjudged_rate:
        first = f"the first {audit.depth} results" if audit.depth != 1 else "the first results"
        where = first if audit.depth else "all results"
        rate = f"{audit.unjudged_rate:.0%}"
        lines.append(f"{rate} of {where} {_unjudged(scores)}; they count as not relevant.")
    lines += _chosen_policies(policy)
    lines.append(_about_intervals(scores))
    return lines


def remarked(scores: Scores) -> list[str]:
    """What was made of the input: it comes before what was counted in it."""
    return [printable(note) for note in scores.settings.get("notes", ())]


def _chosen_policies(policy: Policy) -> list[str]:
    """The policies that are not the usual ones, also where no query came under them."""
    usual = Policy().to_dict()
    chosen = [
        f"{name}={value}"
        for name, value in policy.to_dict().items()
        if value != usual[name] and (name != "ties" or value == "error")
    ]
    return [f"Policies other than the usual ones: {', '.join(chosen)}."] if chosen else []


def _silence(audit: InputCounts) -> str:
    """Where nothing was to be found: for how many queries the retriever returned nothing."""
    if audit.unanswerable == 1:
        return f"{'nothing' if audit.unanswerable_silent else 'something'} was returned for it"
    return f"nothing was returned for {audit.unanswerable_silent:,} of them"


def _unjudged(scores: Scores) -> str:
    by_id = scores.settings["match"] in ("id", "document")
    return "were never judged" if by_id else "hold no target"


METHODS = {
    "score": "Wilson's score interval with the effective number of queries",
    "t": "Student's t where a metric has no upper bound",
    "bootstrap": "bootstrap",
    "wilson": "Wilson's for shares of queries",
    "normal": "normal approximation",
}


def _about_intervals(scores: Scores) -> str:
    methods = {s.interval.method for s in scores.summaries.values() if s.interval}
    level = scores.settings["confidence"]
    how = "; ".join(said for method, said in METHODS.items() if method in methods)
    if not how:
        return "No intervals: they need at least two queries."
    cluster = scores.settings.get("cluster")
    units = f"; queries with the same {printable(cluster, 40)} are one unit" if cluster else ""
    return f"Each mean with its {100 * level:g}% interval ({how}{units})."


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _names(examples: tuple[str, ...], count: int) -> str:
    shown = ", ".join(printable(name, 40) for name in examples)
    return shown + (", …" if count > len(examples) else "")
