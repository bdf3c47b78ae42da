"""An answer as a few blocks, which every output format renders in its own way.

A question makes one document from its result: a sentence, what it rests on, and notes.
Terminal, Markdown, pages and notebooks each have one renderer for it
(``calipers.present``).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from calipers.frozen import dataclass
from calipers.model.claim import Claim, Standing
from calipers.model.fact import Sentence, facts_of, replaced
from calipers.model.plain import plain
from calipers.words import whole_commands

if TYPE_CHECKING:
    import polars as pl

Heads: TypeAlias = "Sequence[Column | str]"
Cells: TypeAlias = "Sequence[Cell | str]"
Rows: TypeAlias = "Iterable[Any] | pl.DataFrame"
"""Results or mappings, one for each line of a CSV, in full precision."""

NoteKind = Literal[
    "left out",  # queries that leave a mean; always shown, and not among the three
    "changed",  # how many queries of a comparison changed, and which way
    "near ids",  # targets that were returned under nearly the same id
    "smoke test",  # questions that were made from the documents themselves
    "whole corpus",  # lists that hold everything there is
    "ties",  # equal scores that decide a mean
    "slice",  # some queries that moved much more than all together
    "failed",  # questions on which the retriever failed
    "missing",  # queries that were not asked, not known or not compared
    "unjudged",  # results that nobody judged
    "input",  # how the files were read: ids that were split, columns that were guessed
    "doubt",  # what these queries cannot settle, and what would
    "aside",  # what settles nothing: how long retrievers took, how a comparison is sliced
    "next",  # a command to run next; it comes last
    "counted",  # how much there was, and what was counted twice or tied
    "marks",  # what the signs in the table mean
    "method",  # how intervals are made, which policies hold
]
"""What a note is about, most important first. From "counted" on, only ``--explain`` shows
them."""
WEIGHTS = {kind: weight for weight, kind in enumerate(get_args(NoteKind))}


CAUTIONS: dict[str, NoteKind] = {
    " left out of ": "left out",
    "nearly so": "near ids",
    "A smoke test": "smoke test",
    "Every query gets the same": "whole corpus",
    "Equal scores decide": "ties",
}
"""Words by which a note of reading or measuring is known to come before others."""


def note_of(text: str, kind: "NoteKind" = "input") -> "Note":
    """A note of reading or measuring, as one of the kinds that come first where it is one."""
    return Note(
        next((caution for words, caution in CAUTIONS.items() if words in text), kind),
        text,
    )


def ties_may_make(changes: Iterable[tuple[str, float | None]], text: str) -> bool:
    """Whether equal scores move a mean by as much as it changed, as a note on ties says."""
    moves = [
        (fact.metric, fact.high - fact.low)
        for fact in facts_of(text)
        if fact.high is not None and fact.low is not None
    ]
    return not moves or any(
        metric == changed and abs(change or 0.0) <= moved
        for changed, change in changes
        for metric, moved in moves
    )


class Note(NamedTuple):
    """A sentence below an answer, and what it is about."""

    kind: NoteKind
    text: str


@dataclass(frozen=True)
class Column:
    """A column of a table: right-aligned numbers or, with ``words``, names that are cut to fit."""

    head: str
    words: bool = False
    prose: bool = False
    """Sentences, which are folded instead of cut."""
    spare: bool = False
    """Left out on a narrow terminal."""


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text: a sign behind it, or bold."""

    text: str
    standing: Standing | None = None
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """Headers and rows of texts; a header without a ``Column`` is that of numbers."""

    columns: Heads
    rows: Sequence[Cells]
    title: str = ""
    more: str = ""
    """What is left out, and how to get it."""
    detail: bool = False
    """For ``--explain`` alone; a page shows it folded."""


@dataclass(frozen=True)
class Lines:
    """Lines under a title, such as queries: each on a line of its own, cut to fit."""

    lines: Sequence[str]
    title: str = ""
    prose: bool = False
    """Sentences, which are folded instead of cut."""
    detail: bool = False


@dataclass(frozen=True)
class Answers:
    """Further answers beside the one of the first sentence."""

    claims: Sequence[Claim]


@dataclass(frozen=True)
class Picture:
    """A chart, drawn where the output format can show one."""

    draw: Callable[[], Any]


Block: TypeAlias = Table | Lines | Answers | Picture


@dataclass(frozen=True)
class Document:
    """The answer in one sentence, what it rests on, and at most a few notes."""

    sentence: str
    standing: Standing | None = None
    blocks: Sequence[Block] = ()
    notes: Sequence[Note | str] = ()
    rows: Callable[[], Rows] | None = None
    """What CSV and ``to_polars`` hold."""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Every sentence with the facts that it is made of: the answer, further ones, notes."""
        claims = [
            claim
            for block in self.blocks
            if isinstance(block, Answers)
            for claim in block.claims
        ]
        lines = [
            line
            for block in self.blocks
            if isinstance(block, Lines)
            for line in block.lines
        ]
        texts = [
            self.sentence,
            *(
                text
                for claim in claims
                for text in (claim.fact, claim.range, claim.next)
                if text
            ),
            *(line for line in lines if isinstance(line, Sentence)),
            *(note.text for note in in_order(self.notes)),
        ]
        return tuple(Sentence(whole_commands(text), facts_of(text)) for text in texts)


def of_claim(claim: Claim, *further: Note | str, **parts: Any) -> Document:
    """A document whose answer is a claim: its range and next step are the first notes."""
    notes: list[Note | str] = [Note("doubt", claim.range)] if claim.range else []
    notes += [Note("doubt", claim.next)] if claim.next else []
    return Document(
        as_sentence(claim.fact), claim.standing, notes=[*notes, *further], **parts
    )


def as_sentence(text: str) -> str:
    """A text with a capital letter and a full stop, and the same facts.

    A name at its beginning stays as it is.

    >>> as_sentence("nothing is found"), as_sentence("k does not matter.")
    ('Nothing is found.', 'k does not matter.')
    """
    names = {"k"} | {one.system for one in facts_of(text) if one.system}
    is_named = any(text.startswith(f"{name} ") for name in names)
    begun = text if is_named else text[:1].upper() + text[1:]
    return replaced(text, begun if begun.endswith((".", "!", "?")) else f"{begun}.")


def in_order(notes: Iterable[Note | str]) -> list[Note]:
    """Notes by importance, each once; a plain sentence is about the input."""
    every = (note if isinstance(note, Note) else Note("input", note) for note in notes)
    unique: dict[str, Note] = {}
    for kept in sorted(every, key=lambda note: WEIGHTS[note.kind]):
        unique.setdefault(kept.text, kept)
    return [*unique.values()]


MOST_NOTES = 3


def short_notes(notes: Iterable[Note | str]) -> tuple[list[Note], int]:
    """The notes shown by default, the next command last, and how many important ones are left out.

    >>> shown, left = short_notes([Note("next", "Why: b"), "read as CSV", Note("method", "t")])
    >>> [one.text for one in shown], left
    (['read as CSV', 'Why: b'], 0)
    """
    every = [note for note in in_order(notes) if WEIGHTS[note.kind] <= WEIGHTS["next"]]
    always = [note for note in every if note.kind == "left out"]
    following = [note for note in every if note.kind == "next"][:1]
    others = [note for note in every if note.kind not in ("left out", "next")]
    shown = others[: MOST_NOTES - len(following)]
    return [*always, *shown, *following], len(others) - len(shown)


def records(rows: Rows) -> list[Mapping[str, object]]:
    """Rows as flat mappings: nested values get keys of their own.

    >>> records([{"metric": "mrr", "interval": {"low": 0.1, "high": 0.4}}])
    [{'metric': 'mrr', 'interval_low': 0.1, 'interval_high': 0.4}]
    """
    if hasattr(rows, "iter_rows"):
        return list(rows.iter_rows(named=True))
    return [_flat(plain(row)) for row in rows]


def _flat(record: Mapping[str, object], within: str = "") -> dict[str, object]:
    cells: dict[str, object] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            cells |= _flat(value, f"{within}{name}_")
        else:
            cells[within + name] = value
    return cells
