"""Keep an evaluation."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.model.evaluation import Evaluation
from calipers.model.scores import Scores
from calipers.store.place import Where


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
    >>> from calipers import show
    >>> show("@nightly", store=place).scores["mrr"].mean
    0.5
    """
    from calipers.store.git import git_state
    from calipers.store.listing import evaluations
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
