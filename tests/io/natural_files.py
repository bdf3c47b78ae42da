"""Files as people have them, drawn at random, each with the values that its author means.

Judgements, results, or both: in many languages, with a header that we may or may not know, one row
for each or one for each question, in columns that are numbered, nested in JSON, with whatever a
spreadsheet or a log does to a file. The values are computed here and share no code with the
package.
"""

import csv
import io
import json
import math
import random
from dataclasses import dataclass
from typing import Any

NAMES = {
    "en": ("question", "chunk_id", "relevance", "retrieved_ids", "expected_ids"),
    "ours": ("query", "item", "grade", "retrieved", "ground_truth"),
    "de": ("Frage", "Fundstelle", "Relevanz", "Treffer", "Erwartet"),
    "fr": ("Requête", "Extrait", "Pertinence", "Résultats", "Attendu"),
    "es": ("Pregunta", "Fragmento", "Relevancia", "Resultados", "Esperado"),
    "it": ("Domanda", "Frammento", "Rilevanza", "Risultati", "Atteso"),
    "nl": ("Vraag", "Fragment", "Relevantie", "Gevonden", "Verwacht"),
    "pt": ("Pergunta", "Trecho", "Avaliação", "resultados", "esperado"),
    "pl": ("Pytanie", "Fragment", "Trafność", "Wyniki", "gold"),
    "free": ("User Query", "Expected Chunk ID", "is_relevant", "results", "gold_ids"),
    "free2": ("Prompt", "gold", "Rating (0-3)", "hits", "correct_chunks"),
    "odd": ("q text", "where", "our view", "what came", "what should"),
    "odd2": ("Kysymys", "Kohta", "Osuvuus", "Löydetty", "Odotettu"),
}
UNKNOWN_GRADE = ("Zutreffend", "passt", "OK?", "match", "helpful", "fits?", "Qualität", "1=gut")
GRADES = (
    *(("1", "0"), ("yes", "no"), ("TRUE", "FALSE"), ("good", "bad"), ("hit", "miss")),
    *(("👍", "👎"), ("○", "×"), ("x", ""), ("1", ""), ("ja", "nein"), ("correct", "wrong")),
    *(("sí", "no"), ("não", "sim")[::-1], ("tak", "nie"), ("X", "-"), ("wahr", "falsch")),
    *(("✓", ""), ("y", "n"), ("1.0", "0.0"), ("relevant", "irrelevant"), ("50%", "0%")),
)
SCALES = (("0", "1", "2", "3"), ("0", "0.5", "1"), ("-1", "0", "1"), ("0", "10", "100"))
SENTENCES = (
    "Lists grow by an eighth; that is enough.",
    "The lock is held by one thread, and by no other.",
    "It was built in 1912. Nobody remembers why.",
    "See page 3; then the annex.",
)
EXTRA = {
    "notes": lambda draw, _: draw.choice(("", "see the annex of the second edition", "ok")),
    "author": lambda draw, _: draw.choice(("Ana", "Bo", "Cy")),
    "created_at": lambda draw, _: f"2026-0{draw.randint(1, 9)}-11",
    "title": lambda draw, _: draw.choice(("Intro", "Setup", "FAQ")),
    "tag.land": lambda *_: "north",
    "weight_class": lambda draw, _: draw.choice(("light", "heavy")),
    "priority": lambda draw, _: draw.randint(1, 3),
    "reviewed": lambda draw, _: draw.choice(("yes", "no")),
    "Seite": lambda draw, _: draw.randint(1, 40),
    "Aufwand": lambda draw, _: draw.randint(0, 3),
    "id": lambda _, n: n,
    "": lambda *_: "",
    "Unnamed: 0": lambda _, n: n,
}
EMPTY = ("N/A", "none", "-", "", "nan")
Truth = dict[str, dict[str, float]]
Ranked = dict[str, list[str]]


@dataclass
class File:
    """A file, what it holds besides what the author gives separately, and the values meant."""

    content: str
    ending: str
    truth: Truth
    run: Any
    holds: str
    """Which part the file holds: truth, run or both."""
    shape: str
    encoding: str = "utf-8"

    @property
    def value(self) -> tuple[float, float]:
        """The mean reciprocal rank and nDCG over queries with something to find."""
        ranks, gains = [], []
        for query, judged in self.truth.items():
            grades = {item: max(grade, 0.0) for item, grade in judged.items()}
            if not any(grades.values()):
                continue
            found = [grades.get(one, 0.0) for one in self.run[query]]
            ranks.append(next((1 / n for n, grade in enumerate(found, 1) if grade), 0.0))
            gains.append(_dcg(found) / _dcg(sorted(grades.values(), reverse=True)))
        return sum(ranks) / len(ranks), sum(gains) / len(gains)


def _dcg(grades: list[float]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:5]))


def draw_file(seed: int) -> File:
    """The file of a number, always the same."""
    draw = random.Random(seed)
    form = draw.choice(("doc{}", "lists#{}", "a/b-{}", "kb/{}.md", "{}", "c{}_1"))
    ids = [form.format(n) for n in range(1, 13)]
    queries = [f"How does part {n} of it work?" for n in range(draw.randint(2, 5))]
    truth: Truth = {}
    run: Ranked = {}
    for query in queries:
        some = draw.sample(ids, 4)
        truth[query] = {some[0]: 1, some[1]: draw.choice((0, 1)), some[2]: draw.choice((0, 1))}
        run[query] = draw.sample(ids, 5)
    shape = draw.choice((*SHAPES,))
    return SHAPES[shape](draw, truth, run, shape)


def table(
    draw: random.Random, rows: list[dict[str, Any]], truth: Truth, run: Any, holds: str, shape: str
) -> File:
    """Rows as a text table, with what else people keep in one and what programs do to it."""
    asked = next(iter(rows[0]))
    for name in draw.sample([*EXTRA], draw.choice((0, 0, 1, 2))):
        for n, row in enumerate(rows, 1):
            row[name] = EXTRA[name](draw, n)
    if draw.random() < 0.15 and holds != "run":
        ids = {q: f"q{n}" for n, q in enumerate(dict.fromkeys(row[asked] for row in rows))}
        rows = [{"query_id": ids[row[asked]], **row} for row in rows]
    if draw.random() < 0.15:
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return File(content, ".jsonl", truth, run, holds, shape)
    if draw.random() < 0.15 and holds == "truth":
        # Merged cells: the question stands in the first of its rows alone.
        before = [None, *(row[asked] for row in rows)]
        both = zip(rows, before, strict=False)
        rows = [{**row, asked: "" if row[asked] == last else row[asked]} for row, last in both]
    names = [*rows[0]]
    if draw.random() < 0.2:
        draw.shuffle(names)
    change = draw.choice((str, str, str, str.upper, str.lower))
    sign = draw.choice((",", ",", ";", ";", "\t", "|"))
    text = io.StringIO()
    writer = csv.writer(text, delimiter=sign, lineterminator=draw.choice(("\n", "\n", "\r\n")))
    writer.writerow([name if name in EXTRA else change(name) for name in names])
    blank = " " if draw.random() < 0.1 else ""
    for row in rows:
        cells = [str(row[name]) for name in names]
        if sign == ";" and draw.random() < 0.5:
            cells = [_with_comma(cell) for cell in cells]
        writer.writerow([f"{cell}{blank}" if cell else cell for cell in cells])
    content = ("sep=;\n" if sign == ";" and draw.random() < 0.2 else "") + text.getvalue()
    encoding = draw.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"))
    try:
        content.encode(encoding)
    except UnicodeEncodeError:
        encoding = "utf-8"
    return File(content, ".csv", truth, run, holds, shape, encoding)


def _with_comma(cell: str) -> str:
    whole, dot, part = cell.partition(".")
    return f"{whole},{part}" if dot and whole.lstrip("-").isdigit() and part.isdigit() else cell


def graded(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """One row for each judgement, with a grade in words or on a scale."""
    query, item, grade, *_ = NAMES[draw.choice([*NAMES])]
    grade = draw.choice(UNKNOWN_GRADE) if draw.random() < 0.2 else grade
    yes, no = draw.choice(GRADES)
    means = {q: {one: float(value) for one, value in grades.items()} for q, grades in truth.items()}
    cells = {q: {one: yes if v else no for one, v in grades.items()} for q, grades in means.items()}
    if draw.random() < 0.4:
        scale = draw.choice(SCALES)
        cells = {q: {one: draw.choice(scale) for one in grades} for q, grades in truth.items()}
        cells[next(iter(cells))][next(iter(truth[next(iter(truth))]))] = scale[-1]
        means = {q: {one: float(v) for one, v in grades.items()} for q, grades in cells.items()}
    rows = [{query: q, item: one, grade: v} for q, g in cells.items() for one, v in g.items()]
    return table(draw, rows, means, run, "truth", shape)


def quoted(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """One sentence that should be found for each question."""
    query, *_ = NAMES[draw.choice([*NAMES][:-2])]
    wanted = draw.choice(("quote", "answer", "expected_chunks", "evidence", "gold"))
    means: Truth = {q: {draw.choice(SENTENCES): 1.0} for q in truth}
    rows = [{query: q, wanted: next(iter(one))} for q, one in means.items()]
    texts = {q: draw.sample(SENTENCES, 3) for q in run}
    return table(draw, rows, means, texts, "truth", shape)


def listed(cells: list[str], draw: random.Random) -> str:
    """Several ids in a cell."""
    form = draw.choice(("; ", ";", "|", " | ", "\n", "json", "python", "numpy", ", "))
    if form == "json":
        return json.dumps(cells)
    if form in ("python", "numpy"):
        return str(cells) if form == "python" else "[" + " ".join(map(repr, cells)) + "]"
    return form.join(cells)


def only(truth: Truth) -> dict[str, list[str]]:
    return {q: [one for one, value in grades.items() if value] for q, grades in truth.items()}


def wide(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """One row for each question: targets in a cell, or in columns of their own."""
    query, _, _, returned, wanted = NAMES[draw.choice([*NAMES])]
    found, rows = only(truth), []
    both = draw.random() < 0.5
    numbered = draw.choice((False, "expected_doc", "Chunk"))
    for q, cells in found.items():
        row: dict[str, Any] = {query: q}
        if numbered:
            for n in range(3):
                name = numbered if n == 0 and numbered == "expected_doc" else f"{numbered} {n + 1}"
                row[name] = cells[n] if n < len(cells) else ""
        else:
            row[wanted] = listed(cells, draw)
        if both:
            row[returned] = listed(run[q], draw)
        rows.append(row)
    means: Truth = {q: dict.fromkeys(cells, 1.0) for q, cells in found.items()}
    return table(draw, rows, means, run, "both" if both else "truth", shape)


def results(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """A log of results: by score, by distance, by rank under any name, or in the order of rows."""
    query, item, *_ = NAMES[draw.choice(("en", "ours", "de", "fr", "es"))]
    kind = draw.choice(("score", "distance", "rank", "#", "similarity", "rows", "rising"))
    rows = []
    for q, items in run.items():
        for n, one in enumerate(items, 1):
            value = {"score": 9.5 - n, "similarity": 1 - n / 10, "distance": n / 10}.get(kind, n)
            row: dict[str, Any] = {query: q, item: one}
            if kind != "rows":
                row["score" if kind == "rising" else kind] = value if kind != "rising" else n / 10
            rows.append(row)
    if kind in ("score", "rank", "similarity", "distance", "#") and draw.random() < 0.4:
        draw.shuffle(rows)
    system = draw.random() < 0.15
    if system:
        others = [{**row, item: f"other{n}"} for n, row in enumerate(rows)]
        rows = [{**row, "method": "bm25"} for row in rows]
        rows += [{**row, "method": "dense"} for row in others]
    return table(draw, rows, truth, run, "run", f"{shape} {kind}{' two' * system}")


def nested(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """Records of JSON with objects inside."""
    key = draw.choice(("id", "chunk_id", "doc_id", "node_id"))
    grade = draw.choice(
        ("grade", "relevance", "rating", "label", "score", "verdict", "is_relevant")
    )
    asked, wanted, returned = draw.choice(
        (
            ("query", "ground_truth", "retrieved"),
            ("question", "expected", "results"),
            ("question", "relevant_docs", "retrieved_docs"),
        )
    )
    records = [
        {
            asked: q,
            wanted: [{key: one, grade: value} for one, value in grades.items()],
            returned: [{key: one, "score": 9.5 - n, "title": "T"} for n, one in enumerate(run[q])],
        }
        for q, grades in truth.items()
    ]
    wrapped = draw.choice((records, {"samples": records}, {"version": 2, "data": records}))
    return File(json.dumps(wrapped), ".json", truth, run, "both", shape)


def empty(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """A ground truth in which some questions have nothing to find."""
    query, _, _, _, wanted = NAMES[draw.choice(("en", "ours", "free"))]
    found = only(truth)
    silent = "What has no answer?"
    rows = [{query: q, wanted: cells[0]} for q, cells in found.items()]
    rows.append({query: silent, wanted: draw.choice(EMPTY)})
    means: Truth = {q: {cells[0]: 1.0} for q, cells in found.items()}
    return table(draw, rows, means, {**run, silent: ["x"]}, "truth", shape)


SHAPES = {
    "graded": graded,
    "graded again": graded,
    "quoted": quoted,
    "wide": wide,
    "results": results,
    "nested": nested,
    "empty": empty,
}
