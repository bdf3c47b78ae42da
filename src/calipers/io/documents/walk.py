"""The documents of a folder, without what .gitignore names; files that are passed over are listed.

Written by hand, with the standard library: a folder need not be a git repository, and git need
not be installed.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.io.corpus import Corpus, in_tables, open_corpus
from calipers.io.documents.encoding import decoded
from calipers.io.documents.parts import Section
from calipers.io.documents.sections import TextDocument, as_document
from calipers.version import pip_install

Progress = Callable[[int, int], None]
"""Called with the bytes read and the bytes in all."""
PassedOver = dict[str, list[str]]
"""The files that were not read, by reason."""
KINDS = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    ".rst": "rst",
    **dict.fromkeys((".html", ".htm"), "html"),
    **dict.fromkeys((".txt", ".text"), "text"),
    ".py": "python",
    ".ipynb": "notebook",
    ".pdf": "pdf",
}
"""The files that are read, by the end of their name."""
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
SOURCES_OF_PAGES = "_sources"
"""The folder in which Sphinx keeps what it made the HTML pages beside it from."""
MOST_FILES = 50_000
LARGEST = 10_000_000
"""The largest file that is read, in bytes; a first set of questions needs no larger one."""
LONGEST_LINE = 5_000
"""HTML and Python whose lines are longer on average are minified."""
_GENERATED = re.compile(
    r"@generated|\bdo not edit\b|\b(?:auto-?)?generated (?:by|from|file)\b", re.I
)
_GENERATED_NAMES = re.compile(
    r"_pb2(?:_grpc)?\.py$|requirements.*\.txt$|^license.*\.txt$", re.I
)
_Rules = list[tuple[re.Pattern[str], bool]]
"""Lines of .gitignore: paths below the repository, those of folders with a slash at the end, and
whether the line ignores them or takes an earlier one back."""


UNNAMED = ""
"""The kind of a file without an ending, until it is read."""
UNREAD_PDF = ".pdf ("
"""How the reason begins where PDFs were passed over for want of the extra that reads them."""
GUESSED = "not UTF-8, read as "
"""How the reason begins where a file was read, with an encoding that had to be guessed."""


@dataclass(frozen=True)
class SourceText:
    """The text of a file, its kind, and its sections where only the file tells them."""

    kind: str
    text: str
    sections: tuple[Section, ...] = ()
    title: str = ""


def read_folder(
    folder: Path, passed: PassedOver, progress: Progress | None = None
) -> Iterator[tuple[str, SourceText]]:
    """Yield name and text of the files that can be read, in order of their names."""
    here = folder.resolve()
    root = next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
    above = [parent for parent in reversed(here.parents) if parent.is_relative_to(root)]
    rules = [rule for one in above for rule in _rules_in(one, _inside(one, root))]
    found = sorted(_walk(folder, _inside(here, root), rules, passed))
    if len(found) > MOST_FILES:
        raise InvalidInput(
            f"Name a part of {folder}: it holds {len(found):,} documents, and at most "
            f"{MOST_FILES:,} are read."
        )
    total = sum(size for _, _, size in found)
    done = 0
    for name, path, size in found:
        source, reason = _text(path, KINDS.get(_ending_of(path), UNNAMED), size)
        if reason:
            passed.setdefault(reason, []).append(name)
        done += size
        if progress is not None:
            progress(done, total)
        if source is not None:
            yield name, source


def _walk(
    folder: Path, prefix: str, above: _Rules, passed: PassedOver
) -> Iterator[tuple[str, str, int]]:
    """Yield name, path and size of every file of a kind that is read."""
    waiting = [(folder, "", above)]
    while waiting:
        where, inside, above = waiting.pop()
        rules = [*above, *_rules_in(where, prefix + inside)]
        try:
            entries = list(os.scandir(where))
        except OSError:
            passed.setdefault("cannot be read", []).append(inside)
            continue
        has_pages = any(entry.name.endswith((".html", ".htm")) for entry in entries)
        for entry in entries:
            name = f"{inside}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and has_pages and entry.name == SOURCES_OF_PAGES:
                passed.setdefault("sources of the pages beside them", []).append(name)
            elif reason := _why_not(entry, is_folder, prefix + name, rules):
                passed.setdefault(reason, []).append(name)
            elif is_folder:
                waiting.append((Path(entry.path), f"{name}/", rules))
            else:
                size = 0  # of one that cannot be read, which reading it says
                with suppress(OSError):
                    size = entry.stat().st_size
                yield name, entry.path, size


def _ending_of(path: str) -> str:
    """How the name of a file ends, as pathlib says it in ten times as long.

    >>> _ending_of("docs/A.MD"), _ending_of("docs.d/a"), _ending_of(".md"), _ending_of("a.")
    ('.md', '', '', '')
    """
    name = os.path.basename(path)  # noqa: PTH119
    at = name.rfind(".")
    return name[at:].lower() if 0 < at < len(name) - 1 else ""


def _why_not(
    one: "os.DirEntry[str]", is_folder: bool, name: str, rules: _Rules
) -> str | None:
    """Why a file or a folder is passed over by its name; None where it is not."""
    ending = _ending_of(one.name)
    # Links are never followed: one may lead back up, and what it names is read in its own place.
    if one.is_symlink():
        return "symbolic link"
    if one.name.startswith(".") or (is_folder and one.name in SKIPPED_FOLDERS):
        return "hidden or installed folder" if is_folder else "hidden"
    # The last line that fits decides, as in git.
    path = f"{name}/" if is_folder else name
    if next(
        (ignores for rule, ignores in reversed(rules) if rule.fullmatch(path)), False
    ):
        return "in .gitignore"
    if is_folder:
        return None
    if not one.is_file():
        return "no file"
    if not ending and _NO_DOCUMENT.search(one.name):
        return "no document"
    if ending and ending not in KINDS:
        return ending
    if ".min." in one.name.lower():
        return "minified"
    return "generated" if _GENERATED_NAMES.search(one.name) else None


def _text(path: str, kind: str, size: int) -> tuple[SourceText | None, str | None]:
    """The text of a file, and why there is none, or what was guessed."""
    if kind == "pdf" and not size:
        return None, "empty"
    if size > LARGEST:
        return None, f"larger than {LARGEST // 1_000_000} MB"
    if kind == "pdf":
        return _read_pdf(Path(path))
    try:
        # A buffer would take as long as the reading.
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            text, guess = decoded(file.readall())
    except OSError:
        return None, "cannot be read"
    if text is None:
        return None, "binary"
    if not text or text.isspace():
        return None, "empty"
    if kind == UNNAMED and text.startswith("#!"):
        return None, "script without an ending"
    if kind in (UNNAMED, "text"):
        kind = _kind_of(text)
    if kind in ("html", "python") and len(text) / (text.count("\n") + 1) > LONGEST_LINE:
        return None, "minified"
    # Most pages of HTML are made by a tool, and are read all the same.
    if kind != "html" and _is_generated(text[:400]):
        return None, "generated"
    return SourceText(kind, text), f"{GUESSED}{guess}" if guess else None


def _is_generated(beginning: str) -> bool:
    """Whether a file says that a program wrote it."""
    lower = beginning.lower()
    # Most files have none of these letters, which are found sooner than a pattern.
    return ("generated" in lower or "do not edit" in lower) and _GENERATED.search(
        beginning
    ) is not None


def _kind_of(text: str) -> str:
    r"""The kind of a text whose name does not say it, by how its headings look.

    >>> _kind_of("# A\n\ntext"), _kind_of("Title\n=====\n\nMore\n----\n"), _kind_of("plain")
    ('markdown', 'rst', 'text')
    """
    if len(_UNDERLINED.findall(text)) > 1:
        return "rst"
    return "markdown" if _HEADED.search(text) else "text"


_HEADED = re.compile(r"(?:\A|\n\n)#{1,4} \w[^\n]*\n\n")
"""A heading of Markdown between empty lines; a comment of a script mostly has none."""


_UNDERLINED = re.compile(r"^\w[^\n]{2,70}\n(?:={4,}|-{4,}|~{4,})[ \t]*$", re.MULTILINE)
_NO_DOCUMENT = re.compile(
    r"^(?:make|docker|jenkins|gem|rake|pip|proc|vagrant|brew)file$|^(?:licen[cs]e|copying|copyright)"
    r"|^(?:build|workspace|codeowners|gemfile\.lock)$",
    re.I,
)
"""Files without an ending that are no documents: how to build, and what is allowed."""


LOCKED = ("FileNotDecryptedError", "WrongPasswordError", "DependencyError")
"""What pypdf raises where a PDF is encrypted; the last without a package that decrypts it."""


def _read_pdf(path: Path) -> tuple[SourceText | None, str | None]:
    """The text of a PDF and its sections; pypdf is an extra."""
    from calipers.io.documents.pdf import text_of_pdf

    try:
        text, sections, title = text_of_pdf(path)
    except ImportError:
        return None, f"{UNREAD_PDF}{pip_install('pdf')} reads them)"
    except Exception as error:  # noqa: BLE001 - a damaged PDF may raise anything
        is_locked = type(error).__name__ in LOCKED
        return None, "PDF with a password" if is_locked else "damaged PDF"
    if not text.strip():
        return None, "PDF without a text, such as a scan"
    return SourceText("pdf", text, tuple(sections), title), None


def _inside(path: Path, root: Path) -> str:
    name = path.relative_to(root).as_posix()
    return "" if name == "." else f"{name}/"


def _rules_in(where: Path, inside: str) -> _Rules:
    """The rules of a folder's own .gitignore; ``inside`` is its path in the repository."""
    try:
        text = (where / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    signs = {"**/": "(?:.*/)?", "/**": "/.+", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    rules: _Rules = []
    for line in map(str.rstrip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        glob = line.removeprefix("!").removeprefix("\\")
        parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?|\[[^]]+\])", glob.strip("/"))
        body = "".join(
            signs.get(part) or (part if part.startswith("[") else re.escape(part))
            for part in parts
        )
        # Without a slash before its end a name counts at any depth; one at its end means a folder.
        depth = "" if "/" in glob.rstrip("/") else "(?:.*/)?"
        end = "/" if glob.endswith("/") else "/?"
        try:
            pattern = re.compile(f"{re.escape(inside)}{depth}{body}{end}")
        except re.error:
            continue
        rules.append((pattern, not line.startswith("!")))
    return rules


ENDINGS = ".md, .rst, .html, .txt, .py, .ipynb or .pdf"


def read_documents(
    place: Path, passed: PassedOver, progress: Progress | None = None
) -> list[TextDocument]:
    """The documents of a folder, or the rows of a corpus file."""
    if not place.exists():
        raise UnreadableFile(f"There is no folder {place}; check its name.")
    documents = []
    if place.is_dir():
        documents = [
            as_document(name, source.kind, source.text, source.sections, source.title)
            for name, source in read_folder(place, passed, progress)
        ]
        documents = _without_collections(documents, passed)
        documents = _without_printed(documents, passed)
    else:
        batches = open_corpus(place).batches()
        rows = dict(
            row for batch in batches for row in batch.select("id", "text").iter_rows()
        )
        documents = [as_document(name, "markdown", text) for name, text in rows.items()]
    for document in documents:
        if not document.text.strip():
            passed.setdefault("without a text", []).append(document.name)
    documents = [one for one in documents if one.text and not one.text.isspace()]
    if not documents:
        others = ", ".join(f"{len(names):,} {reason}" for reason, names in passed.items())
        raise InvalidInput(
            f"Name a folder with documents: {place} holds none that can be read "
            f"({ENDINGS}){f'; passed over: {others}' if others else ''}."
        )
    return documents


def _without_collections(
    documents: Sequence[TextDocument], passed: PassedOver
) -> list[TextDocument]:
    """The documents without pages that repeat others, such as a page of all for printing."""
    # Few documents have so many sections, and only those are read for how many say something.
    large = [
        document
        for document in documents
        if len(document.sections) >= LEAST_REPEATED
        and len(_long_texts(document)) >= LEAST_REPEATED
    ]
    wanted = {text for document in large for text in _long_texts(document)}
    least: dict[int, int] = {}
    """The size of the smallest document that holds a text."""
    for document in documents if wanted else ():
        texts = _long_texts(document)
        for text in wanted & texts:
            least[text] = min(len(texts), least.get(text, MOST_FILES))
    repeats = set()
    for document in large:
        texts = _long_texts(document)
        # A document of about the same size is another version, and no part of this one.
        elsewhere = sum(2 * least[text] < len(texts) for text in texts)
        if elsewhere >= REPEATS * len(texts):
            repeats.add(document.name)
            passed.setdefault("repeats other pages", []).append(document.name)
    return [document for document in documents if document.name not in repeats]


LEAST_REPEATED = 20
"""Texts of a page from which on it may be a collection of others."""
REPEATS = 0.8
"""The share of its texts that stand in smaller pages as well."""


def _without_printed(
    documents: Sequence[TextDocument], passed: PassedOver
) -> list[TextDocument]:
    """The documents without a PDF of other pages, whose parts would all answer twice."""
    if all(document.kind != "pdf" for document in documents):
        return [*documents]
    pages: set[str] = set()
    for document in documents:
        if document.kind != "pdf":
            pages |= _heads(document)
    kept = []
    for document in documents:
        own = _heads(document) if document.kind == "pdf" else set()
        if len(own) >= LEAST_REPEATED and len(own & pages) >= REPEATS * len(own):
            passed.setdefault("repeats other pages", []).append(document.name)
        else:
            kept.append(document)
    return kept


def _heads(document: TextDocument) -> set[str]:
    """The letters of each heading of a document."""
    heads = (_BETWEEN.sub("", part.heading.lower()) for part in document.sections)
    return {head for head in heads if head}


_BETWEEN = re.compile(r"[\W\d_]+")
"""What stands between the letters of a heading, such as its number."""


def _long_texts(document: TextDocument) -> set[int]:
    """The texts below headings that say something, each as a hash."""
    texts = (document.text[one.body : one.end].strip() for one in document.sections)
    return {hash(text) for text in texts if len(text) >= 80}


CHARACTERS_AT_ONCE = 1_000_000
"""Characters of the chunks that are in memory twice, beside their documents."""


def corpus_of(documents: Iterable[TextDocument], name: str) -> Corpus:
    """The sections of documents as chunks."""

    def chunks() -> Iterator[dict[str, object]]:
        for document in documents:
            for number, (start, end) in enumerate(document.chunks(), 1):
                chunk = {
                    "document": document.name,
                    "text": document.text[start:end],
                    "start": start,
                }
                yield {"id": f"{document.name}#{number}", **chunk}

    return Corpus(name, lambda: in_tables(chunks(), CHARACTERS_AT_ONCE))


def texts_of(documents: Iterable[TextDocument]) -> Callable[[pl.DataFrame], pl.Series]:
    """What finds the texts of chunks (document, start, end) in documents."""
    by_name = {document.name: document.text for document in documents}

    def texts(chunks: pl.DataFrame) -> pl.Series:
        places = chunks.select("document", "start", "end").iter_rows()
        return pl.Series([by_name[name][start:end] for name, start, end in places])

    return texts


def open_folder(folder: Path) -> Corpus:
    """The sections of a folder's documents as a corpus, in memory."""
    return corpus_of(read_documents(folder, {}), str(folder))
