"""The answer as a document: the number, a table by source, and how far to trust it."""

from collections.abc import Iterator

from calipers.io.documents.walk import GUESSED, UNREAD_PDF
from calipers.model.claim import cannot_show
from calipers.model.document import Block, Column, Document, Lines, Note, Table
from calipers.model.fact import Fact, Sentence, commanded, named, replaced, sentence
from calipers.present.escape import printable
from calipers.questions.begin.files import QUESTIONS, ProjectFiles
from calipers.questions.begin.result import FirstQuestions, LeftOut
from calipers.shell import join_words
from calipers.statistics.queries_to_detect import usual_queries_to_detect
from calipers.version import pip_install


def document(questions: FirstQuestions) -> Document:
    """What word matching finds, by source, with the audit and what to do next."""
    blocks: list[Block] = [_by_source(questions)]
    if guesses := _guesses(questions):
        # No note, as one of those would be left out for it.
        words = "Not UTF-8, so the encoding is a guess: {it.text}."
        blocks.append(Lines([sentence(words, it=named(guesses))], prose=True))
    for left in questions.passed_over:
        if left.reason.startswith(UNREAD_PDF):
            count = Fact(about="count", count=left.count, text="PDF")
            words = "{it.count:PDF was|PDFs were} passed over; to read them: {how.text}"
            how = named(pip_install("pdf"))
            blocks.append(Lines([sentence(words, it=count, how=how)], prose=True))
    blocks.append(_account(questions))
    if questions.passed_over:
        title = "Files that were passed over, or read with a guess"
        blocks.append(
            Lines([*map(_left_out, questions.passed_over)], title=title, detail=True)
        )
    if questions.files is not None:
        names = ", ".join(printable(str(path)) for path in questions.files.written)
        blocks.append(Lines([sentence("Wrote {it.text}.", it=named(names))], prose=True))
    return Document(
        _first_line(questions),
        blocks=blocks,
        notes=[*_notes(questions)],
        rows=lambda: questions.sources,
    )


def _first_line(questions: FirstQuestions) -> Sentence:
    """What kind of number it is, and the number."""
    kind = "A smoke test" if questions.is_smoke_test else "Questions of a model"
    where = (
        "as the first result"
        if questions.k == 1
        else f"in the first {questions.k:,} results"
    )
    ends = questions.interval
    found = Fact(
        about="mean",
        system="word matching",
        metric=f"recall@{questions.k}",
        value=questions.recall,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        queries=questions.questions,
        k=questions.k,
    )
    likely = sentence("" if ends is None else " ({it.low:.0%}–{it.high:.0%})", it=found)
    return sentence(
        "{kind}: word matching finds {it.value:.0%} of {it.queries:target|targets} "
        "{where}{likely}.",
        kind=kind,
        it=found,
        where=where,
        likely=replaced(likely, likely.replace("%–", "–")),
    )


def _by_source(questions: FirstQuestions) -> Table:
    """A row for each source; at rank 1 is said once."""
    heads: list[Column | str] = [Column("source", words=True), "questions", "documents"]
    heads.append(f"in first {questions.k:,}")
    if questions.k > 1:
        heads.append("at rank 1")
    rows = []
    for source in questions.sources:
        cells = [source.source, f"{source.questions:,}", f"{source.documents:,}"]
        shares = [source.in_first, source.at_top]
        rows.append([*cells, *(f"{share:.3f}" for share in shares[: len(heads) - 3])])
    return Table(tuple(heads), rows)


def _account(questions: FirstQuestions) -> Table:
    """What became of everything that could be a question; the counts sum up."""
    rows = [("kept", f"{questions.questions:,}")]
    rows += [(left.reason, f"{left.count:,}") for left in questions.dropped]
    rows.append(("in all", f"{questions.considered:,}"))
    heads = (Column("headings, links and others", words=True), "count")
    return Table(heads, rows, "What became of them", detail=True)


def _guesses(questions: FirstQuestions) -> str:
    """The encodings that had to be guessed, with an example of each; empty without one."""
    parts = []
    for left in questions.passed_over:
        if left.reason.startswith(GUESSED):
            example = printable(left.examples[0], 60)
            parts.append(
                f"{left.reason.removeprefix(GUESSED)} ({left.count:,}, as {example})"
            )
    return ", ".join(parts)


def _notes(questions: FirstQuestions) -> Iterator[Note]:
    """Yield what an audit counts, how far to trust the number, and what to do next."""
    audit = questions.audit
    least = audit["detects"] or 1
    shows = cannot_show(least, usual_queries_to_detect())
    words = (
        "The documents' own words"
        if questions.is_smoke_test
        else "Questions made from text"
    )
    yield Note(
        "input",
        sentence(
            "Audit: copies of their passage {copied.count}, near-identical questions "
            "{alike.count}, ambiguous targets {unclear.count}; they {shows}. {flatters}",
            copied=Fact(about="count", count=audit["copied"], text="copied"),
            alike=Fact(about="count", count=audit["near_identical"], text="alike"),
            unclear=Fact(about="count", count=audit["ambiguous"], text="ambiguous"),
            shows=shows,
            flatters=f"{words} flatter keyword search.",
        ),
    )
    file = str(questions.files.written[0]) if questions.files else QUESTIONS
    labels = join_words(["calipers", "labels", "sample", file])
    yield Note("doubt", commanded("Labels remove unfit questions: `{it.text}`", labels))
    if questions.files is not None:
        yield Note("next", _what_next(questions.files))


def _what_next(files: ProjectFiles) -> Sentence:
    """A command that works as it stands."""
    command = join_words(files.command)
    if files.left is not None:
        return sentence(
            "{left.text} names other questions and stays as it is: `{it.text}`",
            left=named(printable(str(files.left))),
            it=named(command),
        )
    if files.search is not None:
        return sentence(
            "Put your own search into {own.text}, then: `{it.text}`",
            own=named(printable(str(files.search))),
            it=named(command),
        )
    return commanded("Next: `{it.text}`", command)


def _left_out(left: LeftOut) -> str:
    """What was left out, why, and the first examples."""
    more = left.count - len(left.examples)
    names = printable(", ".join(left.examples), 200) + (
        f" and {more:,} more" if more > 0 else ""
    )
    return f"{left.count:,} {left.reason}" + (f": {names}" if left.examples else "")
