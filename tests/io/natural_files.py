"""Files as people have them, drawn at random, each with the value that its author means.

Judgements, results, or both: in six languages, one row for each or one for each question, in
columns that are numbered, nested in JSON, as a spreadsheet or a log writes them. The mean
reciprocal rank is computed here and shares no code with the package.
"""

import csv
import io
import json
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
    "free": ("User Query", "Expected Chunk ID", "is_relevant", "results", "gold_ids"),
    "odd": ("q text", "where", "our view", "what came", "what should"),
}
GRADES = (
    *(("1", "0"), ("yes", "no"), ("TRUE", "FALSE"), ("good", "bad"), ("hit", "miss")),
    *(("👍", "👎"), ("○", "×"), ("x", ""), ("1", ""), ("ja", "nein"), ("correct", "wrong")),
)
EXTRA = {
    "notes": lambda draw: draw.choice(("", "see the annex of the second edition", "ok")),
    "author": lambda draw: draw.choice(("Ana", "Bo", "Cy")),
    "created_at": lambda draw: f"2026-0{draw.randint(1, 9)}-11",
    "title": lambda draw: draw.choice(("Intro", "Setup", "FAQ")),
    "tag.land": lambda _: "north",
    "weight_class": lambda draw: draw.choice(("light", "heavy")),
    "priority": lambda draw: draw.randint(1, 3),
    "reviewed": lambda draw: draw.choice(("yes", "no")),
}
EMPTY = ("N/A", "none", "-", "", "nan")
Truth = dict[str, dict[str, int]]
Ranked = dict[str, list[str]]


@dataclass
class File:
    """A file, what it holds besides what the author gives separately, and the value meant."""

    content: str
    ending: str
    truth: Truth
    run: Ranked
    holds: str
    """Which part the file holds: truth, run or both."""
    shape: str

    @property
    def value(self) -> float:
        """The mean reciprocal rank over queries with something to find."""
        values = []
        for query, grades in self.truth.items():
            if not any(grade > 0 for grade in grades.values()):
                continue
            ranks = [n for n, one in enumerate(self.run[query], 1) if grades.get(one, 0) > 0]
            values.append(1 / ranks[0] if ranks else 0.0)
        return sum(values) / len(values)


def draw_file(seed: int) -> File:
    """The file of a number, always the same."""
    draw = random.Random(seed)
    ids = [f"{draw.choice(('doc', 'lists#', 'a/b-'))}{n}" for n in range(12)]
    queries = [f"How does part {n} of it work?" for n in range(draw.randint(2, 5))]
    truth: Truth = {}
    run: Ranked = {}
    for query in queries:
        some = draw.sample(ids, 4)
        truth[query] = {some[0]: 1, some[1]: draw.choice((0, 1)), some[2]: draw.choice((0, 1))}
        run[query] = draw.sample(ids, 5)
    shape = draw.choice((*SHAPES,))
    return SHAPES[shape](draw, truth, run, shape)


def table(draw: random.Random, rows: list[dict[str, Any]]) -> tuple[str, str]:
    """Rows as a text table, with what else people keep in one."""
    for name in draw.sample([*EXTRA], draw.choice((0, 0, 1, 2))):
        for row in rows:
            row[name] = EXTRA[name](draw)
    if draw.random() < 0.15:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), ".jsonl"
    sign = draw.choice((",", ";", "\t"))
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=sign)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue(), ".csv"


def graded(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """One row for each judgement, with a grade."""
    query, item, grade, *_ = NAMES[draw.choice([*NAMES])]
    yes, no = draw.choice(GRADES)
    rows = [
        {query: q, item: one, grade: yes if value else no}
        for q, grades in truth.items()
        for one, value in grades.items()
    ]
    return File(*table(draw, rows), truth, run, "truth", shape)


def listed(cells: list[str], draw: random.Random) -> str:
    """Several ids in a cell."""
    form = draw.choice(("; ", "|", "json", "python", "numpy", ", "))
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
    part = "both" if both else "truth"
    return File(
        *table(draw, rows), {q: dict.fromkeys(c, 1) for q, c in found.items()}, run, part, shape
    )


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
    return File(*table(draw, rows), truth, run, "run", f"{shape} {kind}{' two' * system}")


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
    meant = {q: {cells[0]: 1} for q, cells in found.items()}
    return File(*table(draw, rows), meant, {**run, silent: ["x"]}, "truth", shape)


SHAPES = {
    "graded": graded,
    "wide": wide,
    "results": results,
    "nested": nested,
    "empty": empty,
}
