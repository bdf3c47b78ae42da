"""Metrics for one query, in plain Python: `recall_at_k(retrieved, ground_truth, k)` and others.

`retrieved` is what came back, best first; `ground_truth` is what should have come back: a
dict of grades (0 or less means judged and not relevant), or a list or set where all
grades are 1.

What is in `retrieved` decides how the two are compared, unless `by` says it:

- strings, numbers and other plain values are **ids**, and match by being equal;
- objects or dicts with a text (`text`, `page_content` or `content`) match **by text**: the
  ground truth holds texts, and one is found where a retrieved text contains it. Line breaks,
  spacing and invisible characters do not matter, case does (see `calipers.text.normalise`);
- objects or dicts with an id (`id`, `_id`, `id_` or `metadata["id"]`) and no text match by id.

`by="text"` takes strings in `retrieved` as texts; `by="id"` takes the ids of objects that
also have a text. What would be a misleading 0 is an error: a ground truth that names the
id of a result with a text, and a target of several words inside a result that was taken
as an id.

An id or a text that comes back twice occupies its rank and earns nothing the second time.
With texts, one result can hold several targets and several results the same one:
precision counts results that hold any target and recall counts targets held by any
result, while average precision and nDCG give each found target a position of its own, the
first free one at or after its first rank, the best grade first. No value exceeds 1, and
an empty ground truth gives 0.0.
"""

import math
import operator
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Complex, Number, Real
from reprlib import repr as short
from typing import Any, Literal, NamedTuple, SupportsFloat, TypeAlias, TypeVar

from calipers.errors import InvalidInput
from calipers.names import ID
from calipers.text import field, held_by, normalise, targets_of, text_of, texts_of

Retrieved: TypeAlias = Iterable[object]
GroundTruth: TypeAlias = Mapping[Any, SupportsFloat] | Iterable[object]
Gain: TypeAlias = Literal["linear", "exp"]
By: TypeAlias = Literal["id", "text"] | None
T = TypeVar("T")


class Confusion(NamedTuple):
    """The four counts of one query at k; `tn` is None where the corpus size is not known."""

    tp: int
    fp: int
    fn: int
    tn: int | None


class _Query(NamedTuple):
    """One checked query: the grades of its relevant targets, and the targets at each rank."""

    grades: list[float]
    held: list[
        list[int]
    ]  # for each rank up to k the positions in `grades`; empty for a copy
    k: int
    by_text: bool
    cut: int | None  # k if given: positions may lie below the last result

    def found(self) -> int:
        return len({target for targets in self.held for target in targets})

    def precision(self) -> float:
        return sum(1 for targets in self.held if targets) / self.k

    def recall(self) -> float:
        return self.found() / len(self.grades) if self.grades else 0.0

    def claims(self) -> list[tuple[int, float]]:
        """The positions at which targets are credited, in order, with their grades."""
        first_rank: dict[int, int] = {}
        for rank, targets in enumerate(self.held, 1):
            for target in targets:
                first_rank.setdefault(target, rank)
        paid: dict[int, float] = {}
        for target in sorted(first_rank, key=lambda target: -self.grades[target]):
            position = first_rank[target]
            while position in paid:
                position += 1
            paid[position] = self.grades[target]
        return sorted(
            claim for claim in paid.items() if self.cut is None or claim[0] <= self.cut
        )


def precision_at_k(
    retrieved: Retrieved, ground_truth: GroundTruth, k: int, *, by: By = None
) -> float:
    """Share of the first k ranks that hold a target; divided by k even if fewer came back.

    >>> precision_at_k(["a", "x", "b"], ["a", "b", "c"], 5)
    0.4
    """
    return _read(retrieved, ground_truth, _whole("k", k), by).precision()


def recall_at_k(
    retrieved: Retrieved, ground_truth: GroundTruth, k: int, *, by: By = None
) -> float:
    r"""Share of the relevant targets that are in the first k.

    >>> recall_at_k(["a", "x", "b"], {"a": 3, "b": 1, "c": 2, "d": 1, "x": 0}, 2)
    0.25
    >>> chunks = [{"text": "The GIL is a lock."}, {"text": "Threads share\nmemory."}]
    >>> recall_at_k(chunks, ["is a lock", "share memory"], 2)
    1.0
    >>> recall_at_k(["The refund period is 30 days."], ["period is 30 days"], 2, by="text")
    1.0
    """
    return _read(retrieved, ground_truth, _whole("k", k), by).recall()


def hit_rate_at_k(
    retrieved: Retrieved, ground_truth: GroundTruth, k: int, *, by: By = None
) -> float:
    """1.0 if any relevant target is in the first k, else 0.0.

    >>> hit_rate_at_k(["x", "a"], ["a", "b"], 1), hit_rate_at_k(["x", "a"], ["a", "b"], 2)
    (0.0, 1.0)
    """
    return float(_read(retrieved, ground_truth, _whole("k", k), by).found() > 0)


def f1_at_k(
    retrieved: Retrieved, ground_truth: GroundTruth, k: int, *, by: By = None
) -> float:
    """Harmonic mean of precision and recall at k; 0.0 where both are 0.

    >>> f1_at_k(["a", "x"], ["a", "b"], 2)
    0.5
    """
    query = _read(retrieved, ground_truth, _whole("k", k), by)
    precision = query.precision()
    recall = query.recall()
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def reciprocal_rank(
    retrieved: Retrieved,
    ground_truth: GroundTruth,
    k: int | None = None,
    *,
    by: By = None,
) -> float:
    """1 / rank of the first relevant target; 0.0 if there is none (within k, if given).

    >>> reciprocal_rank(["x", "a"], ["a"]), reciprocal_rank(["x", "a"], ["a"], 1)
    (0.5, 0.0)
    """
    query = _read(retrieved, ground_truth, None if k is None else _whole("k", k), by)
    return next((1 / rank for rank, targets in enumerate(query.held, 1) if targets), 0.0)


def average_precision(
    retrieved: Retrieved,
    ground_truth: GroundTruth,
    k: int | None = None,
    *,
    by: By = None,
) -> float:
    """Precision at each position of a found target, summed, over the number of relevant targets.

    Targets that were not found stay in the denominator, also when k is smaller than their
    number.

    >>> average_precision(["a", "x", "x2", "b"], ["a", "b"])
    0.75
    """
    query = _read(retrieved, ground_truth, None if k is None else _whole("k", k), by)
    if not query.grades:
        return 0.0
    # Added from the first rank on, as `evaluate` does: the same value to the last bit.
    total = sum(hits / rank for hits, (rank, _) in enumerate(query.claims(), 1))
    return total / len(query.grades)


def ndcg_at_k(
    retrieved: Retrieved,
    ground_truth: GroundTruth,
    k: int,
    *,
    gain: Gain = "linear",
    by: By = None,
) -> float:
    """Discounted gain of the first k ranks over that of the best possible first k.

    The best possible order is made of the whole ground truth, found or not. A target is
    worth its grade (`gain="linear"`) or 2^grade - 1 (`gain="exp"`), divided by log2(rank
    + 1).

    >>> ndcg_at_k(["b", "a"], {"a": 3, "b": 1}, 2) == (1 + 3 / math.log2(3)) / (
    ...     3 + 1 / math.log2(3)
    ... )
    True
    """
    if gain not in ("linear", "exp"):
        raise InvalidInput(
            f"gain is not known: found {short(gain)}; use 'linear' or 'exp'."
        )
    query = _read(retrieved, ground_truth, _whole("k", k), by)
    if not query.grades:
        return 0.0
    best = max(query.grades)

    def discounted(rank: int, grade: float) -> float:
        # Relative to the best grade, so that neither huge nor tiny grades leave the float
        # range.
        if gain == "linear":
            return grade / best / math.log2(rank + 1)
        return (
            2 ** (grade - best) * -math.expm1(-grade * math.log(2)) / math.log2(rank + 1)
        )

    ideal = enumerate(sorted(query.grades, reverse=True)[: query.k], 1)
    # Added from the first rank on, as `evaluate` does: the same value to the last bit.
    reached = sum(discounted(rank, grade) for rank, grade in query.claims())
    return min(1.0, reached / sum(discounted(rank, grade) for rank, grade in ideal))


def confusion_at_k(
    retrieved: Retrieved,
    ground_truth: GroundTruth,
    k: int,
    *,
    corpus_size: int | None = None,
    by: By = None,
) -> Confusion:
    """Count targets found and missed, and ranks within k that hold none (copies included).

    `tn`, the items neither relevant nor returned, needs the number of items in the
    corpus; with it the four counts add up to that number.

    >>> confusion_at_k(["a", "x", "b"], ["a", "b", "c"], 3, corpus_size=100)
    Confusion(tp=2, fp=1, fn=1, tn=96)
    """
    query = _read(retrieved, ground_truth, _whole("k", k), by)
    tp = query.found()
    fp = sum(1 for targets in query.held if not targets)
    fn = len(query.grades) - tp
    if corpus_size is None:
        return Confusion(tp, fp, fn, None)
    size = _whole("corpus_size", corpus_size)
    if query.by_text:
        raise InvalidInput(
            "corpus_size cannot be used with texts: how many items of the corpus hold a "
            "target is not known. Leave it out, or match by ids."
        )
    if size < tp + fp + fn:
        raise InvalidInput(
            f"corpus_size is too small: found {size}, but the first k results and the "
            f"ground truth alone make {tp + fp + fn}. Pass the number of items in the "
            "whole corpus."
        )
    return Confusion(tp, fp, fn, size - tp - fp - fn)


def _read(
    retrieved: Retrieved, ground_truth: GroundTruth, k: int | None, by: By
) -> _Query:
    """One query, checked and matched; the targets at each rank down to k."""
    if by not in (None, "id", "text"):
        raise InvalidInput(f"by is not known: found {short(by)}; use 'id' or 'text'.")
    items = _listed("retrieved", retrieved)
    if isinstance(retrieved, Mapping | set | frozenset):
        raise InvalidInput(
            f"retrieved has no order: found a {type(retrieved).__name__}; ranks need a "
            "list. Pass a list, best result first."
        )
    depth = max(len(items), 1) if k is None else k
    grades = _grades(ground_truth)
    texts = _texts(items, by)
    if texts is not None:
        if by is None:
            _refuse_ids_of(items, texts, grades)
        wanted = _relevant(targets_of(grades))
        return _Query(
            list(wanted.values()), held_by(texts[:depth], list(wanted)), depth, True, k
        )
    ids = [_hashed(f"retrieved[{at}]", _id_of(item)) for at, item in enumerate(items)]
    _refuse_other_kind(ids, grades)
    relevant = _relevant(grades)
    if by is None and relevant.keys().isdisjoint(ids):
        _refuse_texts(ids, relevant)
    open_positions = {name: position for position, name in enumerate(relevant)}
    first = ids[:depth]
    # A position is removed when it is found, so a copy further down finds nothing.
    held = [
        [open_positions.pop(name)] if name in open_positions else [] for name in first
    ]
    return _Query(list(relevant.values()), held, depth, False, k)


def _texts(items: list[object], by: By) -> list[str] | None:
    """The texts to look into; None where results are matched by id."""
    if by is None:
        return texts_of(items)
    if by == "id":
        nameless = (
            at for at, item in enumerate(items) if _id_of(item) is item and text_of(item)
        )
        if (at := next(nameless, None)) is not None:
            raise InvalidInput(
                f"by='id' needs an id for every result: retrieved[{at}] is "
                f"{short(items[at])}, a text without one. Pass ids, or match by='text'."
            )
        return None
    item_texts = [item if isinstance(item, str) else text_of(item) for item in items]
    texts = [text for text in item_texts if text is not None]
    if len(texts) < len(item_texts):
        without = item_texts.index(None)
        raise InvalidInput(
            f"by='text' needs a text for every result: retrieved[{without}] is "
            f"{short(items[without])}. Pass strings, or objects with a text."
        )
    return texts


def _refuse_texts(ids: list[object], relevant: Mapping[object, float]) -> None:
    """Refuse texts that were taken as ids: a target of several words inside a result."""
    phrases = [
        name for name in relevant if isinstance(name, str) and len(name.split()) > 1
    ]
    if not phrases:
        return
    texts = [normalise(name) if isinstance(name, str) else "" for name in ids]
    for phrase in phrases:
        target = normalise(phrase)
        at = next((at for at, text in enumerate(texts) if target in text), None)
        if at is not None:
            raise InvalidInput(
                f"No id of the ground truth was returned, but the text {short(phrase)} "
                f"stands inside retrieved[{at}]. Pass by='text' to match by text, or "
                "by='id' if they are ids."
            )


def _whole(name: str, value: Any) -> int:
    try:  # operator.index knows numpy's whole numbers too, but would let a bool pass
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise InvalidInput(f"{name} is not a whole number above 0: found {short(value)}.")
    return number


def _number(name: str, value: object) -> float:
    # float() of a complex number of numpy would drop its imaginary part with a warning.
    is_complex = isinstance(value, Complex) and not isinstance(value, Real)
    number = math.nan
    if isinstance(value, SupportsFloat) and not is_complex:
        with suppress(OverflowError, TypeError, ValueError):
            number = float(value)
    if not math.isfinite(number):
        raise InvalidInput(f"{name} is not a finite number: found {short(value)}.")
    return number


def _listed(name: str, values: object) -> list[object]:
    single = (
        getattr(values, "shape", None) == ()
    )  # A zero-dimensional array is not a list.
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or single:
        sentence = (
            f"{name} is not a list: found {short(values)}. Put a single value in a list."
        )
        raise InvalidInput(sentence)
    return list(values)


def _hashed(where: str, value: object) -> object:
    try:
        hash(value)
    except TypeError:
        pass
    else:
        if value is not None:
            return value
    raise InvalidInput(
        f"{where} is not an id: found {short(value)}. Pass a string or a number, or in "
        "retrieved an object with a text or an id."
    )


def _grades(ground_truth: GroundTruth) -> dict[object, float]:
    names = _listed("ground_truth", ground_truth)
    if isinstance(ground_truth, Mapping):
        return {
            name: _number(f"ground_truth[{short(name)}]", grade)
            for name, grade in ground_truth.items()
        }
    return {_hashed(f"ground_truth[{at}]", name): 1.0 for at, name in enumerate(names)}


def _relevant(grades: Mapping[T, float]) -> dict[T, float]:
    return {name: grade for name, grade in grades.items() if grade > 0}


def _id_of(item: object) -> object:
    if isinstance(item, str | int):
        return item
    carried = (field(item, name) for name in ID)
    own = next(
        (name for name in carried if name is not None),
        field(field(item, "metadata"), "id"),
    )
    return item if own is None else own


def _refuse_ids_of(
    items: list[object], texts: list[str], grades: Mapping[object, float]
) -> None:
    for at, (item, text) in enumerate(zip(items, texts, strict=True)):
        own = _id_of(item)
        if isinstance(own, str) and own in grades and own != text:
            raise InvalidInput(
                "ground_truth names an id, but retrieved is matched by text: "
                f"{short(own)} is the id of retrieved[{at}]. Pass the ids alone: "
                "[item.id for item in retrieved]."
            )


def _refuse_other_kind(ids: list[object], grades: Mapping[object, float]) -> None:
    def kind(name: object) -> type:
        return next(
            (base for base in (str, Number) if isinstance(name, base)), type(name)
        )

    if (
        ids
        and grades
        and {kind(name) for name in ids}.isdisjoint(kind(name) for name in grades)
    ):
        raise InvalidInput(
            f"retrieved and ground_truth hold different kinds of ids: {short(ids[0])} in "
            f"one, {short(next(iter(grades)))} in the other; they can never be equal. "
            "Convert one."
        )
