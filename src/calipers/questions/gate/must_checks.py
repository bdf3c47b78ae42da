"""Checks that do not depend on a mean: questions that must find something and must not fail."""

from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats
from calipers.model.claim import Claim
from calipers.model.matched import FAILED, Matched
from calipers.model.scores import Scores
from calipers.questions.gate.condition_checks import slice_of
from calipers.questions.gate.result import RETRIEVER, Check, Raised, WorstQuery, raised_in_words
from calipers.words import did_you_mean

_Answer = Literal["passed", "failed", "no clear difference"]


def check_must(scores: Scores, metric: str, named: str, before: Floats | None) -> Check:
    """Check that every question of a tag or a list finds something."""
    chosen = _chosen(scores, named)
    values = scores.of(metric)
    lost = np.flatnonzero(chosen & (values == 0)).tolist()
    unknown = int(np.count_nonzero(chosen & np.isnan(values)))
    n = int(chosen.sum())
    because = []
    if lost:
        because.append(f"{len(lost):,} of {n:,} found nothing")
    if unknown:
        because.append(f"{metric} is undefined for {unknown:,} of them")
    names, texts = scores.queries["query"], scores.queries["text"]
    found = f"{n - len(lost) - unknown:,} of {n:,} questions that must not fail find something"
    first = f"; {texts[lost[0]] or names[lost[0]]} does not" if lost else ""
    status: _Answer = "failed" if lost else "no clear difference" if unknown else "passed"
    return Check(
        name=f"{named} must not fail",
        metric=metric,
        slice=None,
        status=status,
        value=(n - len(lost) - unknown) / n,
        interval=None,
        n=n,
        undefined=unknown,
        because=tuple(because),
        claim=Claim(status, f"{found} ({named}, {metric}){first}."),
        worst=tuple(
            WorstQuery(names[row], texts[row], 0.0, None if before is None else _known(before[row]))
            for row in lost
        ),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _chosen(scores: Scores, named: str) -> Bools:
    """Select the questions with a tag's value, or those in a file with one id per line."""
    if Path(named).is_file():
        wanted = [line.strip() for line in Path(named).read_text(encoding="utf-8").splitlines()]
        wanted = [one for one in wanted if one]
        has = scores.queries["query"]
        known = set(has)
        unknown = [one for one in wanted if one not in known]
        if unknown or not wanted:
            what = f"the id {unknown[0]!r}" if unknown else "no id"
            raise InvalidInput(
                f"{named} names questions that must not fail and holds {what}, which no question "
                f"has; give one id a line.{did_you_mean(unknown[0], has) if unknown else ''}"
            )
        mask: Bools = has.is_in(wanted).to_numpy()
        return mask
    tag, equals, value = (part.strip() for part in named.partition("="))
    if not equals:
        raise InvalidInput(
            f"{named!r} does not say which questions must not fail: there is no such file, and it "
            "is not TAG=VALUE, such as priority=high."
        )
    return slice_of(scores, tag, value).chosen


def raised_by(scores: Scores, pair: Matched | None) -> tuple[Raised, ...]:
    """The questions on which the retriever failed, with their errors if known."""
    failed = scores.queries.filter(pl.col("status") == FAILED)
    if not failed.height:
        return ()
    errors: dict[str, str] = {}
    asked = None if pair is None else pair.run.queries
    if asked is not None and "error" in asked.columns:
        errors = dict(asked.select("query", "error").filter(pl.col("error").is_not_null()).rows())
    return tuple(
        Raised(query, text, errors.get(query))
        for query, text in failed.select("query", "text").rows()
    )


def check_raised(raised: tuple[Raised, ...], queries: int) -> list[Check]:
    """A check that cannot pass if the retriever failed: what it would have found is unknown."""
    if not raised:
        return []
    status: _Answer = "no clear difference"
    return [
        Check(
            name=RETRIEVER,
            metric="answers",
            slice=None,
            status=status,
            value=1.0 - len(raised) / queries,
            interval=None,
            n=queries,
            undefined=0,
            because=(raised_in_words(raised, queries),),
            claim=Claim(
                status,
                f"{raised_in_words(raised, queries)}.",
                next="Repair the retriever, and run the gate again.",
            ),
        )
    ]
