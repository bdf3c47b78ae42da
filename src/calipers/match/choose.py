"""Which way of matching is meant: as named by the caller, or as the data says."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth
from calipers.model.policy import Ties
from calipers.model.ranking import Order
from calipers.model.run import FirstResults, Run
from calipers.words import did_you_mean

Kind = Literal["id", "quote", "span"]
KINDS: tuple[Kind, ...] = ("id", "quote", "span")
LEAST: dict[Kind, float] = {"id": 1.0, "quote": 1.0, "span": 0.9}
"""The share of a target that is enough unless ``min`` is given. Spans leave room for the white
space that many chunkers strip between two chunks."""
PARAMETERS: dict[Kind, tuple[str, ...]] = {"id": (), "quote": ("min", "case"), "span": ("min",)}

_TARGET_COLUMN: dict[Kind, str] = {"id": "item", "quote": "quote", "span": "start"}
_RUN_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "id": ("item",),
    "quote": ("text",),
    "span": ("document", "start", "end"),
}
_CALLED = {"item": "an id", "text": "a text", "document": "a document"}

Level = Literal["evidence", "chunk", "page", "document"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class MatchRule:
    """One way of recognising targets; printed as it is written."""

    kind: Kind
    least: float
    ignore_case: bool = False

    def __str__(self) -> str:
        words = []
        if self.ignore_case:
            words.append("case=ignore")
        if self.least != LEAST[self.kind] or self.kind == "span":
            words.append(f"min={self.least:g}")
        return self.kind + (f"({','.join(words)})" if words else "")


def parse_matching(text: str) -> MatchRule:
    """The matching that a text such as ``quote(min=0.8)`` names.

    >>> parse_matching("quote(min=0.8)")
    MatchRule(kind='quote', least=0.8, ignore_case=False)
    >>> str(parse_matching(" span ")), str(parse_matching("quote(min=1)"))
    ('span(min=0.9)', 'quote')
    """
    form = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text) if isinstance(text, str) else None
    if not form:
        raise InvalidInput(
            f"The matching {text!r} cannot be read; write id, quote or span, with parameters in "
            "parentheses, such as quote(min=0.8)."
        )
    kind = next((one for one in KINDS if one == form[1]), None)
    if kind is None:
        raise InvalidInput(
            f"There is no matching called {form[1]!r}; it can be {', '.join(KINDS)}."
            f"{did_you_mean(form[1], KINDS)}"
        )
    given: dict[str, str] = {}
    for word in filter(None, (word.strip() for word in (form[2] or "").split(","))):
        name, equals, value = (part.strip() for part in word.partition("="))
        if name not in PARAMETERS[kind] or not equals or name in given:
            allowed = ", ".join(PARAMETERS[kind]) or "none"
            raise InvalidInput(
                f"The matching {text!r} has {word!r} in its parentheses; {kind} takes these "
                f"parameters, each once and as name=value: {allowed}."
                f"{did_you_mean(name, PARAMETERS[kind])}"
            )
        given[name] = value
    return MatchRule(kind, _least(given.get("min"), kind), _ignores_case(given.get("case")))


def _least(text: str | None, kind: Kind) -> float:
    if text is None:
        return LEAST[kind]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value <= 1:
        raise InvalidInput(
            f"min in {kind}(min=…) is {text!r}; it is the share of a target that must be held, "
            "above 0 and at most 1, such as 0.8."
        )
    return value


def _ignores_case(text: str | None) -> bool:
    if text not in (None, "keep", "ignore"):
        raise InvalidInput(f"case in quote(case=…) is {text!r}; it can be keep or ignore.")
    return text == "ignore"


@dataclass(frozen=True, eq=False)
class Choice:
    """The matching to use, the ground truth as that matching reads it, and notes for the user."""

    matching: MatchRule
    ground_truth: GroundTruth
    notes: tuple[str, ...] = ()


def choose(
    asked: str | None,
    ground_truth: GroundTruth,
    columns: Collection[str],
    ids_in_common: Callable[[], bool],
) -> Choice:
    """Settle the matching, or say what is missing for it.

    ``columns`` are those of the run; ``ids_in_common`` is asked where the results have ids and
    texts, to tell whether plain strings in the ground truth are ids or quotes.
    """
    if asked is not None:
        matching = parse_matching(asked)
        truth = ground_truth
        notes: tuple[str, ...] = ()
        if matching.kind == "quote" and ground_truth.kinds == {"item"}:
            truth = as_quotes(ground_truth)
    else:
        kind, truth, notes = _automatic(ground_truth, columns, ids_in_common)
        matching = MatchRule(kind, LEAST[kind])
    _require(matching.kind, truth, columns)
    return Choice(matching, truth, (*ground_truth.notes, *notes))


def choose_from(
    asked: str | None, truth: GroundTruth, first: FirstResults | None, run: Run, whole: Run
) -> tuple[Choice, Run]:
    """The way of matching by the first results of a run, and the run as that reads it.

    Ids may be in common with the ``whole`` of which ``run`` is a part.
    """
    columns = [] if first is None else first.columns
    # Asked for by name, plain strings with spaces in them are texts and not ids.
    by_quote = asked is not None and parse_matching(asked).kind == "quote"
    plain = by_quote and "item" in columns and "text" not in columns
    if plain and first is not None and first.frame["item"].str.contains(r"\s").any():
        run = with_ids_as_texts(run)
        columns = ["text" if name == "item" else name for name in columns]
    return choose(asked, truth, columns, lambda: _have_ids_in_common(truth, whole)), run


def _have_ids_in_common(truth: GroundTruth, run: Run) -> bool:
    wanted = truth.targets["item"].unique().implode()
    return any(frame["item"].is_in(wanted).any() for frame in run.scan())


def with_ids_as_texts(run: Run) -> Run:
    """The run whose plain strings are texts and not ids."""
    from calipers.model.elsewhere import changed_by

    def renamed() -> Iterator[pl.DataFrame]:
        return (frame.rename({"item": "text"}) for frame in run.scan())

    return replace(run, scan=changed_by(with_ids_as_texts, run, renamed))


def _automatic(
    truth: GroundTruth, columns: Collection[str], ids_in_common: Callable[[], bool]
) -> tuple[Kind, GroundTruth, tuple[str, ...]]:
    if not truth.kinds:
        return "id", truth, ()
    if truth.kinds == {"item"}:
        if "item" not in columns and "text" in columns:
            note = (
                "Matched by quote: the results carry texts and no ids, so the targets are taken "
                "as texts to be found in them."
            )
            return "quote", as_quotes(truth), (note,)
        if "text" in columns and not ids_in_common():
            note = (
                "Matched by quote: no target is the id of a result, so the targets are taken as "
                "texts to be found in the results; --match id takes them as ids."
            )
            return "quote", as_quotes(truth), (note,)
        return "id", truth, ()
    # Evidence before ids: an id may mean another chunk after the next change of the chunk size.
    whole = [kind for kind in reversed(KINDS) if _is_whole(truth, kind)]
    possible = [kind for kind in whole if set(_RUN_COLUMNS[kind]) <= set(columns)]
    if not whole:
        raise InvalidInput(_mixed(truth))
    kind = (possible or whole)[0]
    others = [other for other in possible if other != kind]
    if not others:
        return kind, truth, _unused(kind, [one for one in whole if one != kind], columns)
    ways = " or ".join(f"--match {other}" for other in others)
    return (
        kind,
        truth,
        (
            f"Matched by {kind}: the data would allow {' and '.join([kind, *others])}; "
            f"{ways} takes the other way.",
        ),
    )


def _unused(kind: Kind, others: list[Kind], columns: Collection[str]) -> tuple[str, ...]:
    """A note about evidence that the targets have and the results cannot be compared with."""
    if not others or not columns:
        return ()
    lacking = {"id": "ids", "quote": "texts", "span": "places in documents"}
    named = {"id": "ids", "quote": "quotes", "span": "spans"}
    needed = " and no ".join(lacking[one] for one in others)
    return (
        f"Matched by {kind}: the results have no {needed}, so the "
        f"{' and '.join(named[one] for one in others)} of the targets are not used.",
    )


def as_quotes(truth: GroundTruth) -> GroundTruth:
    """The ground truth whose plain strings are quotes and not ids."""
    targets = truth.targets.with_columns(quote=pl.col("item"), item=pl.lit(None, dtype=pl.String()))
    return replace(truth, targets=targets, notes=())


def _is_whole(truth: GroundTruth, kind: Kind) -> bool:
    return _TARGET_COLUMN[kind] in truth.complete


def _mixed(truth: GroundTruth) -> str:
    called: dict[Kind, str] = {"id": "an id", "quote": "a quote", "span": "a span"}
    counts = [
        f"{truth.targets[_TARGET_COLUMN[kind]].count()} with {words}"
        for kind, words in called.items()
    ]
    return (
        f"No one way of matching recognises all {truth.targets.height} targets of the ground "
        f"truth: there are {', '.join(counts)}; give all of them the same kind of evidence."
    )


def _require(kind: Kind, truth: GroundTruth, columns: Collection[str]) -> None:
    """What the matching needs is there on both sides, or nothing is started."""
    needed = {"id": "an id", "quote": "a quote", "span": "a document with start and end"}[kind]
    if not _is_whole(truth, kind):
        without = truth.targets.filter(pl.col(_TARGET_COLUMN[kind]).is_null())
        resolvable = kind == "span" and not without["quote"].null_count()
        hint = " `calipers convert --resolve` finds the spans of quotes." if resolvable else ""
        if not truth.targets["document"].null_count():
            hint = " --level document asks whether the documents were found."
        raise InvalidInput(
            f"{without.height} of {truth.targets.height} targets cannot be matched by {kind}: the "
            f"first belongs to query {without['query'][0]!r}; give every "
            f"target {needed}, or choose another way with --match ({', '.join(KINDS)}).{hint}"
        )
    absent = [column for column in _RUN_COLUMNS[kind] if columns and column not in columns]
    if absent and truth.targets.height:
        raise InvalidInput(
            f"The ground truth is matched by {kind} and the results have no column "
            f"{' and no column '.join(map(repr, absent))}; found {', '.join(columns)}. Give every "
            f"result {' and '.join(_CALLED.get(one, one) for one in absent)}, or choose another "
            f"way with --match ({', '.join(KINDS)})."
        )


def check_level(name: str | None) -> Level:
    """The level of that name; evidence where none is given.

    >>> check_level(None)
    'evidence'
    """
    for level in LEVELS:
        if name in (level, None):
            return level
    raise InvalidInput(
        f"There is no level {name!r} here; one level is expected: {', '.join(LEVELS)}."
        f"{did_you_mean(str(name), LEVELS)}"
    )


def check_ties(ties: Ties | None, order: Order) -> None:
    """Refuse an order of rows that have none."""
    if ties == "input" and order == "score":
        raise InvalidInput(
            "ties=input is asked for, and the rows of a DataFrame have no order; choose ties=trec "
            "or ties=error, or give the run a column rank."
        )


def check_corpus_size(corpus_size: int | None, kind: Kind) -> None:
    """Refuse the size of a corpus where it does not say how much of it is no target."""
    if corpus_size is not None and kind != "id":
        raise InvalidInput(
            f"The size of the corpus is given and targets are matched by {kind}: how many of its "
            "chunks hold a target is not known. Leave it out, or match by id."
        )


def check_evidence(choice: Choice) -> tuple[str, ...]:
    """Refuse quotes and spans that cannot be meant; returns what is to be said of the others."""
    # Ids are the usual case, and need none of what evidence needs.
    if choice.matching.kind == "quote":
        from calipers.match.check_evidence import check_target_quotes

        return check_target_quotes(choice.ground_truth)
    if choice.matching.kind == "span":
        from calipers.match.check_evidence import check_target_spans

        check_target_spans(choice.ground_truth)
    return ()
