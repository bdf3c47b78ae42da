"""The scorer behind every integration: score one query's results against its ground truth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.policy import Policy
from calipers.names import EXPECTED
from calipers.operation import takes_keywords
from calipers.questions.reading import MatchingSettings, Reading

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.model.scores import Scores

DEFAULT = ("recall@10", "precision@10", "ndcg@10", "mrr")
Pair = tuple[Any, Any]
"""The results of a query and its ground truth."""


@takes_keywords
def scorer(*metrics: str, settings: MatchingSettings) -> "Scorer":
    """Return a callable that scores one query's results against its ground truth.

    ``metrics`` are names such as ``"recall@10"``; further arguments are the matching
    settings of ``read``. The results are a list of ids, dictionaries or documents of any
    library, a mapping of id to score, or an object that holds such a list. The ground
    truth is a list of ids, texts or documents, a mapping of id to grade, or an object
    that holds one of these under a name such as "ground_truth".

    Every value equals that of ``evaluate`` on the same query, None where it is undefined.

    >>> score = scorer("recall@2", "mrr")
    >>> score(["x", "a", "b"], ["a", "b"])
    {'recall@2': 0.5, 'mrr': 0.5}
    >>> score([], {"a": 2, "b": 1})
    {'recall@2': 0.0, 'mrr': 0.0}
    >>> score(["a"], [])
    {'recall@2': None, 'mrr': None}
    """
    from calipers.engines.scoring import choose_metrics
    from calipers.questions.inputs import matching_of

    if settings.store is not None:
        raise InvalidInput("A scorer reads no file, so it takes no store; leave it out.")
    matching_of(settings, further={})  # refused now rather than at the first query
    return Scorer(choose_metrics(metrics or DEFAULT, None), settings)


@dataclass(frozen=True)
class Scorer:
    """Metrics and matching settings; call it with the results and the ground truth."""

    metrics: "tuple[Metric, ...]"
    matching: MatchingSettings

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values, in order."""
        rel = self.matching.rel
        return tuple(str(metric.with_rel(rel)) for metric in self.metrics)

    def __call__(self, retrieved: object, expected: object) -> dict[str, float | None]:
        """Every metric for one query; None where it is undefined."""
        values = self.together([(retrieved, expected)]).values[0].tolist()
        return {
            name: None if value != value else value
            for name, value in zip(self.names, values, strict=True)
        }

    def together(self, pairs: Iterable[Pair]) -> "Scores":
        """Score several queries at once, with means and intervals as in ``evaluate``."""
        from calipers.engines.scoring import score
        from calipers.questions.inputs import matched

        found = [
            (results_of(retrieved), targets_of(expected)) for retrieved, expected in pairs
        ]
        if not found:
            raise InvalidInput("There is no query to score; give at least one.")
        # One query without a hit cannot distinguish ids from texts, but their shape can.
        matching = replace(
            self.matching, match=self.matching.match or _detect_match(found)
        )
        if matching.nothing_in_common in (None, Policy().nothing_in_common):
            # A single query that found nothing is a miss, not a mix-up of two corpora.
            matching = replace(matching, nothing_in_common="zero")
        records = [
            {"id": str(i), "query": str(i), "retrieved": results, "ground_truth": targets}
            for i, (results, targets) in enumerate(found)
        ]
        pair = matched(records, Reading(matching=matching))
        return score(pair, self.metrics)


def results_of(retrieved: Any) -> list[dict[str, Any]]:
    """Convert retrieved items of any shape to plain results, in order."""
    import msgspec

    from calipers.live.answers import read_answer
    from calipers.live.failures import AskFailed

    if retrieved is None or (isinstance(retrieved, Mapping) and not retrieved):
        return []
    if is_graded(retrieved):
        retrieved = _by_score(retrieved)
    if _is_conversation(retrieved):
        raise InvalidInput(
            "What was retrieved is a list of chat messages, and these are no results; "
            "give what the retriever returned, such as the ids or the documents of a "
            "tool's answer."
        )
    try:
        rows = read_answer(retrieved).retrieved
    except AskFailed as error:
        raise InvalidInput(f"What was retrieved cannot be read: {error}.") from None
    return [msgspec.to_builtins(row) for row in rows]


def _is_conversation(value: object) -> bool:
    """Whether these are chat messages, as conversation simulators return them."""
    return isinstance(value, list) and any(
        isinstance(message, Mapping) and "role" in message and "content" in message
        for message in value
    )


def _by_score(scores: Mapping[Any, Any]) -> list[tuple[str, float]]:
    """Sort by score, highest first; ties are ordered as in a run of scores."""
    pairs = [(str(item), float(score)) for item, score in scores.items()]
    return sorted(pairs, key=lambda pair: (pair[1], pair[0].encode()), reverse=True)


def targets_of(expected: Any) -> Any:
    """Convert the ground truth to a list of targets, or to a mapping of id to grade."""
    from calipers.io.records.documents import is_document

    if expected is None or expected == {}:
        return []
    if is_graded(expected):
        return {str(item): grade for item, grade in expected.items()}
    if isinstance(expected, Mapping):
        name = next((key for key in EXPECTED if expected.get(key) is not None), None)
        if name is not None:
            return targets_of(expected[name])
        if not _TARGET.isdisjoint(expected):
            return [expected]
        raise InvalidInput(
            "What was expected is a mapping with "
            f"{', '.join(map(repr, expected)) or 'nothing'}; give a list of ids or "
            "texts, a mapping of id to grade, or one of these under "
            f"{', '.join(map(repr, EXPECTED[:4]))}."
        )
    if isinstance(expected, str) or not isinstance(expected, Iterable):
        raise InvalidInput(
            f"What was expected is {expected!r:.80}; give a list of ids or texts, even "
            "for one."
        )
    listed = (
        sorted(expected, key=repr)
        if isinstance(expected, set | frozenset)
        else list(expected)
    )
    return [
        _as_target(target) if is_document(target) else _named(target) for target in listed
    ]


def _as_target(document: object) -> dict[str, object]:
    """A document as a target: its id, and its text as the quote."""
    from calipers.io.records.documents import as_result

    found = as_result(document)
    target = {"id": found.get("id"), "quote": found.get("text")}
    return {key: value for key, value in target.items() if value is not None}


_TARGET = frozenset({"id", "item", "quote", "text", "document", "start", "end"})


def _named(target: object) -> object:
    """A target with our field names; numeric ids become texts, as in results."""
    if isinstance(target, Mapping):
        return target
    return (
        str(target)
        if isinstance(target, int) and not isinstance(target, bool)
        else target
    )


def is_graded(value: object) -> bool:
    """Whether a value maps ids to numbers.

    >>> is_graded({"a": 2}), is_graded({"ids": ["a"]}), is_graded({})
    (True, False, False)
    """
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(
            isinstance(grade, Real) and not isinstance(grade, bool)
            for grade in value.values()
        )
    )


def _detect_match(pairs: Sequence[Pair]) -> str | None:
    """Whether plain strings are ids or quotes; None if the targets have fields that say so."""
    named = [name for _, targets in pairs for name in targets]
    results = [result for retrieved, _ in pairs for result in retrieved]
    if not all(isinstance(name, str) for name in named):
        return None
    ids = {result["id"] for result in results if result.get("id") is not None}
    if not ids:
        return "quote" if results else "id"
    if not ids.isdisjoint(named) or not any(map(_has_space, named)):
        return "id"
    # No target is the id of a result, and targets look like texts: results may too.
    texts = all(result.get("text") is not None for result in results) or all(
        map(_has_space, ids)
    )
    return "quote" if texts else "id"


def _has_space(text: str) -> bool:
    return any(character.isspace() for character in text.strip())
