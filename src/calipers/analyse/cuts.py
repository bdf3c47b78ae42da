"""Ways to cut queries into slices: by a tag, by length, by number of targets."""

from collections.abc import Sequence

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.scores import Scores
from calipers.suggest import did_you_mean

MOST_SLICES = 100
UNTAGGED = "(none)"
# Upper ends of the buckets, in words of the query and in relevant targets.
WORDS = (4, 9, 19)
TARGETS = (0, 1, 2, 5)
COMPUTED = ("length", "targets")


def cut(scores: Scores, by: str) -> list[tuple[str, np.ndarray]]:
    """Name and mask of every slice, in an order that makes sense.

    A tag of the queries goes before "length" (words of the query) and "targets" (how many
    relevant targets it has).
    """
    if by in scores.tags:
        labels = [UNTAGGED if value is None else value for value in scores.tags[by].to_list()]
        names: Sequence[str] = sorted(set(labels), key=lambda name: (name == UNTAGGED, name))
    elif by == "length":
        labels = _lengths(scores)
        names = _bucket_names(WORDS, "word")
    elif by == "targets":
        labels = [_bucket(n, TARGETS, "target") for n in scores.queries["targets"].to_list()]
        names = _bucket_names(TARGETS, "target")
    else:
        known = [*scores.tags, *COMPUTED]
        how = "" if scores.tags else f' Records may have tags: "tags": {{"{by}": "…"}}.'
        raise InvalidInput(
            f"The queries have no tag {by!r}; they can be cut by {', '.join(known)}."
            f"{did_you_mean(by, known)}{how}"
        )
    found, present = np.array(labels, dtype=object), set(labels)
    if len(present) > MOST_SLICES:
        raise InvalidInput(
            f"The tag {by!r} has {len(present)} different values over {len(labels)} queries; a "
            f"slice needs several queries, and {MOST_SLICES} slices are allowed. Cut by a tag with "
            "fewer values."
        )
    return [(name, found == name) for name in names if name in present]


def asked(query: str, text: str | None) -> str | None:
    """What a query asks; an id with a blank in it is a question that is its own id.

    >>> asked("q7", "Who wrote it?"), asked("Who wrote it?", None), asked("q7", None)
    ('Who wrote it?', 'Who wrote it?', None)
    """
    return query if text is None and " " in query.strip() else text


def questions_asked(scores: Scores) -> list[str | None]:
    """What each query asks, where it is known."""
    return [asked(*both) for both in scores.queries.select("query", "text").iter_rows()]


def _lengths(scores: Scores) -> list[str]:
    texts = questions_asked(scores)
    if not any(texts):
        raise InvalidInput(
            "The queries cannot be cut by length: the ground truth gives their ids and not their "
            "texts; add the text of each query, or cut by a tag or by targets."
        )
    return [UNTAGGED if text is None else length_of(text) for text in texts]


def length_of(text: str) -> str:
    """The bucket of a question's length.

    >>> length_of("Who wrote it?")
    '1 to 4 words'
    """
    return _bucket(len(text.split()), WORDS, "word")


def _bucket(n: int, ends: Sequence[int], unit: str) -> str:
    """The bucket that a number falls into.

    >>> [_bucket(n, (1, 2, 5), "target") for n in (1, 4, 6)]
    ['1 target', '3 to 5 targets', 'over 5 targets']
    """
    lowest = 1 if ends[0] > 0 else 0
    for end in ends:
        if n <= end:
            span = f"{end}" if lowest == end else f"{lowest} to {end}"
            return f"{span} {unit}{'' if span == '1' else 's'}"
        lowest = end + 1
    return f"over {ends[-1]} {unit}s"


def _bucket_names(ends: Sequence[int], unit: str) -> list[str]:
    return [*(_bucket(end, ends, unit) for end in ends), f"over {ends[-1]} {unit}s", UNTAGGED]
