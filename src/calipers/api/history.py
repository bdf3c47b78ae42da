"""Keep evaluations, list them, and get one back."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

# Loaded for its metrics: a metric exists once its module was loaded.
import calipers.metrics.coverage  # noqa: F401
from calipers.analyse.trend import headlines
from calipers.api.times import moment_of
from calipers.errors import InvalidInput
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.metrics import parse
from calipers.metrics.spec import split
from calipers.model.evaluation import Evaluation
from calipers.model.scores import Scores

Where = str | os.PathLike[str] | None
"""A history: a path or an address; None looks it up (see ``calipers.store.place``)."""


@dataclass(frozen=True)
class History:
    """Saved evaluations, newest first."""

    place: str
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    """Those to look at first: as asked for, or the headlines."""
    total: int
    """Evaluations in the history, shown or not."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {
            "place": self.place,
            "total": self.total,
            "metrics": list(self.metrics),
            "evaluations": [one.to_dict() for one in self.evaluations],
        }


@dataclass(frozen=True, eq=False)
class Shown:
    """One saved evaluation with everything in it."""

    evaluation: Evaluation
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The result as ``calipers eval --json`` prints it, and what is known of the saving."""
        kept = self.evaluation.to_dict()
        kept.pop("summaries")
        return {**self.scores.to_dict(), "evaluation": kept}


def save(
    scores: Scores,
    name: str,
    *,
    tags: Mapping[str, str] | None = None,
    store: Where = None,
    ground_truth: Any = None,
    run: Any = None,
    results: bool = True,
    corpus: Any = None,
    now: datetime | None = None,
) -> Evaluation:
    """Keep scores under a name, in one transaction, with the git commit they were made on.

    With ``ground_truth`` it can later be told which judgements changed; with ``run`` too, what
    was retrieved is kept (unless ``results`` is false), and misses can be explained later. Of the
    ``corpus`` the fingerprint is kept. ``tags`` say what was measured, such as the model.

    >>> import tempfile
    >>> from calipers import evaluate
    >>> place = tempfile.mkdtemp() + "/history.db"
    >>> scores = evaluate(ground_truth={"q": ["a"]}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> save(scores, "nightly", tags={"model": "e5"}, store=place).name
    'nightly'
    >>> show("@nightly", store=place).scores["mrr"].mean
    0.5
    """
    from calipers.store.git import git_state
    from calipers.store.load import evaluations
    from calipers.store.open import open_store
    from calipers.store.record import check_name, check_tags
    from calipers.store.save import corpus_fingerprint, record_of
    from calipers.store.schema import EVALUATION
    from calipers.store.write import write

    check_name(name)
    checked = check_tags(tags or {})
    searched = None if corpus is None else corpus_fingerprint(open_corpus(corpus).batches())
    truth = None if ground_truth is None else load(ground_truth, "ground_truth").ground_truth
    returned = None if run is None or not results else load(run, "run").run
    record = record_of(
        scores, name, tags=checked, git=git_state(), ground_truth=truth, run=returned,
        corpus=searched, now=now,
    )  # fmt: skip
    opened = open_store(store, create=True)
    write(opened, record)
    return evaluations(opened, where=[EVALUATION.c.id == record.id])[0]


def history(
    name: str | None = None,
    *,
    tags: Mapping[str, str] | None = None,
    branch: str | None = None,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    last: int | None = 20,
    metrics: str | Iterable[str] | None = None,
    store: Where = None,
    now: datetime | None = None,
) -> History:
    """What was measured when, on which commit, how good; newest first.

    ``since`` and ``until`` are dates or ages such as "30d". ``last`` is how many to list (None:
    all). ``metrics`` are those to show first (default: the headlines).
    """
    from calipers.store.load import count, evaluations
    from calipers.store.open import open_store

    if last is not None and last < 1:
        raise InvalidInput(f"The number of evaluations is {last}; it must be at least 1.")
    moment = now or datetime.now(UTC)
    limits = moment_of(since, "since", moment), moment_of(until, "until", moment)
    wanted = metric_names(metrics)
    opened = open_store(store)
    if name is not None:
        check_known(opened, name)
    found = evaluations(
        opened, name=name, branch=branch, tags=tags, since=limits[0], until=limits[1],
        last=last, metrics=wanted,
    )  # fmt: skip
    chosen = wanted
    if chosen is None:
        shown = [metric for one in found for metric in headlines(one.summaries)]
        chosen = list(dict.fromkeys(shown))[:4]
    return History(opened.place.shown, tuple(found), tuple(chosen), count(opened))


def show(reference: str, *, store: Where = None) -> Shown:
    """The whole result of a saved evaluation, exactly as it was."""
    from calipers.store.load import load_scores
    from calipers.store.open import open_store
    from calipers.store.references import resolve

    opened = open_store(store)
    wanted = reference if reference.startswith("@") else f"@{reference}"
    evaluation = resolve(opened, wanted)
    return Shown(evaluation, load_scores(opened, evaluation))


def metric_names(metrics: str | Iterable[str] | None) -> list[str] | None:
    """The names of metrics as results have them; the combined score is one too."""
    if metrics is None:
        return None
    several = [metrics] if isinstance(metrics, str) else list(metrics)
    given = [one.strip() for text in several for one in split(text)]
    plain = [one for one in given if one != "score"]
    found = [str(metric) for metric in parse(plain)] if plain else []
    return [*found, "score"] if "score" in given else found


def check_known(opened: Any, name: str) -> None:
    """Complain about a name that no evaluation has."""
    from calipers.store.references import resolve

    resolve(opened, f"@name:{name}")
