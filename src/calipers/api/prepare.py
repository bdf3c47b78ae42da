"""From whatever the caller hands in to matches: the part that every operation shares."""

import os
from dataclasses import dataclass
from typing import Any

import polars as pl

# Loaded for its metrics: a metric exists once its module was loaded.
import calipers.metrics.coverage  # noqa: F401
from calipers.api.inputs import read_pair
from calipers.errors import InvalidInput
from calipers.io.source import Progress
from calipers.match.by_id import match_by_id
from calipers.match.by_quote import QuoteRule, match_by_quote
from calipers.match.by_span import match_by_span
from calipers.match.check_quotes import check_target_quotes
from calipers.match.check_spans import check_target_spans
from calipers.match.choose import Choice, choose, parse_matching
from calipers.match.level import check_level, to_documents
from calipers.match.peek import peek, with_ids_as_texts
from calipers.model.ground_truth import GroundTruth
from calipers.model.matches import Matches
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.tally import Tally


@dataclass(frozen=True, eq=False)
class Prepared:
    """A ground truth and a run, matched under named policies, ready for any metric."""

    ground_truth: GroundTruth
    run: Run
    matches: Matches
    tally: Tally
    policy: Policy
    rel: float | None
    settings: dict[str, Any]
    """What decided the matching, for the record."""


def prepare(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    match: str | None = None,
    level: str | None = None,
    rel: float | None = None,
    like: str | None = None,
    corpus_size: int | None = None,
    progress: Progress | None = None,
    store: str | os.PathLike[str] | None = None,
    fingerprints: bool = True,
    **policies: str | None,
) -> Prepared:
    """Read, check and match, once for all metrics and cut-offs.

    ``match`` is "id", "quote", "span", or one with parameters such as "quote(min=0.8)"; without
    it the data says. ``level`` is "evidence" (several chunks together may hold a target),
    "chunk" (one must hold it alone) or "document". ``data`` or ``run`` may be a reference such as
    ``@nightly``: what was kept with that evaluation of the history in ``store``. Without
    ``fingerprints`` the run's may be left out, which saves time on a large file.

    >>> found = [{"query": "q", "retrieved": [{"text": "a lock"}], "ground_truth": ["lock"]}]
    >>> prepare(found).settings["match"]
    'quote'
    """
    policy = (Policy.like(like) if like else Policy()).with_changes(**policies)
    _check(rel, corpus_size)
    at = check_level(level)
    if match is not None:
        parse_matching(match)
    truth, results = read_pair(data, ground_truth, run, progress, store)
    policy = policy.with_changes(ties=policy.ties or results.ties)
    settings: dict[str, Any] = {"rel": rel, "corpus_size": corpus_size, "matched_at": at}
    if at == "document":
        truth, results = to_documents(truth, results, policy)
        matches, tally = match_by_id(truth, results, policy, corpus_size, fingerprint=fingerprints)
        settings |= {"match": "document", "notes": []}
    else:
        choice, results = _choose(match, truth, results)
        truth = choice.ground_truth
        if corpus_size is not None and choice.matching.kind != "id":
            raise InvalidInput(
                f"The size of the corpus is given and targets are matched by "
                f"{choice.matching.kind}: how many of its chunks hold a target is not known. Leave "
                "it out, or match by id."
            )
        notes = (*choice.notes, *_check_evidence(choice))
        matches, tally = _match(
            choice, results, policy, corpus_size,
            together=at == "evidence", fingerprint=fingerprints,
        )  # fmt: skip
        settings |= {"match": str(choice.matching), "notes": list(notes)}
    return Prepared(truth, results, matches, tally, policy, rel, settings)


def _choose(match: str | None, truth: GroundTruth, run: Run) -> tuple[Choice, Run]:
    first, run = peek(run)
    first = pl.DataFrame() if first is None else first
    columns = first.columns
    # Asked for by name, plain strings with spaces in them are texts and not ids.
    by_quote = match is not None and parse_matching(match).kind == "quote"
    plain = "item" in columns and "text" not in columns
    if by_quote and plain and first["item"].str.contains(r"\s").any():
        run = with_ids_as_texts(run)
        columns = ["text" if name == "item" else name for name in columns]
    return choose(match, truth, columns, lambda: _have_ids_in_common(truth, run)), run


def _have_ids_in_common(truth: GroundTruth, run: Run) -> bool:
    wanted = truth.targets["item"].unique().implode()
    return any(frame["item"].is_in(wanted).any() for frame in run.scan())


def _check_evidence(choice: Choice) -> tuple[str, ...]:
    if choice.matching.kind == "quote":
        return check_target_quotes(choice.ground_truth)
    if choice.matching.kind == "span":
        check_target_spans(choice.ground_truth)
    return ()


def _match(
    choice: Choice,
    run: Run,
    policy: Policy,
    corpus_size: int | None,
    *,
    together: bool,
    fingerprint: bool,
) -> tuple[Matches, Tally]:
    truth, matching = choice.ground_truth, choice.matching
    if matching.kind == "quote":
        rule = QuoteRule(matching.least, matching.ignore_case, together)
        return match_by_quote(truth, run, policy, rule)
    if matching.kind == "span":
        return match_by_span(truth, run, policy, matching.least, together=together)
    return match_by_id(truth, run, policy, corpus_size, fingerprint=fingerprint)


def _check(rel: float | None, corpus_size: int | None) -> None:
    if rel is not None and not (isinstance(rel, int | float) and 0 < rel < float("inf")):
        raise InvalidInput(
            f"The grade from which a target is relevant (rel) is {rel!r}; "
            "it must be a number above 0."
        )
    if corpus_size is not None and (not isinstance(corpus_size, int) or corpus_size < 1):
        raise InvalidInput(
            f"The size of the corpus is {corpus_size!r}; it must be a whole number of at least 1."
        )
