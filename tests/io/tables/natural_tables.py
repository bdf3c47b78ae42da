"""Tables as people make them, drawn at random, each with the numbers that its author means.

The author has judgements in mind and writes them down: in a language, with a header that we may
or may not know, in a style of grades, with whatever a spreadsheet does to a file. The numbers are
computed here, from what the author has in mind, and share no code with the package.
"""

import csv
import io
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

Judgements = dict[str, dict[str, float]]

QUESTIONS = (
    *("How do lists grow?", "What is the GIL?", "Wie groß ist die Straße?", "Où est la clé ?"),
    *("¿Cuándo empezó?", "Che cos'è?", "Hoe werkt het?", "Quando é?", "Czym jest krąg?", "why"),
)
SENTENCES = (
    "Lists grow by an eighth; that is enough.",
    "The lock is held by one thread, and by no other.",
    "It was built in 1912. Nobody remembers why.",
    "See page 3; then the annex.",
)
KNOWN = {
    "en": ("question", "chunk_id", "relevance"),
    "ours": ("query", "item", "grade"),
    "de": ("Frage", "Fundstelle", "Relevanz"),
    "de2": ("Suchanfrage", "Chunk", "Bewertung"),
    "fr": ("Requête", "Extrait", "Pertinence"),
    "es": ("Pregunta", "Fragmento", "Relevancia"),
    "it": ("Domanda", "Frammento", "Rilevanza"),
    "nl": ("Vraag", "Fragment", "Relevantie"),
    "pt": ("Pergunta", "Trecho", "Avaliação"),
    "pl": ("Pytanie", "Fragment", "Trafność"),
    "free": ("User Query", "Expected Chunk ID", "is_relevant"),
    "free2": ("Prompt", "gold", "Label"),
    "free3": ("question", "ground_truth", "Weight"),
    "free4": ("Question", "correct_chunks", "Rating (0-3)"),
}
UNKNOWN_QUERY = ("Kysymys", "Fråga", "Otázka", "Soru", "Thema", "q text", "utterance")
UNKNOWN_ITEM = ("Kohta", "Stycke", "Odstavec", "Bölüm", "Beleg", "where", "Antwort in")
UNKNOWN_GRADE = (
    *("Osuvuus", "Träff", "Shoda", "Uygun", "Zutreffend", "passt", "OK?", "Punkte", "hit", "match"),
    *("helpful", "Note", "fits?", "score_human", "Qualität", "correct", "expected", "1=gut"),
)
YES_NO = (
    *(
        ("TRUE", "FALSE"),
        ("yes", "no"),
        ("ja", "nein"),
        ("Ja", "Nee"),
        ("oui", "non"),
        ("sí", "no"),
    ),
    *(("sì", "no"), ("sim", "não"), ("tak", "nie"), ("x", ""), ("X", "-"), ("wahr", "falsch")),
    *(
        ("✓", ""),
        ("y", "n"),
        ("True", "False"),
        ("1", "0"),
        ("1.0", "0.0"),
        ("relevant", "irrelevant"),
    ),
)
SCALES = (("0", "1", "2", "3"), ("0", "0.5", "1"), ("-1", "0", "1"), ("0", "10", "100"))
EXTRA = ("Kommentar", "notes", "author", "Seite", "page", "Thema", "answer", "Datum", "version")
SIGNS = (";", "; ", "|", " | ", ",", ", ", "\n")


@dataclass
class Case:
    """A file, what its author means by it, and what is odd about it."""

    content: bytes
    means: Judgements
    quotes: bool
    ids: dict[str, str]
    """The questions by their ids, where the table has any."""
    odd: list[str] = field(default_factory=list)


def draw(seed: int) -> Case:
    """The table that this seed makes."""
    rng = random.Random(seed)
    quotes = rng.random() < 0.1
    style = "all" if quotes else rng.choice(["all", "all", "words", "words", "scale", "scale"])
    words = rng.choice(YES_NO)
    scale = rng.choice(SCALES)
    means, cells = _judgements(rng, style, words, scale, quotes=quotes)
    odd = [style]
    query, item, grade = _header(rng, odd)
    header = [query, item, *([grade] if style != "all" else [])]
    rows = [
        [one, name, *([cells[one][name]] if style != "all" else [])]
        for one, items in means.items()
        for name in items
    ]
    if style == "all" and not quotes and rng.random() < 0.5:
        rows = _in_one_cell(rng, means, odd)
    elif rng.random() < 0.3:
        rows = _merged(rows, odd)
    if rng.random() < 0.6:
        header, rows = _with_extra(rng, header, rows, odd)
    if rng.random() < 0.3:
        order = rng.sample(range(len(header)), len(header))
        header = [header[i] for i in order]
        rows = [[row[i] for i in order] for row in rows]
        odd.append("order")
    if rng.random() < 0.2:
        rows = [[f"{cell} " if cell else cell for cell in row] for row in rows]
        odd.append("blanks")
    ids = {f"q{n}": query for n, query in enumerate(means)} if "query id" in odd else {}
    return Case(_written(rng, header, rows, odd), means, quotes, ids, odd)


def _judgements(
    rng: random.Random,
    style: str,
    words: tuple[str, str],
    scale: tuple[str, ...],
    *,
    quotes: bool,
) -> tuple[Judgements, dict[str, dict[str, str]]]:
    means: Judgements = {}
    cells: dict[str, dict[str, str]] = {}
    shape = rng.choice(["a#{}", "doc-{}", "kb/{}.md", "{}", "c{}_1"])
    for query in rng.sample(QUESTIONS, rng.randint(2, 6)):
        names = [shape.format(n) for n in rng.sample(range(1, 60), rng.randint(1, 3))]
        if quotes:
            names = [rng.choice(SENTENCES)]
        written = {
            name: rng.choice(words) if style == "words" else rng.choice(scale) for name in names
        }
        if not means and style == "words" and words[1] == "":
            written[names[0]] = words[0]  # a column with nothing in it says nothing
        cells[query] = written
        means[query] = {
            name: 1.0 if style == "all" else _value(style, cell, words)
            for name, cell in written.items()
        }
    return means, cells


def _value(style: str, cell: str, words: tuple[str, str]) -> float:
    return float(cell == words[0]) if style == "words" else float(cell)


def _header(rng: random.Random, odd: list[str]) -> tuple[str, str, str]:
    query, item, grade = KNOWN[rng.choice(list(KNOWN))]
    if rng.random() < 0.08:
        query = rng.choice(UNKNOWN_QUERY)
        odd.append("query?")
    if rng.random() < 0.08:
        item = rng.choice(UNKNOWN_ITEM)
        odd.append("item?")
    if rng.random() < 0.3:
        grade = rng.choice(UNKNOWN_GRADE)
        odd.append(f"grade? {grade}")
    changes: list[Callable[[str], str]] = [str, str, str, str.upper, str.lower, str.title]
    change = rng.choice(changes)
    return change(query), change(item), change(grade)


def _in_one_cell(rng: random.Random, means: Judgements, odd: list[str]) -> list[list[str]]:
    sign = rng.choice(SIGNS)
    odd.append(f"several {sign!r}")
    return [[query, sign.join(items)] for query, items in means.items()]


def _merged(rows: list[list[str]], odd: list[str]) -> list[list[str]]:
    """The question only in the first of its rows."""
    odd.append("merged")
    made, before = [], None
    for row in rows:
        made.append(["" if row[0] == before else row[0], *row[1:]])
        before = row[0]
    return made


def _with_extra(
    rng: random.Random, header: list[str], rows: list[list[str]], odd: list[str]
) -> tuple[list[str], list[list[str]]]:
    kind = rng.choice(["text", "number", "row id", "query id", "unknown number", "empty", "index"])
    odd.append(kind)
    queries = list(dict.fromkeys(row[0] for row in rows if row[0]))
    filled, last = [], ""
    for row in rows:
        last = row[0] or last
        filled.append(last)
    name, cells = {
        "text": (
            rng.choice(EXTRA[:3]),
            [rng.choice(["", "hard", "ask Ann", "ok so far"]) for _ in rows],
        ),
        "number": (rng.choice(EXTRA[3:5]), [str(rng.randint(1, 40)) for _ in rows]),
        "row id": ("id", [str(n) for n in range(1, len(rows) + 1)]),
        "query id": (
            rng.choice(["id", "query_id", "qid"]),
            [f"q{queries.index(one)}" for one in filled],
        ),
        "unknown number": (
            rng.choice(["Aufwand", "difficulty", "n", "Zeit"]),
            [str(rng.randint(0, 3)) for _ in rows],
        ),
        "empty": ("", ["" for _ in rows]),
        "index": ("", [str(n) for n in range(len(rows))]),
    }[kind]
    if name.lower() in [one.lower() for one in header]:
        return header, rows
    at = rng.choice([0, len(header)])
    made = [[*row[:at], cell, *row[at:]] for row, cell in zip(rows, cells, strict=True)]
    return [*header[:at], name, *header[at:]], made


def _written(rng: random.Random, header: list[str], rows: list[list[str]], odd: list[str]) -> bytes:
    separator = rng.choice([",", ",", ";", ";", "\t", "|"])
    odd.append(repr(separator))
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=rng.choice(["\n", "\n", "\r\n"]))
    if separator == ";" and rng.random() < 0.5:
        # Where semicolons divide cells, decimals have commas.
        rows = [[_with_comma(cell) for cell in row] for row in rows]
    writer.writerow(header)
    writer.writerows(rows)
    found = text.getvalue()
    if separator == ";" and rng.random() < 0.2:
        found = "sep=;\n" + found
    encoding = rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"])
    try:
        made = found.encode(encoding)
    except UnicodeEncodeError:
        return found.encode()
    odd.append(encoding)
    return made


def _with_comma(cell: str) -> str:
    whole, dot, part = cell.partition(".")
    plain = dot and whole.lstrip("-").isdigit() and part.isdigit()
    return f"{whole},{part}" if plain else cell


def results(means: Judgements) -> dict[str, list[str]]:
    """A ranking of every question: its last target, a stranger, its first target."""
    return {
        query: list(dict.fromkeys([list(items)[-1], "stranger", next(iter(items))]))
        for query, items in means.items()
    }


def numbers(truth: Judgements, ranked: dict[str, list[str]]) -> tuple[float, float, float]:
    """precision@2, recall@2 and ndcg@3, over the questions with something to find."""
    kept = [query for query, items in truth.items() if any(grade > 0 for grade in items.values())]
    if not kept:
        return (0.0, 0.0, 0.0)
    precision = recall = ndcg = 0.0
    for query in kept:
        grades = {item: max(grade, 0.0) for item, grade in truth[query].items()}
        found = [grades.get(item, 0.0) for item in ranked.get(query, [])]
        relevant = sum(grade > 0 for grade in grades.values())
        hits = sum(grade > 0 for grade in found[:2])
        best = sorted(grades.values(), reverse=True)
        precision += hits / 2
        recall += hits / relevant
        ndcg += _dcg(found[:3]) / _dcg(best[:3])
    return (precision / len(kept), recall / len(kept), ndcg / len(kept))


def _dcg(grades: list[float]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades))
