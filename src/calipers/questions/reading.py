"""Keywords that many operations share, declared once, so that an editor completes them."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypedDict

from calipers.model.policy import (
    Calls,
    Duplicates,
    Failed,
    Missing,
    NothingInCommon,
    Ties,
    Unanswerable,
    Unknown,
)

Where = str | os.PathLike[str] | None
"""A history: a file or the address of a database; None: the usual place."""


class Matching(TypedDict, total=False):
    """How results are compared with a ground truth."""

    match: str | None
    """"id", "quote", "span", or with parameters as in "quote(min=0.8)"; None: as the data says."""
    level: str | None
    """"evidence" (several chunks together may hold a target), "chunk" or "document"."""
    rel: float | None
    """The grade from which a target is relevant; None: above 0."""
    corpus_size: int | None
    """Items in the corpus, for tn@k."""
    like: str | None
    """The policies of another tool: "trec_eval", "trec_eval-c", "trec_eval-9"; single policies
    overrule it."""
    missing: Missing | None
    """A query that the run does not have: "zero", "exclude" or "error"."""
    unanswerable: Unanswerable | None
    """A query without any relevant target: "exclude", "zero" or "error"."""
    duplicates: Duplicates | None
    """The same item twice for one query: "first" or "error"."""
    unknown: Unknown | None
    """A query that the ground truth does not have: "ignore" or "error"."""
    errors: Failed | None
    """A query on which the retriever failed: "zero", "exclude" or "error"."""
    ties: Ties | None
    """The order among equal scores: "trec", "trec-9", "input" or "error"."""
    calls: Calls | None
    """How several calls for one query make one ranking: "concat" (one after the other), "union"
    (by rank, each result once), "best" (the call that finds most) or "last"."""
    nothing_in_common: NothingInCommon | None
    """A run that shares nothing with the ground truth: "error" or "zero"."""
    map_ids: str | None
    """What does not count in ids and names of documents: "prefix=docs/", "extension", "case", or
    several with commas between them."""
    columns: Any
    """Which column is what, where its name does not say: {"item": "expected_ids"}."""
    store: str | os.PathLike[str] | None
    """The history in which references such as "@nightly" are looked up."""
    progress: Callable[[int, int], None] | None
    """Called with the bytes read and the bytes in all."""
    memory: str | int | None
    """What may be used for results in records, and for those that are not in the order of their
    queries, such as "2GB"; what does not fit goes to a temporary file. None: half of what is
    free."""
    temp: str | os.PathLike[str] | None
    """The folder of that temporary file; None: the usual one."""
    fingerprints: bool
    """False leaves the fingerprints of run and ground truth out: a tenth faster on large files."""


class Reading(Matching, total=False):
    """What is measured, and how it is matched."""

    ground_truth: Any
    """What should be found: a path, a mapping, records, a table."""
    run: Any
    """What the retriever returned, in the same shapes."""
    retriever: Any
    """A live retriever to ask in place of a run: a function of (query, k), an object of a library
    that `retrieve` knows, or a text such as "package.module:function"."""
    ask_for: int | None
    """How many results to ask a retriever for; None: as many as are looked at, and at least 10."""
    workers: int | None
    """Questions asked at a time; None: 8, or 1 for a command."""
    watch: Callable[[], AbstractContextManager[tuple[Any, Any]]] | None
    """Gives the callbacks for the progress of asking: the number of questions, the counts."""


ASKING = ("retriever", "ask_for", "workers", "watch")
"""The keywords of these that are about asking a retriever."""
DEPTH = 20
"""Results to ask a retriever for where nothing says how many are looked at."""
