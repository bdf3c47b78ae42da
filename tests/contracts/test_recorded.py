"""What every question answers of ten small inputs, to the last bit, as it was recorded.

Sentences may change and are not compared: numbers, ids and the names that lead to them are.
``CALIPERS_WRITE_RECORDED=1 pytest tests/contracts/test_recorded.py`` records the answers of today
instead; look at what differs before you keep it.
"""

import csv
import json
import math
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.names import words_in
from tests.contracts.recorded_inputs import INPUTS, Record, altered, corpus
from tests.questions.samples import without, write_lines
from tests.systems import keep

FOLDER = Path(__file__).parents[1] / "data" / "recorded"
TRACES = FOLDER.parent / "formats" / "langsmith.jsonl"
WRITES = "CALIPERS_WRITE_RECORDED" in os.environ
TWO = "recall@5,mrr"
METRICS = (
    "f(beta=2)@3,full_recall@3,capped_recall@3,tp@3,fp@3,fn@3,num_ret,num_rel,num_rel_ret,"
    "set_precision,set_recall,dcg,dcg@3,ndcg,ndcg(gain=exp)@3,err@3,nerr,rbp,"
    "rbp(p=0.5)@3,mrr@3,map@3,r_precision,first_rank,judged@3,unjudged@3,bpref,rbp_residual"
)
OF_SOME = ("alpha_ndcg@3", "span_recall@3", "span_precision@3", "iou@3", "leak@3", "leak_rate@3")
"""Metrics that not every input has."""
LEFT_OUT = frozenset(
    words_in(
        "schema calipers saved baseline_saved time at store path output evaluation evaluations "
        "seconds per_second thresholds strict corrected_by notes bounds policy settings text claim "
        "claims instead tag.type tag.intent tags exact_rank latency_ms warnings expected_gain "
        "sentences one_outweighs first_recall"
    )
)
"""Versions, times, places, random ids, sentences; and what products of matrices give, whose last
digit depends on the processor (tests/statistics/test_winner.py has a reference)."""
Pair = Any
Ask = Callable[[Pair, Pair], Any]


def _evaluate(pair: Pair, **settings: Any) -> Any:
    return calipers.evaluate(pair, k=[5], **settings)


def _scored(pair: Pair) -> Any:
    return calipers.evaluate(pair, metrics=TWO)


def _means(pair: Pair, *metrics: str) -> dict[str, Any]:
    """The mean of each metric, or None where it cannot be asked of such an input."""
    found: dict[str, Any] = {}
    for names in metrics:
        try:
            scores = calipers.evaluate(pair, metrics=names)
        except calipers.CalipersError:
            found[names] = None
            continue
        for name, one in scores.summaries.items():
            found[str(name)] = [one.mean, one.median, one.n, one.undefined]
    return found


OF_A_PAIR: dict[str, Ask] = {
    "evaluate": lambda a, b: _evaluate(a),
    "metrics": lambda a, b: _means(a, METRICS),
    "metrics of some": lambda a, b: _means(a, *OF_SOME),
    "sweep": lambda a, b: calipers.sweep(a, k=[1, 4, 8]),
    "diagnose": lambda a, b: calipers.diagnose(a, k=5),
    "misses": lambda a, b: calipers.misses(a, k=5),
    "compare": lambda a, b: calipers.compare({"old": a, "new": b}, metrics=TWO),
    "gate": lambda a, b: calipers.gate(a, require=["recall@5 >= 0.4", "mrr >= 0.9"]),
    "gate with a baseline": lambda a, b: calipers.gate(b, baseline=_scored(a)),
    "diff": lambda a, b: calipers.diff(a.run, b.run, k=5),
}
"""What is asked of every input."""


def _saved(pair: Pair, other: Pair) -> None:
    """Eight nights in a history; the last two are of the weaker retriever."""
    if Path("history.db").exists():
        return
    for night in range(8):
        keep(
            pair if night > 5 else other,
            "nightly",
            "history.db",
            TWO,
            tags={"night": f"{night}"},
            now=datetime(2026, 1, 1 + night, 6, tzinfo=UTC),
        )


def _history(ask: Callable[..., Any], **settings: Any) -> Ask:
    def asked(pair: Pair, other: Pair) -> Any:
        _saved(pair, other)
        return ask("nightly", store="history.db", **settings)

    return asked


OF_SEVERAL: dict[str, Ask] = {
    "floor": lambda a, b: calipers.floor(a, k=5),
    "levels": lambda a, b: calipers.levels(a, metrics=TWO),
    "misses of a corpus": lambda a, b: calipers.misses(a, k=5, corpus="corpus.jsonl"),
    "slices": lambda a, b: calipers.slices(_scored(a), "type"),
}
OF_HISTORY = {
    "history": _history(calipers.history),
    "trend": _history(calipers.history_trend, metrics="mrr"),
    "alarm": _history(calipers.history_alarm, metrics="recall@5"),
}


def _gate_with_file(pair: Pair, other: Pair) -> Any:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    calipers.gate_save(other, to="main.json", metrics=TWO, now=now)
    return calipers.gate(pair, baseline="main.json", allow=0.05, now=now)


def _confirmed(pair: Pair, other: Pair) -> Any:
    return calipers.confirm(
        "other.jsonl", "run.jsonl", sealed="truth.sealed.jsonl", metric="recall@5"
    )


def _retrieved(pair: Pair, other: Pair) -> Any:
    return calipers.retrieve(FINDER, "truth.jsonl", k=5, output="out.jsonl").report


def _explained(pair: Pair, other: Pair) -> Any:
    question = json.loads(Path("truth.jsonl").read_text().splitlines()[3])["query"]
    return calipers.explain(question, retriever=FINDER, ground_truth="truth.jsonl", k=4)


def _grid(pair: Pair, other: Pair) -> Any:
    Path("calipers.toml").write_text(
        'ground-truth = "truth.jsonl"\nmetrics = "recall@3,mrr"\n\n[grid]\nk = 5\n\n'
        '[grid.retrievers.some]\nmake = "finder.py:make"\nparams.skip = [0, 1, 2]\n'
    )
    return calipers.grid("calipers.toml")


def _agreement(pair: Pair, other: Pair) -> Any:
    for judge, step in (("anna", 3), ("bo", 4)):
        rows = [
            {"query_id": f"q{i}", "query": "Who?", "item": f"c{i}", "grade": i % step % 3}
            for i in range(20)
        ]
        write_lines(f"{judge}.jsonl", [{**row, "judge": judge} for row in rows])
    return calipers.labels_export(["anna.jsonl", "bo.jsonl"]).agreement


FINDER = "finder.py:search"
FINDER_FILE = """import json
from pathlib import Path


def lines(name):
    return map(json.loads, Path(name).read_text().splitlines())


LISTS = {one["query"]: one["retrieved"] for one in lines("run.jsonl")}
IDS = {one["query"]: one["id"] for one in lines("truth.jsonl")}


def make(skip):
    return lambda query, k: LISTS[IDS[query]][skip : skip + k]


search = make(0)
later = make(2)
"""
AT_RANDOM: dict[str, Any] = {"people": "people.jsonl", "sampled": "at-random", "k": [5]}
WITH_FILES: dict[str, Ask] = {
    "audit": lambda a, b: calipers.audit("truth.jsonl", corpus="corpus.jsonl")
}
"""What is asked of the files of every input."""
FURTHER: dict[str, dict[str, Ask]] = {
    "ids": {
        "floor": OF_SEVERAL["floor"],
        "levels": OF_SEVERAL["levels"],
        "sweep of all": lambda a, b: calipers.sweep(a, k=[1, 2, 3, 5, 12]),
        "trec_eval": lambda a, b: calipers.evaluate(**FILES, like="trec_eval", k=[5]),
        "relevant from 2": lambda a, b: calipers.evaluate(**FILES, rel=2, k=[5]),
        "converted": lambda a, b: calipers.convert(output="out.qrels", **FILES),
        "corrected": lambda a, b: calipers.corrected(a, **AT_RANDOM),
    },
    "quotes": {
        "levels": OF_SEVERAL["levels"],
        "misses of a corpus": OF_SEVERAL["misses of a corpus"],
        "resolve": lambda a, b: calipers.resolve("truth.jsonl", "corpus.jsonl"),
        "tolerant": lambda a, b: calipers.evaluate(**FILES, match="quote(min=0.7)", k=[5]),
    },
    "tags": {
        "slices": OF_SEVERAL["slices"],
        "report": lambda a, b: {
            "summaries": calipers.report(a, metrics=TWO).scores.to_dict()["summaries"]
        },
        "clustered": lambda a, b: _evaluate(a, cluster="intent"),
        "compare by clusters": lambda a, b: calipers.compare(
            {"old": a, "new": b}, cluster="intent", metrics=TWO
        ),
        "gate of slices": lambda a, b: calipers.gate(
            b, baseline=_scored(a), by="type", allow=0.1, primary="mrr"
        ),
        "sweep by clusters": lambda a, b: calipers.sweep(a, k=[1, 4, 8], cluster="intent"),
        "slices of all": lambda a, b: calipers.slices(_scored(a), ["auto", "length"]),
    },
    "groups": {"floor": OF_SEVERAL["floor"], "slices": OF_SEVERAL["slices"]},
    "spans": {
        "levels": OF_SEVERAL["levels"],
        "misses of a corpus": OF_SEVERAL["misses of a corpus"],
    },
    "calls": {
        "calls": lambda a, b: calipers.calls(a, k=5),
        "last call": lambda a, b: calipers.evaluate(**FILES, calls="last", k=[5]),
    },
    "errors": {
        "floor": OF_SEVERAL["floor"],
        "excluded": lambda a, b: calipers.evaluate(**FILES, errors="exclude", k=[5]),
        "missing": lambda a, b: calipers.evaluate(**FILES, missing="exclude", k=[5]),
    },
    "table": {
        "slices": OF_SEVERAL["slices"],
        "converted": lambda a, b: calipers.convert(output="out.jsonl", **TABLES),
    },
    "live": {
        "retrieve": _retrieved,
        "explain": _explained,
        "grid": _grid,
    },
    "baseline": {
        "plan": lambda a, b: calipers.plan(
            {"old": _scored(a), "new": _scored(b)}, difference=0.1, primary="mrr"
        ),
        "gate with a file": _gate_with_file,
        **OF_HISTORY,
        "seal": lambda a, b: calipers.seal("truth.jsonl", share=0.6),
        "confirm": _confirmed,
        "agreement": _agreement,
        "traces": lambda a, b: calipers.labels_traces(str(TRACES), n=2),
    },
}
"""What is asked of one input alone."""
FILES: dict[str, Any] = {"ground_truth": "truth.jsonl", "run": "run.jsonl"}
COLUMNS = {"query": "question_no", "item": "passage", "grade": "verdict", "score": "points"}
TABLES: dict[str, Any] = {"ground_truth": "truth.csv", "run": "run.csv", "columns": COLUMNS}


def _write_table(path: str, header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    with Path(path).open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def write_input(name: str) -> list[Record]:
    """The files of an input, in the current folder."""
    records = INPUTS[name]()
    truth = [{k: v for k, v in r.items() if k in OF_TRUTH} for r in records]
    write_lines("truth.jsonl", truth)
    write_lines("people.jsonl", truth[::3])
    for file, lists in (("run", records), ("other", altered(records))):
        write_lines(
            f"{file}.jsonl",
            [{"query": r["id"], **{k: v for k, v in r.items() if k in OF_RUN}} for r in lists],
        )
        results = [(r["id"], one) for r in lists for one in r["retrieved"]]
        rows = [(query, one["id"], one["score"], one["text"]) for query, one in results]
        _write_table(f"{file}.csv", ("question_no", "passage", "points", "text"), rows)
    targets = [(r["id"], r["tags"]["type"], one) for r in truth for one in r["ground_truth"]]
    rows = [(query, one.get("id"), one.get("grade"), tag) for query, tag, one in targets]
    _write_table("truth.csv", ("question_no", "passage", "verdict", "tag.type"), rows)
    write_lines("corpus.jsonl", corpus(records))
    Path("finder.py").write_text(FINDER_FILE)
    return records


OF_TRUTH = ("id", "query", "tags", "ground_truth")
OF_RUN = ("retrieved", "latency_ms", "error")


def read(name: str, **settings: Any) -> tuple[Pair, Pair]:
    """The two pairs of an input: the same ground truth, and each retriever's run."""
    if name == "live":
        live: list[dict[str, Any]] = [{"retriever": FINDER}, {"retriever": "finder.py:later"}]
        first, second = [{"data": "truth.jsonl", "ask_for": 10, **one} for one in live]
    else:
        first = TABLES if name == "table" else FILES
        second = {**first, "run": first["run"].replace("run", "other")}
    return calipers.read(**first, **settings), calipers.read(**second, **settings)


def asked(ask: Ask, pair: Pair, other: Pair) -> Any:
    """An answer as plain values, or the name of the error that refuses it."""
    try:
        answer = ask(pair, other)
    except calipers.CalipersError as error:
        return {"refused": type(error).__name__}
    plain = answer if isinstance(answer, dict) else answer.to_dict()
    if ask in OF_HISTORY.values():  # these ids are random
        plain = without("id", "best")(plain)
    return kept(json.loads(json.dumps(plain)), per_query=ask is OF_A_PAIR["evaluate"])


def kept(value: Any, *, per_query: bool = False) -> Any:
    """What is recorded of an answer: without sentences, and what differs from day to day."""
    if isinstance(value, dict):
        out = LEFT_OUT if per_query else LEFT_OUT | {"per_query", "fingerprints"}
        parts = {k: kept(one, per_query=per_query) for k, one in value.items() if k not in out}
        if "definition" in value:
            return value["name"]
        return {k: one for k, one in parts.items() if one not in (SENTENCE, [], {})}
    if isinstance(value, list):
        members = [kept(one, per_query=per_query) for one in value]
        return [] if SENTENCE in members else members
    is_sentence = isinstance(value, str) and " " in value and value != "no clear difference"
    return SENTENCE if is_sentence else value


SENTENCE = "a sentence"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, name and null below a value, by its path."""
    if isinstance(value, dict | list):
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in named:
            yield from leaves(one, f"{path}/{key}")
    else:
        yield path, value


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal; powers and logarithms of processors differ in the last bits."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 4 * math.ulp(one)
    return repr(one) == repr(other)


def same(found: Any, name: str) -> None:
    """Compare answers with the recorded ones, or record them where that is asked for."""
    path = FOLDER / f"{name}.json"
    if WRITES:
        path.write_text(laid_out(found) + "\n", "utf-8")
    here, there = dict(leaves(found)), dict(leaves(json.loads(path.read_text("utf-8"))))
    wrong = [
        f"{at}: {there.get(at, 'nothing')} was recorded, {here.get(at, 'nothing')} is answered"
        for at in (*there, *(at for at in here if at not in there))
        if not is_same(here.get(at, "nothing"), there.get(at, "nothing"))
    ]
    assert not wrong, "\n".join([f"{len(wrong)} differ in {path.name}:", *wrong[:200]])


def laid_out(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON with a value on one line where it fits."""
    flat = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if indent + before + len(flat) < 200 or not isinstance(value, dict | list):
        return flat
    deeper = indent + 1
    if isinstance(value, dict):
        named = ((json.dumps(key) + ":", one) for key, one in value.items())
    else:
        named = (("", one) for one in value)
    lines = [" " * deeper + key + laid_out(one, deeper, len(key)) for key, one in named]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n" + ",\n".join(lines) + f"\n{' ' * indent}{last}"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", INPUTS)
def test_as_recorded(name: str) -> None:
    write_input(name)
    pair, other = read(name)
    questions = {**OF_A_PAIR, **WITH_FILES, **FURTHER.get(name, {})}
    same({question: asked(ask, pair, other) for question, ask in questions.items()}, name)


@pytest.mark.parametrize(
    ("name", "rows"), [("ids", 20), ("quotes", 1), ("spans", 1), ("calls", 20)]
)
def test_from_disk_in_small_blocks(name: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write_input(name)
    in_memory = {question: asked(ask, *read(name)) for question, ask in OF_A_PAIR.items()}
    monkeypatch.setattr("calipers.questions.shown_results.ROWS_AT_ONCE", rows)
    monkeypatch.setattr("calipers.io.tables.scan.SOME_ROWS", rows)
    monkeypatch.setattr("calipers.io.tables.scan.STRETCH", 1)
    monkeypatch.setattr("calipers.questions.inputs.MOST_KEPT", 0)
    pair, other = read(name, keep=False)
    in_blocks = {question: asked(ask, pair, other) for question, ask in OF_A_PAIR.items()}
    assert repr(in_blocks) == repr(in_memory)
