"""Choose the way of matching: the caller's, or the one that fits the data."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from calipers.errors import InvalidInput, is_command_line
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES
from calipers.model.matching import KINDS, LEAST, Kind, MatchRule, parse_matching
from calipers.model.policy import Ties
from calipers.model.ranking import Order
from calipers.model.run import FirstResults, Run, changed_by

FEW = 8
"""A quote with fewer characters is found in many chunks by chance."""
SHORTEST_WITHOUT_BLANK = 12
"""A shorter word is taken for an id, not for a text to look for."""
_WITHOUT_BLANKS = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese; compiled when it is first needed."""
SPAN_ALLOWED = (
    "a span has a document, a start of at least 0 and an end, counted in characters of "
    "the document's text; the end is not part of it"
)


class _Way(NamedTuple):
    """What one way of matching needs on both sides, and what that is called."""

    column: str
    """Of the targets."""
    run_columns: tuple[str, ...]
    target_has: str


_WAYS: dict[Kind, _Way] = {
    "id": _Way("item", ("item",), "an id"),
    "quote": _Way("quote", ("text",), "a quote"),
    "span": _Way("start", ("document", "start", "end"), "a span (document, start, end)"),
}
_CALLED = {"item": "an id", "text": "a text", "document": "a document"}

Choice = tuple[Kind, GroundTruth, tuple[str, ...]]
"""The way, the ground truth as that way reads it, and notes for the user."""


def choose(
    asked: str | None,
    truth: GroundTruth,
    first: FirstResults | None,
    run: Run,
    whole: Run,
) -> tuple[MatchRule, GroundTruth, Run, tuple[str, ...]]:
    """The rule, both sides as it reads them, and notes; or an error that says what is missing.

    Chosen by the ``first`` results of a run. Ids are compared with those of ``whole``, of
    which ``run`` is a part.
    """
    columns = [] if first is None else [*first.columns]
    notes = truth.notes
    if asked is None:
        if _may_be_named(truth, columns):
            from calipers.match import short_names  # few runs have texts alone

            if short_names.are_named(truth, whole):
                truth = short_names.with_quotes_as_ids(truth)
                notes = (*truth.notes, _NAMED)
                run = short_names.with_texts_as_ids(run)
                columns = ["item" if name == "text" else name for name in columns]
        kind, truth, remarks = _automatic(truth, columns, whole)
        rule = MatchRule(kind, LEAST[kind])
        notes = (*notes, *remarks)
        plain = kind == "quote" and "item" in columns and "text" not in columns
        if plain and first is not None and _are_texts(first):
            run = with_ids_as_texts(run)
            columns = ["text" if name == "item" else name for name in columns]
    else:
        rule = parse_matching(asked)
        if rule.kind == "quote" and truth.kinds == {"item"}:
            truth = as_quotes(truth)
        # Asked for by name, plain strings with spaces in them are texts and not ids.
        plain = rule.kind == "quote" and "item" in columns and "text" not in columns
        if plain and first is not None and first.frame["item"].str.contains(r"\s").any():
            run = with_ids_as_texts(run)
            columns = ["text" if name == "item" else name for name in columns]
    _require(rule.kind, truth, columns)
    return rule, truth, run, notes


_NAMED = "Matched by id: the texts of the results are short names, as ids are."


def _may_be_named(truth: GroundTruth, columns: Collection[str]) -> bool:
    """Whether texts of results may be ids, and nobody says that the targets are quotes."""
    is_open = truth.kinds == {"item"} or bool(truth.said_to_be_quotes)
    return is_open and "text" in columns and "item" not in columns


def _have_ids_in_common(truth: GroundTruth, run: Run) -> bool:
    wanted = truth.targets["item"].unique().implode()
    return any(frame["item"].is_in(wanted).any() for frame in run.scan())


def _stand_in_texts(ids: list[str], run: Run) -> bool:
    """Whether one of some targets stands in the text of one of the first results."""
    frame = next(iter(run.scan()), None)
    if frame is None or "text" not in frame.columns:
        return False
    texts = frame["text"].drop_nulls().head(_LOOKED_AT)
    return any(texts.str.contains(target, literal=True).any() for target in ids)


def _lacks_texts(run: Run) -> bool:
    """Whether one of the first results has no text, so that quotes cannot be looked for."""
    frame = next(iter(run.scan()), None)
    return frame is not None and "text" in frame and bool(frame["text"].null_count())


def _are_texts(first: FirstResults) -> bool:
    """Whether most plain strings of a run are texts: they have several words."""
    words = first.frame["item"].drop_nulls().str.count_matches(r"\S\s+\S")
    return 2 * int((words >= _WORDS_OF_TEXT - 1).sum()) > len(words)


_WORDS_OF_TEXT = 4
"""Words from which on a string is taken for a text."""
_LOOKED_AT = 1_000
"""Texts in which ids are looked for."""


def with_ids_as_texts(run: Run) -> Run:
    """The run with its plain strings as texts instead of ids."""

    def renamed() -> Iterator[pl.DataFrame]:
        return (frame.rename({"item": "text"}) for frame in run.scan())

    return replace(run, scan=changed_by(with_ids_as_texts, run, renamed))


def _looks_like_id(target: str) -> bool:
    """Whether a target of no certain field is too short, or of the wrong script, to be a quote.

    >>> _looks_like_id("7"), _looks_like_id("refund-policy"), _looks_like_id("a party")
    (True, False, False)
    """
    if any(letter.isspace() for letter in target):
        return False
    # Where a script has no blanks, a sentence and an id look the same.
    return len(target) < SHORTEST_WITHOUT_BLANK or bool(
        re.search(_WITHOUT_BLANKS, target)
    )


def _ids_among(truth: GroundTruth) -> list[str]:
    """The targets of no certain field that look like ids."""
    targets = truth.targets["item"].drop_nulls().unique(maintain_order=True)
    return [target for target in targets if _looks_like_id(target)]


def _automatic(truth: GroundTruth, columns: Collection[str], run: Run) -> Choice:
    if not truth.kinds:
        return "id", truth, ()
    if truth.kinds == {"item"}:
        if "item" not in columns and "text" in columns:
            if ids := _ids_among(truth):
                from calipers.match.notes import without_ids

                raise without_ids(columns, ids, may_be_texts=_stand_in_texts(ids, run))
            note = (
                "Matched by quote: the results carry texts and no ids, so the targets "
                "are taken as texts to be found in them."
            )
            return "quote", as_quotes(truth), (note,)
        if "text" in columns and not _have_ids_in_common(truth, run):
            if _ids_among(truth) or _lacks_texts(run):
                return "id", truth, ()
            note = (
                "Matched by quote: no target is the id of a result, so the targets are "
                "taken as texts to be found in the results; --match id takes them as ids."
            )
            return "quote", as_quotes(truth), (note,)
        return "id", truth, ()
    # Evidence before ids: an id may mean another chunk after the next change of the chunk
    # size.
    whole = [kind for kind in reversed(KINDS) if _is_whole(truth, kind)]
    possible = [kind for kind in whole if set(_WAYS[kind].run_columns) <= set(columns)]
    if "quote" in possible and "id" in possible and _lacks_texts(run):
        possible.remove("quote")
    if not whole:
        raise InvalidInput(_mixed(truth))
    kind = (possible or whole)[0]
    others = [other for other in possible if other != kind]
    if not others:
        return kind, truth, ()
    ways = " or ".join(f"--match {other}" for other in others)
    return (
        kind,
        truth,
        (
            f"Matched by {kind}: the data would allow {' and '.join([kind, *others])}; "
            f"{ways} takes the other way.",
        ),
    )


def as_quotes(truth: GroundTruth) -> GroundTruth:
    """The ground truth with its plain strings as quotes instead of ids."""
    targets = truth.targets.with_columns(
        quote=pl.col("item"), item=pl.lit(None, dtype=pl.String())
    )
    return replace(truth, targets=targets, notes=())


def _is_whole(truth: GroundTruth, kind: Kind) -> bool:
    return _WAYS[kind].column in truth.complete


def _mixed(truth: GroundTruth) -> str:
    counts = [
        f"{truth.targets[way.column].count()} with {way.target_has}"
        for way in _WAYS.values()
    ]
    return (
        f"No one way of matching recognises all {truth.targets.height} targets of the "
        f"ground truth: there are {', '.join(counts)}; give all of them the same kind of "
        "evidence."
    )


def _require(kind: Kind, truth: GroundTruth, columns: Collection[str]) -> None:
    """Refuse a way of matching for which one side lacks the columns."""
    way = _WAYS[kind]
    if not _is_whole(truth, kind):
        without = truth.targets.filter(pl.col(way.column).is_null())
        resolvable = kind == "span" and not without["quote"].null_count()
        hint = (
            " `calipers convert --resolve` finds the spans of quotes."
            if resolvable
            else ""
        )
        if not truth.targets["document"].null_count():
            hint = " --level document asks whether the documents were found."
        raise InvalidInput(
            f"{without.height} of {truth.targets.height} targets cannot be matched by "
            f"{kind}: the first belongs to query {without['query'][0]!r}; give every "
            f"target {way.target_has}{other_ways(kind, truth, columns)}.{hint}"
        )
    absent = [column for column in way.run_columns if columns and column not in columns]
    if absent and truth.targets.height:
        raise InvalidInput(
            f"The ground truth is matched by {kind} and the results have no column "
            f"{' and no column '.join(map(repr, absent))}; found {', '.join(columns)}. "
            "Give every result "
            f"{' and '.join(_CALLED.get(field, field) for field in absent)}"
            f"{other_ways(kind, truth, columns)}."
        )


def other_ways(
    kind: Kind, truth: GroundTruth, columns: Collection[str] | None = None
) -> str:
    """Advice to match in another way, where targets and results (``columns``) allow one."""
    possible = [
        other
        for other in KINDS
        if other != kind
        and _is_whole(truth, other)
        and (columns is None or set(_WAYS[other].run_columns) <= set(columns))
    ]
    say = "--match {}" if is_command_line() else 'match="{}"'
    ways = " or ".join(say.format(other) for other in possible)
    return f", or match in another way with {ways}" if ways else ""


def check_ties(ties: Ties | None, order: Order) -> None:
    """Refuse ties in row order where the rows have no order."""
    if ties == "input" and order == "score":
        raise InvalidInput(
            "ties=input is asked for, and the rows of a DataFrame have no order; choose "
            "ties=trec or ties=error, or give the run a column rank."
        )


def check_corpus_size(corpus_size: int | None, kind: Kind) -> None:
    """Refuse a corpus size unless targets are matched by id."""
    if corpus_size is not None and kind != "id":
        raise InvalidInput(
            f"The size of the corpus is given and targets are matched by {kind}: how "
            "many of its chunks hold a target is not known. Leave it out, or match by id."
        )


def check_evidence(truth: GroundTruth, rule: MatchRule) -> tuple[str, ...]:
    """Refuse invalid quotes and spans; return notes about the others."""
    if rule.kind == "quote":
        return _check_quotes(truth)
    if rule.kind == "span":
        check_target_spans(truth)
    return ()


def _check_quotes(ground_truth: GroundTruth) -> tuple[str, ...]:
    """An error for an empty quote; a note about very short ones."""
    # Ids are the usual case, and need nothing of this.
    from calipers.text import normalise

    short = []
    for query, raw in ground_truth.targets.select("query", "quote").iter_rows():
        quote = normalise(raw)
        if not quote:
            raise InvalidInput(
                f"A quote is empty: query {query!r} has the target {raw!r}; a quote is a "
                "text to be found in a chunk. Give it a text, or remove the target."
            )
        if len(quote) < FEW:
            short.append(quote)
    if not short:
        return ()
    examples = ", ".join(map(repr, short[:EXAMPLES])) + (
        ", …" if len(short) > EXAMPLES else ""
    )
    return (
        sentence(
            "{it.count:quote has|quotes have} fewer than {few.count} characters "
            "({examples.text}): texts that short are found by chance; quote more of the passage.",
            it=Fact(about="count", count=len(short), text="short quotes"),
            few=Fact(about="setting", count=FEW, text="characters"),
            examples=named(examples),
        ),
    )


def check_target_spans(ground_truth: GroundTruth) -> None:
    """Check that every target has a document and at least one character in it."""
    targets = ground_truth.targets
    bad = targets.select(broken_span() | (pl.col("end") <= pl.col("start"))).to_series()
    if bad.any():
        row = targets.row(int(bad.arg_true()[0]), named=True)
        raise InvalidInput(
            f"A target's span cannot be used: query {row['query']!r}, {shown_span(row)}; "
            f"{SPAN_ALLOWED}, and a target has at least one character. Correct it in the "
            "ground truth."
        )


def broken_span() -> pl.Expr:
    """Whether a row lacks a valid span in a document."""
    missing = pl.any_horizontal(pl.col("document", "start", "end").is_null())
    return missing | (pl.col("start") < 0).fill_null(True)


def shown_span(row: dict[str, object]) -> str:
    """A span in words."""
    return f"document {row['document']!r}, start {row['start']}, end {row['end']}"
