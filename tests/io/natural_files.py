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
    "sv": ("Fråga", "Dokument-ID", "Relevans", "Träffar", "Förväntat"),
    "ja": ("質問", "文書ID", "関連度", "検索結果", "正解"),
    "ru": ("Вопрос", "ID документа", "Релевантность", "Найдено", "Ожидается"),
    "odd": ("q text", "where", "our view", "what came", "what should"),
    "odd2": ("Kysymys", "Kohta", "Osuvuus", "Löydetty", "Odotettu"),
}
UNKNOWN_GRADE = (
    *("Zutreffend", "passt", "OK?", "match", "helpful", "fits?", "Qualität", "1=gut"),
    *("Relevant? yes/no", "is_correct_id", "page_relevant", "grade_num", "Punkte"),
)
GRADES = (
    *(("1", "0"), ("yes", "no"), ("TRUE", "FALSE"), ("good", "bad"), ("hit", "miss")),
    *(("👍", "👎"), ("○", "×"), ("x", ""), ("1", ""), ("ja", "nein"), ("correct", "wrong")),
    *(("sí", "no"), ("não", "sim")[::-1], ("tak", "nie"), ("X", "-"), ("wahr", "falsch")),
    *(("2/3", "0/3"), ("2 - ok", "0 - off"), ("3 (exact)", "0 (none)")),
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
EMPTY = ("N/A", "none", "-", "", "nan", "no answer", "unanswerable")
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
    nothing: frozenset[str] = frozenset(("", "Unnamed: 0"))
    """Columns that mean nothing to the author."""
    returned_only: bool = False
    """Whether only what was returned was judged."""
    refused: bool = False
    """Whether nobody could say what it means without changing it."""

    @property
    def metrics(self) -> str:
        """What is measured: the mean reciprocal rank and nDCG, or precision."""
        return "mrr,precision@5" if self.returned_only else "mrr,ndcg@5"

    @property
    def value(self) -> tuple[float, float]:
        """The mean reciprocal rank and nDCG over queries with something to find.

        Where only what was returned was judged, precision in place of nDCG, over all queries.
        """
        ranks, gains, shares = [], [], []
        for query, judged in self.truth.items():
            grades = {item: max(grade, 0.0) for item, grade in judged.items()}
            found = [grades.get(one, 0.0) for one in self.run[query]]
            if not any(grades.values()) and not self.returned_only:
                continue
            ranks.append(next((1 / n for n, grade in enumerate(found, 1) if grade), 0.0))
            shares.append(sum(grade > 0 for grade in found[:5]) / 5)
            if not self.returned_only:
                gains.append(_dcg(found) / _dcg(sorted(grades.values(), reverse=True)))
        seconds = shares if self.returned_only else gains
        return sum(ranks) / len(ranks), sum(seconds) / len(seconds)


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
    first = queries[0]
    if not set(run[first]) & {one for one, grade in truth[first].items() if grade}:
        run[first][draw.randrange(5)] = next(iter(truth[first]))
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
        return File(content, ".jsonl", truth, run, holds, shape, nothing=frozenset(EXTRA))
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
    return File(content, ".csv", truth, run, holds, shape, encoding, frozenset(EXTRA))


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
    first = next(iter(run))
    wanted_there = next(iter(means[first]))
    if wanted_there not in texts[first]:
        texts[first][draw.randrange(3)] = wanted_there
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


def distances(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """Results by a distance of any name, in any order of the rows, with points or commas."""
    query, item, *_ = NAMES[draw.choice(("en", "ours", "de", "fr", "es", "it"))]
    item = draw.choice((item, item, "Document", "Dokument"))
    name = draw.choice(DISTANCES)
    rows = [
        {query: q, item: one, name: f"{n / 8 + draw.random() / 10:.3f}"}
        for q, items in run.items()
        for n, one in enumerate(items, 1)
    ]
    draw.shuffle(rows)
    return table(draw, rows, truth, run, "run", shape)


DISTANCES = (
    *("distance", "dist", "L2", "l2_distance", "euclidean", "cosine_dist", "cosine distance"),
    *("Distanz", "hamming", "distance_score", "score (lower is better)", "vectorDistance"),
)


def judged(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """What was returned, a row each with its rank and a verdict."""
    query, item, grade, *_ = NAMES[draw.choice(("en", "ours", "de", "fr", "es", "it", "free2"))]
    grade = draw.choice(UNKNOWN_GRADE) if draw.random() < 0.3 else grade
    order = draw.choice(("rank", "Rang", "position", "#", "score"))
    yes, no = draw.choice(GRADES[:9])
    rows = []
    means: Truth = {}
    for q, items in run.items():
        means[q] = {one: float(draw.random() < 0.4) for one in items}
    means[next(iter(means))] = dict.fromkeys(run[next(iter(run))], 0.0)
    means[[*means][-1]][run[[*run][-1]][1]] = 1.0
    for q, items in run.items():
        for n, one in enumerate(items, 1):
            place = 9.5 - n if order == "score" else n
            rows.append({query: q, item: one, order: place, grade: yes if means[q][one] else no})
    file = table(draw, rows, means, run, "both", shape)
    file.returned_only = True
    return file


def judged_columns(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """One row for each question, with numbered results and a verdict for each of them."""
    query = NAMES[draw.choice([*NAMES])][0]
    result, verdict = draw.choice(
        (
            ("result_{}", "relevant_{}"),
            ("doc_{}", "rel_{}"),
            ("hit{}", "hit{}_relevant"),
            ("result_{}_id", "grade_{}"),
        )
    )
    yes, no = draw.choice((("1", "0"), ("yes", "no"), ("x", "")))
    means: Truth = {q: {one: float(draw.random() < 0.4) for one in run[q]} for q in truth}
    means[next(iter(means))][run[next(iter(means))][0]] = 1.0
    apart = draw.random() < 0.5
    rows = []
    for q, items in run.items():
        results = {result.format(n): one for n, one in enumerate(items, 1)}
        verdicts = {
            verdict.format(n): yes if means[q][one] else no for n, one in enumerate(items, 1)
        }
        pairs = zip(results.items(), verdicts.items(), strict=True)
        beside = [one for pair in pairs for one in pair]
        rows.append({query: q, **(results | verdicts if apart else dict(beside))})
    file = table(draw, rows, means, run, "both", shape)
    file.returned_only = True
    return file


def two_stages(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """The list of a first stage beside that of a later one; the author means the later."""
    first, last = draw.choice(
        (
            ("retrieved", "reranked"),
            ("retrieved_ids", "reranked_ids"),
            ("initial_results", "final_results"),
            ("before", "after"),
            ("hits", "hits_after_rerank"),
        )
    )
    wanted = draw.choice(("expected_ids", "ground_truth", "gold_ids"))
    found = only(truth)
    rows = []
    for q, items in run.items():
        early = items[:]
        draw.shuffle(early)
        form = draw.choice(("; ", "json"))
        cells = [form.join(some) if form != "json" else json.dumps(some) for some in (early, items)]
        rows.append({"question": q, wanted: "; ".join(found[q]), first: cells[0], last: cells[1]})
    means: Truth = {q: dict.fromkeys(cells, 1.0) for q, cells in found.items()}
    file = table(draw, rows, means, run, "both", shape)
    file.nothing = file.nothing | {first, first.upper()}
    return file


def two_orders(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """One row for each result, with the rank of two stages; the author means the later."""
    name, other = draw.choice((("rank", "rerank_rank"), ("score", "rerank_score")))
    rows = []
    for q, items in run.items():
        early = items[:]
        draw.shuffle(early)
        for one in items:
            places = early.index(one) + 1, items.index(one) + 1
            first, last = places if name == "rank" else (9.5 - places[0], 9.5 - places[1])
            rows.append({"question": q, "doc_id": one, name: first, other: last})
    draw.shuffle(rows)
    file = table(draw, rows, truth, run, "run", shape)
    file.nothing = file.nothing | {name, name.upper()}
    return file


def columns_of_targets(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """A column for each target: numbered, lettered, or named twice as pandas names them."""
    query = NAMES[draw.choice(("en", "ours", "de", "fr", "es", "it", "nl", "pt"))][0]
    names = draw.choice(
        (
            ("doc1", "doc2", "doc3"),
            ("gold_a", "gold_b", "gold_c"),
            ("chunk", "chunk.1", "chunk.2"),
            ("Expected Doc 1", "Expected Doc 2", "Expected Doc 3"),
            ("target_1", "target_2", "target_3"),
            ("Quelle 1", "Quelle 2", "Quelle 3"),
        )
    )
    found = only(truth)
    rows = []
    for q, cells in found.items():
        filled = (*cells, "", "", "")[:3]
        rows.append({query: q, **dict(zip(names, filled, strict=True))})
    means: Truth = {q: dict.fromkeys(cells, 1.0) for q, cells in found.items()}
    return table(draw, rows, means, run, "truth", shape)


def pivot(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """A column for each item, its grades in the cells: the header holds the ids."""
    yes, no = draw.choice((("1", "0"), ("x", ""), ("2", "0"), ("yes", "no")))
    names = ["doc1", "doc2", "doc3", "doc4"]
    rows = []
    means: Truth = {}
    for q in truth:
        means[q] = {name: float(draw.random() < 0.5) for name in names}
        means[q]["doc1"] = 1.0
        cells = {name: yes if grade else no for name, grade in means[q].items()}
        rows.append({"question": q, **cells})
    rows[0]["doc2"] = no
    means[next(iter(means))]["doc2"] = 0.0
    file = table(draw, rows, means, dict.fromkeys(truth, names), "truth", shape)
    file.refused = True
    return file


def exported(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """An experiment as platforms export it: a row for each question, lists in cells."""
    asked, wanted, returned = draw.choice(
        (
            ("inputs.question", "reference_outputs.doc_ids", "outputs.doc_ids"),
            ("inputs.question", "reference_outputs.documents", "outputs.documents"),
            ("inputs/question", "expectations/doc_ids", "outputs/doc_ids"),
            ("input", "expected_output", "output"),
            ("input", "expected", "output"),
            ("inputs", "reference", "outputs"),
            ("question", "expected_retrieved_context", "retrieved_context"),
            ("query", "gold_doc_ids", "predicted_doc_ids"),
            ("input.question", "expected.ids", "output.ids"),
            ("Question", "Expected Sources", "Retrieved Sources"),
            ("question", "ground_truth_doc_ids", "retrieved_doc_ids"),
            ("inputs_question", "targets_doc_ids", "result_doc_ids"),
        )
    )
    found = only(truth)
    form = draw.choice((json.dumps, str, "; ".join))
    rows = []
    for q, cells in found.items():
        parts = {wanted: form(cells), returned: form(run[q])}
        names = [*parts]
        draw.shuffle(names)
        rows.append({asked: q, **{name: parts[name] for name in names}})
    names = [*rows[0]]
    rows = [{name: row[name] for name in names} for row in rows]
    means: Truth = {q: dict.fromkeys(cells, 1.0) for q, cells in found.items()}
    return table(draw, rows, means, run, "both", shape)


def beside(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """A result in each row, and beside it what should be found."""
    query, wanted, result, order = draw.choice(
        (
            ("question", "expected_doc", "doc_id", "rank"),
            ("Question", "Document attendu", "Document", "Rang"),
            ("query", "expected", "retrieved", "rank"),
            ("query", "gold_id", "doc_id", "score"),
            ("Frage", "Erwartetes Dokument", "Gefundenes Dokument", "Rang"),
            ("Pregunta", "Documento esperado", "Documento encontrado", "rank"),
            ("question", "expected_document", "retrieved_document", "position"),
            ("prompt", "correct_source", "source", "score"),
            ("question", "relevant_chunk", "chunk_id", "rank"),
        )
    )
    rows = []
    found = only(truth)
    several = draw.random() < 0.2
    means: Truth = {}
    for q, items in run.items():
        means[q] = dict.fromkeys(found[q] if several else found[q][:1], 1.0)
        for n, one in enumerate(items, 1):
            place = 9.5 - n if order == "score" else n
            rows.append({query: q, wanted: "; ".join(means[q]), result: one, order: place})
    return table(draw, rows, means, run, "both", shape)


def with_total(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """A table whose last row sums it up."""
    found = only(truth)
    rows = [{"question": q, "chunk_id": cells[0]} for q, cells in found.items()]
    total = draw.choice(("Total", "Summe", "Average"))
    rows.append({"question": total, "chunk_id": str(len(rows))})
    means: Truth = {q: {cells[0]: 1.0} for q, cells in found.items()}
    file = table(draw, rows, means, {**run, rows[-1]["question"]: []}, "truth", shape)
    file.refused = True
    return file


SHAPES = {
    "graded": graded,
    "graded again": graded,
    "quoted": quoted,
    "wide": wide,
    "results": results,
    "nested": nested,
    "empty": empty,
    "distances": distances,
    "judged": judged,
    "judged columns": judged_columns,
    "two stages": two_stages,
    "two orders": two_orders,
    "columns of targets": columns_of_targets,
    "pivot": pivot,
    "exported": exported,
    "total": with_total,
    "beside": beside,
}
