"""People check a random part of made questions: would somebody ask it, and is the target right?

The draw and the answers stand as the tag ``checked`` in the file of the questions itself,
which is written anew after each answer. So nothing is lost when somebody stops.
"""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.model.document import Document, Note
from calipers.model.fact import Fact, sentence
from calipers.model.labels import CHECKED, FIT, MACHINE, NOBODY, TO_CHECK, WRONG
from calipers.model.result import Plain, ShowsItself
from calipers.questions.begin.candidates import SOURCES, place
from calipers.questions.begin.files import DROPPED, SETTINGS, write_lines
from calipers.shell import join_words

if TYPE_CHECKING:
    from calipers.questions.begin.settings import LabelsCheckSettings

ANSWERS = (NOBODY, WRONG, FIT)


@dataclass(frozen=True, repr=False)
class CheckedQuestions(Plain, ShowsItself):
    """What people said of a random part of made questions."""

    shown_by: ClassVar[str] = "calipers.questions.begin.check"
    dict_keys: ClassVar[str] = (
        "file questions drawn fit nobody_asks wrong_target dropped left"
    )

    file: str
    questions: int
    """How many are in the file."""
    drawn: int
    fit: int
    nobody_asks: int
    wrong_target: int
    dropped: int
    """How many this call moved out of the file."""
    waiting: tuple[dict[str, Any], ...]
    """The records that are drawn and not checked yet, in the order of the draw."""

    config: str | None = None
    """The settings beside the file, where they are not those of the current folder."""

    @property
    def left(self) -> int:
        """How many of the draw are not checked yet."""
        return len(self.waiting)


def made_questions(path: str | os.PathLike[str]) -> list[dict[str, Any]] | None:
    """The records that `init FOLDER` wrote, of a file of questions; None for any other file."""
    records = _questions_in(path)
    return None if records is None else [*filter(_is_made, records)]


def _questions_in(path: str | os.PathLike[str]) -> list[dict[str, Any]] | None:
    """The records of a file to which people may have added theirs; None for any other file."""
    try:
        lines = Path(path).read_bytes().splitlines()
        records = [
            msgspec.json.decode(line, type=dict[str, Any])
            for line in lines
            if line.strip()
        ]
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror}; check it."
        ) from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if any(map(_is_made, records)) and all(map(_is_question, records)):
        return records
    return None


def _is_question(record: Mapping[str, object]) -> bool:
    """Whether a record asks something, and holds no results."""
    return isinstance(record.get("query"), str) and "retrieved" not in record


def _is_made(record: dict[str, Any]) -> bool:
    tags = record.get("tags")
    if not isinstance(tags, dict) or "file" not in tags or not _is_question(record):
        return False
    source = tags.get("source")
    return isinstance(source, str) and (source in SOURCES or source.startswith(MACHINE))


def check(path: Path, settings: "LabelsCheckSettings") -> CheckedQuestions:
    """Draw questions, note the answers, and drop those that are not fit if that is asked."""
    records = _questions_in(path)
    if records is None:
        raise InvalidInput(
            f"{path} holds no questions that calipers init FOLDER made; name those."
        )
    # Questions that people added are theirs: they are kept, and not asked about.
    ours = [*filter(_is_made, records)]
    named = {str(record.get("id")): record for record in ours}
    ordered = sorted(
        ours,
        key=lambda record: place(settings.seed, record.get("id"), record["query"]),
    )
    # The draw stands in the file before the first answer: nobody chooses what is checked.
    for one in ordered[: 0 if settings.drop else settings.most]:
        one["tags"].setdefault(CHECKED, TO_CHECK)
    for name, answer in (settings.answers or {}).items():
        if (
            name not in named
            or CHECKED not in named[name]["tags"]
            or answer not in ANSWERS
        ):
            raise InvalidInput(
                f"An answer is {name!r:.60}: {answer!r:.40}; give the id of a question "
                f"that was drawn from {path}, with {', '.join(ANSWERS)}."
            )
        named[name]["tags"][CHECKED] = answer
    bad = [record for record in ours if record["tags"].get(CHECKED) in (NOBODY, WRONG)]
    if settings.drop:
        records = _dropped(path, records, bad)
        ours = [*filter(_is_made, records)]
    write_lines(path, records)
    counts = Counter(record["tags"].get(CHECKED) for record in ours)
    return CheckedQuestions(
        file=str(path),
        questions=len(ours),
        drawn=len(ours) - counts[None],
        fit=counts[FIT],
        nobody_asks=counts[NOBODY],
        wrong_target=counts[WRONG],
        dropped=len(bad) if settings.drop else 0,
        waiting=tuple(
            record for record in ordered if record["tags"].get(CHECKED) == TO_CHECK
        ),
        config=_config_beside(path),
    )


def _config_beside(path: Path) -> str | None:
    """The settings that stand beside a file in another folder, which commands must name."""
    settings = path.with_name(SETTINGS)
    is_here = path.resolve().parent == Path.cwd()
    return None if is_here or not settings.is_file() else str(settings)


def _dropped(path: Path, records: list[Any], bad: list[Any]) -> list[Any]:
    """The records without those that are not fit, which move to dropped.jsonl."""
    if not bad:
        raise InvalidInput("No question was found unfit; there is nothing to drop.")
    kept = [record for record in records if record not in bad]
    if not kept:
        raise InvalidInput(
            "Every question is unfit; make others with calipers init FOLDER."
        )
    aside = path.with_name(DROPPED)
    before = aside.read_bytes() if aside.exists() else b""
    write_lines(
        aside, [{**record, "reason": record["tags"][CHECKED]} for record in bad], before
    )
    return kept


def document(questions: CheckedQuestions) -> Document:
    """How many are fit, and what to do next."""
    checked = questions.drawn - questions.left
    line = sentence(
        "{it.count} of {it.of:checked question|checked questions} are fit: {nobody.count} "
        "nobody would ask, {wrong.count} with the wrong target.",
        it=Fact(about="count", count=questions.fit, of=checked, text="fit"),
        nobody=Fact(about="count", count=questions.nobody_asks, text="nobody asks"),
        wrong=Fact(about="count", count=questions.wrong_target, text="wrong target"),
    )
    every = Fact(about="count", count=questions.questions, text="questions")
    if questions.dropped:
        line = sentence(
            "Moved {it.count:question|questions} to {file}; {every.count:stays|stay}.",
            it=Fact(about="count", count=questions.dropped, text="dropped"),
            file=DROPPED,
            every=every,
        )
    elif not checked:
        line = sentence(
            "Drew {it.count} of {every.count:question|questions} to check.",
            it=Fact(about="count", count=questions.drawn, text="drawn"),
            every=every,
        )
    sample = ["calipers", "labels", "sample", questions.file]
    unfit = questions.nobody_asks + questions.wrong_target
    notes = []
    if questions.left:
        notes.append(
            Note(
                "next",
                sentence(
                    "{it.count:is|are} left; the same command goes on.",
                    it=Fact(about="count", count=questions.left, text="left"),
                ),
            )
        )
    elif questions.fit > 1:
        config = [] if questions.config is None else ["--config", questions.config]
        words = ["calipers", "eval", *config, "--corrected-by", questions.file]
        after = join_words(words)
        notes.append(Note("next", f"The corrected number: `{after}`"))
    if unfit:
        drop = join_words([*sample, "--drop"])
        notes.insert(0, Note("doubt", f"Take unfit questions out of the set: `{drop}`"))
    return Document(line, notes=notes)
