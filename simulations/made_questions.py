"""Do questions made from documents rank retrievers as people's questions do?

`python -m simulations.made_questions --scifact FOLDER --cranfield FOLDER --stackfaq FOLDER
--covidfaq FOLDER` prints the tables of docs/validity.md. The questions of the demo need no data
from elsewhere. SciFact is a folder in the form of BEIR; Cranfield one with cran.all.1400, cran.qry
and cranqrel; StackFAQ one with stackExchange-FAQ.xml; CovidFAQ one with query_answer_pairs.json.
Each retriever is asked the made questions and people's, over the same chunks.

A pair of retrievers is *turned* where people's questions clearly prefer one (95 % of bootstrap
draws) and made questions clearly the other. Labels are simulated from what people asked: a made
question is one that somebody would ask if some person's question wants its document.
"""

import argparse
import html
import json
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np

import calipers
from calipers.io.documents.walk import open_folder
from calipers.statistics.prediction_powered import corrected_mean
from calipers.statistics.score_interval import mean_interval

QUESTIONS = 400
LABELS, SET = 30, 120
"""Labels, and the questions of a set that they are drawn from."""
DRAWS, SAMPLES = 2_000, 200
"""Bootstrap draws of a ranking, and simulated sets of labels."""
Search = Callable[[str], list[int]]
DEPTH = 30
ASKED_OTHERWISE = 200
"""Headings that are asked in other words as well."""
RARE = "rare words weigh less"


@dataclass(frozen=True)
class Chunk:
    """A chunk, the document that it stands in, and its words."""

    text: str
    document: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """People's questions about a folder of documents."""

    name: str
    folder: Path
    records: list[dict[str, Any]]
    level: str
    """What is looked for: evidence, or the document."""
    wanted: set[str]
    """The documents that some question wants."""


def words(text: str) -> tuple[str, ...]:
    """Lower-case words of two letters or more."""
    return tuple(re.findall(r"\w\w+", text.lower()))


def bm25(chunks: Sequence[Chunk], most: int | None = None, every: int = 1) -> Search:
    """BM25, over the first ``most`` words of a chunk, and without a part of the documents."""
    names = sorted({one.document for one in chunks})
    gone = set(names[::every]) if every > 1 else set()
    bags = [Counter(() if one.document in gone else one.words[:most]) for one in chunks]
    sizes = np.array([bag.total() for bag in bags], dtype=float)
    delay = 1.5 * (0.25 + 0.75 * sizes / max(sizes.mean(), 1))
    return _postings(bags, lambda often, at: often / (often + delay[at]))


def counting(chunks: Sequence[Chunk]) -> Search:
    """How often the words of a question stand in a chunk."""
    return _postings([Counter(one.words) for one in chunks], lambda often, _: often, rare=False)


def cosine(chunks: Sequence[Chunk]) -> Search:
    """TF-IDF vectors, by cosine."""
    bags = [Counter(one.words) for one in chunks]
    found = Counter(word for bag in bags for word in bag)
    length = np.array(
        [
            math.sqrt(
                sum(
                    ((1 + math.log(n)) * math.log(1 + len(bags) / found[w])) ** 2
                    for w, n in b.items()
                )
            )
            or 1.0
            for b in bags
        ]
    )
    return _postings(bags, lambda often, at: (1 + np.log(often)) / length[at], power=2)


def latent(chunks: Sequence[Chunk], dimensions: int = 128) -> Search:
    """Latent semantic vectors: TF-IDF on its main directions."""
    bags = [Counter(one.words) for one in chunks]
    found = Counter(word for bag in bags for word in bag)
    known = {word: i for i, (word, n) in enumerate(found.most_common(6_000)) if n > 1}
    rarity = np.array([math.log(1 + len(bags) / found[word]) for word in known], dtype=np.float32)

    def weigh(bag: Mapping[str, int]) -> np.ndarray:
        row = np.zeros(len(known), dtype=np.float32)
        for word, often in bag.items():
            if word in known:
                row[known[word]] = 1 + math.log(often)
        row *= rarity
        return row / max(float(np.linalg.norm(row)), 1e-9)

    matrix = np.stack([weigh(bag) for bag in bags])
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((matrix.shape[1], dimensions)).astype(np.float32)
    for _ in range(3):
        basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
    vectors = matrix @ basis
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def search(query: str) -> list[int]:
        scores = vectors @ (weigh(Counter(words(query))) @ basis)
        return [int(i) for i in np.argsort(-scores, kind="stable")[:DEPTH]]

    return search


def _postings(
    bags: Sequence[Counter[str]],
    gain: Callable[[Any, Any], Any],
    *,
    rare: bool = True,
    power: int = 1,
) -> Search:
    where: dict[str, list[tuple[int, int]]] = {}
    for at, bag in enumerate(bags):
        for word, often in bag.items():
            where.setdefault(word, []).append((at, often))
    table = {word: np.array(found) for word, found in where.items()}

    def search(query: str) -> list[int]:
        scores = np.zeros(len(bags))
        for word in words(query):
            if (found := table.get(word)) is not None:
                weight = math.log(1 + len(bags) / len(found)) ** power if rare else 1.0
                scores[found[:, 0]] += weight * gain(found[:, 1].astype(float), found[:, 0])
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return [int(i) for i in best if scores[i] > 0]

    return search


RETRIEVERS: dict[str, Callable[[Sequence[Chunk]], Search]] = {
    "BM25": bm25,
    "TF-IDF cosine": cosine,
    "latent vectors": latent,
    "BM25, first 40 words": lambda chunks: bm25(chunks, most=40),
    "BM25, a third of the documents lost": lambda chunks: bm25(chunks, every=3),
    "counted words": counting,
}


def scores(
    records: Sequence[Mapping[str, Any]], search: Search, chunks: Sequence[Chunk], level: str
) -> np.ndarray:
    """recall@10 of each question."""
    run = {
        one["id"]: [
            {"id": f"c{i}", "text": chunks[i].text, "document": chunks[i].document}
            for i in search(one["query"])
        ]
        for one in records
    }
    asked = [{"query": name, "retrieved": found} for name, found in run.items()]
    found = calipers.evaluate(
        ground_truth=[*records], run=asked, metrics="recall@10", level=level, fingerprints=False
    )
    return found.of("recall@10")


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """Kendall's tau of two lists of means; a tie counts as no agreement."""
    pairs = combinations(range(len(first)), 2)
    signs = [np.sign(first[i] - first[j]) * np.sign(second[i] - second[j]) for i, j in pairs]
    return float(np.mean(signs))


def resampled(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The means of each retriever (rows), over questions that are drawn again and again."""
    n = values.shape[1]
    return np.stack([values[:, rng.integers(0, n, n)].mean(axis=1) for _ in range(DRAWS)])


def ranking(people: np.ndarray, made: np.ndarray) -> str:
    """Tau with its 95 % range, and what becomes of the pairs that people clearly order."""
    rng = np.random.default_rng(0)
    theirs, mine = resampled(people, rng), resampled(made, rng)
    taus = [kendall(one, two) for one, two in zip(theirs[:500], mine[:500], strict=True)]
    low, high = np.quantile(taus, [0.025, 0.975])
    same = turned = clear = 0
    for i, j in combinations(range(len(people)), 2):
        first, second = (float(np.mean(one[:, i] > one[:, j])) for one in (theirs, mine))
        other = float(np.mean(mine[:, i] < mine[:, j]))
        if first < 0.025:
            first, second, other = 1 - first, other, second
        if first > 0.975:
            clear += 1
            same += second > 0.975
            turned += other > 0.975
    tau = kendall(people.mean(axis=1), made.mean(axis=1))
    return (
        f"tau {tau:.2f} ({low:.2f} to {high:.2f}); of {clear} pairs that people clearly order "
        f"{same} are ordered so, {turned} are turned"
    )


@dataclass(frozen=True)
class Level:
    """How far the level is off people's, and how often intervals hold it."""

    before: float
    after: float
    holds_fit: float
    """The share of intervals that hold the mean over all questions of the set that are fit."""
    holds_people: float
    """The share that hold the mean of people's questions."""


def labelled(made: np.ndarray, fit: np.ndarray, people: float, seed: int = 0) -> Level:
    """One retriever's level before and after 30 labels of a set of 120, as `eval` corrects it."""
    rng = np.random.default_rng(seed)
    before, after, holds = [], [], []
    for _ in range(SAMPLES):
        chosen = rng.permutation(len(made))[:SET]
        machine, is_fit = made[chosen], fit[chosen]
        said = machine[:LABELS][is_fit[:LABELS]]
        interval = mean_interval(said)
        if interval is None:
            continue
        low, high = interval.low, interval.high
        # Questions like these: the mean over all that are fit, of which the set is a part.
        true = float(made[fit].mean())
        before.append(machine.mean() - people)
        after.append(said.mean() - people)
        holds.append((low <= true <= high, low <= people <= high))
    fits, peoples = np.mean(holds, axis=0)
    return Level(float(np.mean(before)), float(np.mean(after)), float(fits), float(peoples))


def planted(fit: float, share: float, unfit: float, seed: int = 0) -> str:
    """How often intervals hold a known mean of fit questions: by them alone, or by all 120."""
    rng = np.random.default_rng(seed)
    judged, holds = np.arange(SET) < LABELS, []
    for _ in range(SAMPLES):
        is_fit = rng.random(SET) < share
        values = (rng.random(SET) < np.where(is_fit, fit, unfit)).astype(float)
        said = np.where(judged & is_fit, values, np.nan)
        both = corrected_mean(values, said, judged=judged).interval
        alone = mean_interval(said[~np.isnan(said)])
        held = alone is not None and alone.low <= fit <= alone.high
        holds.append((held, both.low <= fit <= both.high))
    alone_holds, both_hold = np.mean(holds, axis=0)
    return (
        f"- mean {fit} of the fit ({share:.0%}), {unfit} of the others: held {alone_holds:.0%} of "
        f"the time by the fit alone, {both_hold:.0%} with the others"
    )


def demo(folder: Path) -> Asked:
    """The language reference of Python, and the 42 questions of the demo."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "examples" / "demo"))
    from corpus import documents  # type: ignore[import-not-found]

    texts = {f"{name}.rst": text for name, text in documents().items()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = Path(__file__).parent.parent / "examples" / "demo" / "questions.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    quotes = [" ".join(one["quote"].split()) for row in records for one in row["ground_truth"]]
    plain = {name: " ".join(text.split()) for name, text in texts.items()}
    wanted = {name for name, text in plain.items() if any(one in text for one in quotes)}
    return Asked("Python's reference, 42 questions", folder, records, "evidence", wanted)


def scifact(folder: Path, source: Path) -> Asked:
    """Abstracts with their titles as headings, and the claims of the test set."""
    for line in (source / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        text = f"# {one['title']}\n\n{one['text']}\n"
        (folder / f"{one['_id']}.md").write_text(text, encoding="utf-8")
    texts = {}
    for line in (source / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        texts[one["_id"]] = one["text"]
    wanted: dict[str, list[str]] = {}
    for line in (source / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, item, grade = line.split("\t")
        if int(grade) > 0:
            wanted.setdefault(query, []).append(f"{item}.md")
    return _by_document("SciFact, 300 claims", folder, texts, wanted)


def cranfield(folder: Path, source: Path) -> Asked:
    """Abstracts about aerodynamics, titles as headings, and 225 questions of engineers."""
    for number, fields in _cranfield(source / "cran.all.1400"):
        title, text = fields.get("T", ""), fields.get("W", "")
        body = text.removeprefix(title).strip()
        heading = " ".join(title.rstrip(" .").split())
        page = f"# {heading}\n\n{body}\n"
        (folder / f"{number}.md").write_text(page, encoding="utf-8")
    # Judgements number the questions by their place, not by their id.
    texts = {
        str(at): " ".join(fields.get("W", "").split())
        for at, (_, fields) in enumerate(_cranfield(source / "cran.qry"), 1)
    }
    wanted: dict[str, list[str]] = {}
    for line in filter(str.strip, (source / "cranqrel").read_text().splitlines()):
        query, item, grade = line.split()[:3]
        # 1 is the best grade of Cranfield, 4 the least, and -1 no answer.
        if 1 <= int(grade) <= 3:
            wanted.setdefault(query, []).append(f"{item}.md")
    return _by_document("Cranfield, 225 questions", folder, texts, wanted)


def stackfaq(folder: Path, source: Path) -> Asked:
    """Threads of StackExchange, each with its answers, and how people asked the same otherwise."""
    text = (source / "stackExchange-FAQ.xml").read_text(encoding="utf-8")
    texts, wanted = {}, {}
    for number, thread in enumerate(re.findall(r"<qapair>(.*?)</qapair>", text, re.DOTALL)):
        told = {
            name: [
                " ".join(html.unescape(one).split())
                for one in re.findall(rf"<{name}>(.*?)</{name}>", thread, re.DOTALL)
            ]
            for name in ("question", "answer", "rephr")
        }
        page = "\n\n".join([f"# {told['question'][0]}", *told["answer"]])
        (folder / f"{number}.md").write_text(f"{page}\n", encoding="utf-8")
        for at, one in enumerate(one for one in told["rephr"] if one not in ("", "*")):
            texts[f"{number}-{at}"], wanted[f"{number}-{at}"] = one, [f"{number}.md"]
    return _by_document(f"StackFAQ, {len(texts):,} questions", folder, texts, wanted)


def covidfaq(folder: Path, source: Path) -> Asked:
    """A FAQ about an illness, and questions that people asked about it."""
    rows = json.loads((source / "query_answer_pairs.json").read_text(encoding="utf-8"))
    names: dict[str, str] = {}
    texts: dict[str, str] = {}
    wanted: dict[str, list[str]] = {}
    for one in rows:
        asked, answer = one["question"].strip(), one["answer"].strip()
        if one["query_type"] == "faq" and answer not in names:
            names[answer] = f"{len(names)}.md"
            page = f"# {asked}\n\n{answer}\n"
            (folder / names[answer]).write_text(page, encoding="utf-8")
        elif one["query_type"] != "faq":
            texts[asked] = asked
            wanted.setdefault(asked, []).append(names[answer])
    return _by_document(f"CovidFAQ, {len(texts):,} questions", folder, texts, wanted)


def _cranfield(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    for part in re.split(r"^\.I ", path.read_text(encoding="latin-1"), flags=re.MULTILINE)[1:]:
        number, _, rest = part.partition("\n")
        fields = re.split(r"^\.([A-Z])\n", rest, flags=re.MULTILINE)[1:]
        yield int(number), dict(zip(fields[::2], map(str.strip, fields[1::2]), strict=True))


def _by_document(
    name: str, folder: Path, texts: Mapping[str, str], wanted: Mapping[str, list[str]]
) -> Asked:
    records = [
        {
            "id": f"q{query}",
            "query": texts[query],
            "ground_truth": [{"id": one, "document": one} for one in dict.fromkeys(found)],
        }
        for query, found in wanted.items()
    ]
    documents = {one for found in wanted.values() for one in found}
    return Asked(name, folder, records, "document", documents)


def without_answer(record: Mapping[str, Any], every: int = 1) -> dict[str, Any]:
    """A question without the words of its target, or without each second of them."""
    target = {word for quote in record["ground_truth"] for word in words(quote["quote"])}
    kept = []
    shared = 0
    for word in words(record["query"]):
        if word in target:
            shared += 1
            if shared % every == 0:
                continue
        kept.append(word)
    return {**record, "query": " ".join(kept)}


def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two questions as one, which both targets answer."""
    query = f"{first['query']} {second['query']}"
    targets = [*first["ground_truth"], *second["ground_truth"]]
    return {**first, "query": query, "ground_truth": targets}


def commonness(records: Sequence[Mapping[str, Any]], chunks: Sequence[Chunk]) -> np.ndarray:
    """A weight of each question: less, the rarer its words are."""
    holding = Counter(word for one in chunks for word in {*one.words})
    rarity = [
        np.mean([math.log(1 + len(chunks) / max(holding[word], 1)) for word in words(one["query"])])
        for one in records
    ]
    return 1 / np.maximum(np.array(rarity), 1e-9)


def variants(asked: Asked) -> Iterator[str]:
    """Yield how near other questions of the same headings come to people's: tau, and the level."""
    chunks = chunks_of(asked.folder)
    made = calipers.first_questions(asked.folder, questions=ASKED_OTHERWISE, sources=["headings"])
    headings = [*made.records]
    kinds = {
        "people": asked.records,
        "as they are": headings,
        "without words of the target": [*map(without_answer, headings)],
        "with half of these words": [without_answer(one, every=2) for one in headings],
        "two joined": [*map(joined, headings[::2], headings[1::2])],
    }
    kinds = {
        kind: [one for one in records if words(one["query"])] for kind, records in kinds.items()
    }
    means: dict[str, list[float]] = {kind: [] for kind in (*kinds, RARE)}
    weights = commonness(kinds["as they are"], chunks)
    for make in RETRIEVERS.values():
        search = make(chunks)
        for kind, records in kinds.items():
            level = asked.level if kind == "people" else "evidence"
            values = scores(records, search, chunks, level)
            known = ~np.isnan(values)
            means[kind].append(float(values[known].mean()))
            if kind == "as they are":
                weighted = np.average(values[known], weights=weights[known])
                means[RARE].append(float(weighted))
    yield f"### Other questions: {asked.name}, {len(headings)} headings"
    yield ""
    people = means.pop("people")
    for kind, levels in means.items():
        off = np.mean(np.array(levels) - people)
        yield f"- {kind}: tau {kendall(people, levels):.2f}, off {off:+.2f}"
    yield ""


def chunks_of(folder: Path) -> list[Chunk]:
    """The sections of a folder's documents with their words."""
    return [
        Chunk(text, document, words(text))
        for batch in open_folder(folder).batches()
        for text, document in batch.select("text", "document").iter_rows()
    ]


def report(asked: Asked) -> Iterator[str]:
    """Yield the lines about one corpus."""
    chunks = chunks_of(asked.folder)
    made: dict[str, list[dict[str, Any]]] = {}
    for source in ("faq", "links", "headings"):
        try:
            found = calipers.first_questions(asked.folder, questions=QUESTIONS, sources=[source])
        except calipers.CalipersError:
            continue
        made[source] = [*found.records]
    kinds = {"people": asked.records, **made}
    values: dict[str, list[np.ndarray]] = {kind: [] for kind in kinds}
    for make in RETRIEVERS.values():
        search = make(chunks)
        for kind, records in kinds.items():
            level = asked.level if kind == "people" else "evidence"
            values[kind].append(scores(records, search, chunks, level))
    # Questions for which nothing is defined are left out, the same for every retriever.
    table = {kind: np.stack(found) for kind, found in values.items()}
    kept = {kind: ~np.isnan(found).any(axis=0) for kind, found in table.items()}
    yield f"### {asked.name}"
    yield ""
    yield f"| retriever | people | {' | '.join(f'{n} ({len(made[n])})' for n in made)} |"
    yield f"|---|{'---|' * (1 + len(made))}"
    for at, name in enumerate(RETRIEVERS):
        row = " | ".join(f"{table[kind][at, kept[kind]].mean():.3f}" for kind in kinds)
        yield f"| {name} | {row} |"
    yield ""
    people = table["people"][:, kept["people"]]
    for kind, records in made.items():
        mine = table[kind][:, kept[kind]]
        yield f"- `{kind}`: {ranking(people, mine)}."
        fit = np.array([one["tags"]["file"] in asked.wanted for one in records])[kept[kind]]
        if not 0.2 < fit.mean() < 1.0:
            continue  # nothing to simulate: hardly any is fit, or all are
        levels = [labelled(row, fit, true.mean()) for row, true in zip(mine, people, strict=True)]
        for name, one in zip(RETRIEVERS, levels, strict=True):
            yield (
                f"  - {name}: off {one.before:+.2f} before, {one.after:+.2f} after {LABELS} labels "
                f"({fit.mean():.0%} fit); intervals hold the fit {one.holds_fit:.0%}, people's "
                f"level {one.holds_people:.0%}"
            )
    yield ""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m simulations.made_questions")
    parser.add_argument("--scifact", type=Path, help="a folder in the form of BEIR")
    parser.add_argument("--cranfield", type=Path, help="a folder with cran.all.1400 and the others")
    parser.add_argument("--stackfaq", type=Path, help="a folder with stackExchange-FAQ.xml")
    parser.add_argument("--covidfaq", type=Path, help="a folder with query_answer_pairs.json")
    parser.add_argument("--others", action="store_true", help="only what other questions do")
    given = parser.parse_args()
    makers: list[Callable[[Path], Asked]] = [demo]
    for read in (scifact, cranfield, stackfaq, covidfaq):
        if (source := getattr(given, read.__name__)) is not None:
            makers.append(partial(read, source=source))
    for fit, share, unfit in ((0.99, 0.7, 0.9), (0.986, 0.53, 0.993), (0.81, 0.85, 0.81)):
        sys.stdout.write(f"{planted(fit, share, unfit)}\n")
    for make in makers:
        with tempfile.TemporaryDirectory() as place:
            asked = make(Path(place))
            parts = [variants(asked)] if given.others else [report(asked), variants(asked)]
            for line in chain.from_iterable(parts):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
