"""One small call of every operation, from Python and from the command line."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import calipers
from calipers.questions.baseline import Baseline, baseline_dict
from fuzz.seeds import small_records
from tests.systems import keep

TRACES = str(Path(__file__).parents[1] / "data" / "formats" / "langsmith.jsonl")
RECORDS = small_records(16)


def write_lines(path: str | Path, rows: Iterable[Any]) -> None:
    Path(path).write_text("".join(json.dumps(one) + "\n" for one in rows))


def write_files() -> None:
    """The files that the samples read, in the current folder."""
    write_lines("evals.jsonl", RECORDS)
    turned = [{**one, "retrieved": one["retrieved"][::-1]} for one in RECORDS]
    write_lines("turned.jsonl", turned)
    scored = [
        {
            **one,
            "ground_truth": one["ground_truth"] if i % 3 else {},
            "retrieved": [
                {**r, "score": 1 / (1 + i % 4 + j)} for j, r in enumerate(one["retrieved"])
            ],
        }
        for i, one in enumerate(RECORDS * 5)
    ]
    scored = [{**one, "id": f"q{i}", "query": f"question {i}"} for i, one in enumerate(scored)]
    agent = [
        {**one, "retrieved": [{**r, "call": 1 + j // 2} for j, r in enumerate(one["retrieved"])]}
        for one in RECORDS
    ]
    write_lines("agent.jsonl", agent)
    write_lines("scored.jsonl", scored)
    chunks = [{"id": f"d{i}", "text": f"text {i}"} for i in range(20)]
    write_lines("chunks.jsonl", chunks)


def write_saved() -> None:
    """Two evaluations in a history, and an empty one to copy to."""
    write_files()
    save_nights("evals.jsonl", "turned.jsonl")


def write_many_saved() -> None:
    """As many evaluations as an alarm needs."""
    write_files()
    save_nights(*["evals.jsonl"] * 6, "turned.jsonl")


def write_people() -> None:
    """What people judged for some of the queries."""
    write_files()
    some = [{name: one[name] for name in one if name != "retrieved"} for one in RECORDS[:6]]
    write_lines("people.jsonl", some)


def write_sealed() -> None:
    """Sealed queries."""
    write_files()
    calipers.seal("evals.jsonl", share=0.6)


def save_nights(*files: str) -> None:
    for number, file in enumerate(files):
        keep(
            calipers.read(file),
            "nightly",
            "history.db",
            "recall@3,mrr",
            tags={"night": f"{number}"} if number else None,
            now=datetime(2026, 1, 1 + number, 6, tzinfo=UTC),
        )


def save_tonight() -> None:
    keep(calipers.read("evals.jsonl"), "tonight", "history.db")


def write_labels() -> None:
    """What two judges filled in, and documents that their quotes stand in."""
    write_files()
    for judge, grades in (("anna", (2, 0, 1, 2, 0, 1)), ("bo", (2, 1, 1, 2, 0, 0))):
        rows = [
            {"query_id": f"q{i}", "query": "Who?", "item": f"d{i}", "grade": grade, "judge": judge}
            for i, grade in enumerate(grades)
        ]
        write_lines(f"{judge}.jsonl", rows)
    Path("docs").mkdir(exist_ok=True)
    Path("docs/faq.md").write_text("The GIL is a lock. " * 8)
    quoted = {"query": "What is the GIL?", "ground_truth": [{"quote": "GIL is a lock"}]}
    Path("quoted.jsonl").write_text(json.dumps(quoted) + "\n")


LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def same(value: Any) -> Any:
    return value


def without_files(value: Any) -> Any:
    """The command fills its files into what it advises to type."""
    short = re.sub(r"`calipers (\w+)[^`]*`", r"\1", json.dumps(value))
    return json.loads(short)


@dataclass(frozen=True)
class Sample:
    """What an operation returns, and the arguments of its command.

    Each of the two runs in a folder of its own with the same files.
    """

    call: Callable[[], Any]
    arguments: tuple[str, ...]
    """``{folder}`` in them is the folder that they are used in."""
    part: str | None = None
    """The part of the printed JSON that is the operation's, where a command prints more."""
    prepare: Callable[[], None] = write_files
    comparable: Callable[[Any], Any] = same
    """Without what differs between two calls, such as times."""
    left: Callable[[], Any] = lambda: None
    """What is there afterwards: the file that was written, what the history holds."""

    def plain(self, found: Any) -> Any:
        """What was returned as plain values."""
        found = baseline_dict(found) if isinstance(found, Baseline) else found
        return json.loads(json.dumps(found.to_dict() if hasattr(found, "to_dict") else found))


def without(*names: str) -> Callable[[Any], Any]:
    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(one) for key, one in value.items() if key not in names}
        return [strip(one) for one in value] if isinstance(value, list) else value

    return strip


def drafted(file: str, k: int) -> Any:
    found = calipers.labels_draft(file, k=k)
    found.write("draft.csv")
    return found


def write_pool() -> None:
    """A pool with a label in it, and a file with labels of somebody else."""
    write_files()
    for name in ("history.db", "gt.jsonl"):
        Path(name).unlink(missing_ok=True)
    desk = calipers.labels_pool(
        "pool",
        ["evals.jsonl", "turned.jsonl"],
        ground_truth="evals.jsonl",
        judges=["anna"],
        store="history.db",
    )
    desk.give("anna", 0, 3)
    label = desk.items[1].label
    row = {"query_id": label.query_id, "item": label.item, "grade": 2, "judge": "ben"}
    Path("ben.jsonl").write_text(json.dumps(row) + "\n")


def write_sample() -> None:
    """A history with a sample that was drawn of thirty questions."""
    write_pool()
    run = {f"Who is {i} ?": ["a", "b"] for i in range(30)}
    machine = {query: ["a"] if i % 3 else ["b"] for i, query in enumerate(run)}
    calipers.labels_sample(
        {"run": run},
        ground_truth=machine,
        metric="mrr",
        until=0.4,
        pool="drawn",
        store="history.db",
    )


def write_documents() -> None:
    """A folder of documents."""
    write_files()
    Path("docs").mkdir()
    for n in range(6):
        text = f"# Keep part {n} warm\n\nPart {n} stays warm while its lid is on and closed.\n"
        Path(f"docs/part{n}.md").write_text(text)


def write_made() -> None:
    """The questions of a folder of documents."""
    write_documents()
    Path("questions.jsonl").unlink(missing_ok=True)
    calipers.first_questions("docs", questions=4).write()


SAMPLES: dict[str, Sample] = {
    "first_questions": Sample(
        lambda: calipers.first_questions("docs", questions=4),
        ("docs", "--questions", "4", "--json"),
        prepare=write_documents,
        comparable=without("sentences"),
    ),
    "labels_check": Sample(
        lambda: calipers.labels_check("questions.jsonl", most=3),
        ("questions.jsonl", "-n", "3", "--json"),
        prepare=write_made,
    ),
    "evaluate": Sample(lambda: calipers.evaluate("evals.jsonl"), ("evals.jsonl", "--json")),
    "slices": Sample(
        lambda: calipers.slices(calipers.evaluate("evals.jsonl"), "type"),
        ("evals.jsonl", "--by", "type", "--json"),
        part="slices",
    ),
    "levels": Sample(
        lambda: calipers.levels("evals.jsonl", at="evidence,chunk"),
        ("evals.jsonl", "--level", "evidence,chunk", "--json"),
    ),
    "sweep": Sample(lambda: calipers.sweep("evals.jsonl"), ("evals.jsonl", "--json")),
    "grow": Sample(
        lambda: calipers.grow("scored.jsonl", times=[0.5, 2], k=[2, 3], by=["type"]),
        ("scored.jsonl", "--times", "0.5,2", "-k", "2,3", "--by", "type", "--json"),
    ),
    "diagnose": Sample(
        lambda: calipers.diagnose("evals.jsonl"),
        ("evals.jsonl", "--json"),
        comparable=without_files,
    ),
    "misses": Sample(
        lambda: calipers.misses("evals.jsonl", k=3, corpus="chunks.jsonl"),
        ("evals.jsonl", "-k", "3", "--corpus", "chunks.jsonl", "--json"),
    ),
    "metrics": Sample(lambda: calipers.metrics(), ("--json",), part="metrics"),
    "compare": Sample(
        lambda: calipers.compare(["evals.jsonl", "turned.jsonl"]),
        ("evals.jsonl", "turned.jsonl", "--json"),
    ),
    "diff": Sample(
        lambda: calipers.diff("evals.jsonl", "turned.jsonl", k=3),
        ("evals.jsonl", "turned.jsonl", "-k", "3", "--changes", "--json"),
    ),
    "labels_traces": Sample(
        lambda: calipers.labels_traces(TRACES, n=2),
        ("--from-traces", TRACES, "-n", "2", "--json"),
    ),
    "calls": Sample(lambda: calipers.calls("agent.jsonl"), ("agent.jsonl", "--calls", "--json")),
    "floor": Sample(
        lambda: calipers.floor("scored.jsonl", k=3),
        ("scored.jsonl", "--floor", "-k", "3", "--json"),
    ),
    "fuse": Sample(
        lambda: calipers.fuse(["evals.jsonl", "turned.jsonl"], k=3),
        ("evals.jsonl", "turned.jsonl", "-k", "3", "--json"),
    ),
    "plan": Sample(
        lambda: calipers.plan(["evals.jsonl", "turned.jsonl"], difference=0.1, primary="mrr"),
        ("evals.jsonl", "turned.jsonl", "--difference", "0.1", "--primary", "mrr", "--json"),
    ),
    "corrected": Sample(
        lambda: calipers.corrected(
            "evals.jsonl", people="people.jsonl", sampled="at-random", k=[1, 3, 5]
        ),
        (
            *("evals.jsonl", "-k", "1,3,5", "--corrected-by", "people.jsonl"),
            *("--sampled", "at-random", "--json"),
        ),
        part="corrected",
        prepare=write_people,
    ),
    "seal": Sample(
        lambda: calipers.seal("evals.jsonl", share=0.6),
        ("evals.jsonl", "--share", "0.6", "--json"),
        left=lambda: Path("evals.sealed.jsonl").read_text(),
    ),
    "confirm": Sample(
        lambda: calipers.confirm("evals.jsonl", "turned.jsonl", sealed="evals.sealed.jsonl"),
        ("evals.jsonl", "turned.jsonl", "--sealed", "evals.sealed.jsonl", "--json"),
        prepare=write_sealed,
        comparable=without("time"),
    ),
    "gate": Sample(
        lambda: calipers.gate("evals.jsonl", require="recall@5 >= 0.1"),
        ("evals.jsonl", "--require", "recall@5 >= 0.1", "--json"),
    ),
    "gate_save": Sample(
        lambda: calipers.gate_save("evals.jsonl", to="out.json", metrics="mrr"),
        ("evals.jsonl", "-m", "mrr", "-o", "out.json", "--json"),
        comparable=without("saved"),
        left=lambda: json.loads(Path("out.json").read_text()),
    ),
    "report": Sample(
        lambda: calipers.report("evals.jsonl", k=[1, 3]).save("report.html"),
        ("evals.jsonl", "-k", "1,3", "--html", "report.html"),
        # A command knows the names of the files, and completes what it advises.
        left=lambda: Path("report.html").read_text().replace(" evals.jsonl<", "<"),
    ),
    "save": Sample(
        save_tonight,
        ("evals.jsonl", "--save", "tonight", "--store", "history.db"),
        comparable=without("id", "saved", "sentences"),
        left=lambda: calipers.history_show("@tonight", store="history.db").to_dict(),
    ),
    "history_show": Sample(
        lambda: calipers.history_show("@nightly~1", store="history.db"),
        ("@nightly~1", "--store", "history.db", "--json"),
        prepare=write_saved,
        comparable=without("id", "sentences"),
    ),
    "history": Sample(
        lambda: calipers.history("nightly", store="history.db"),
        ("nightly", "--store", "history.db", "--json"),
        prepare=write_saved,
        comparable=without("id", "store", "sentences"),
    ),
    "history_trend": Sample(
        lambda: calipers.history_trend("nightly", metrics="mrr", store="history.db"),
        ("nightly", "-m", "mrr", "--store", "history.db", "--json"),
        prepare=write_saved,
        comparable=without("id", "evaluations", "best", "next", "sentences"),
    ),
    "history_alarm": Sample(
        lambda: calipers.history_alarm(
            "nightly", metrics="recall@3", every="9999w", store="history.db"
        ),
        ("nightly", "-m", "recall@3", "--every", "9999w", "--store", "history.db", "--json"),
        prepare=write_many_saved,
        comparable=without("id", "evaluations", "best", "next", "sentences"),
    ),
    "labels_list": Sample(
        lambda: calipers.labels_list("history.db"),
        ("--list", "--store", "history.db", "--json"),
        prepare=write_pool,
        comparable=without("created"),
    ),
    "labels_sample": Sample(
        lambda: calipers.labels_sample(pool="drawn", store="history.db"),
        ("--pool", "drawn", "--store", "history.db", "--json"),
        prepare=write_sample,
    ),
    "labels_export": Sample(
        lambda: calipers.labels_export("pool", "gt.jsonl", store="history.db"),
        ("pool", "-o", "gt.jsonl", "--store", "history.db", "--json"),
        prepare=write_pool,
        comparable=without("last"),
    ),
    "labels_import": Sample(
        lambda: calipers.labels_import("pool", "ben.jsonl", store="history.db"),
        ("pool", "ben.jsonl", "--store", "history.db", "--json"),
        prepare=write_pool,
    ),
    "audit": Sample(
        lambda: calipers.audit("evals.jsonl", corpus="chunks.jsonl"),
        ("evals.jsonl", "--corpus", "chunks.jsonl", "--json"),
    ),
    "resolve": Sample(
        lambda: calipers.resolve("quoted.jsonl", "docs"),
        ("quoted.jsonl", "--resolve", "docs", "--json"),
        prepare=write_labels,
    ),
    "labels_draft": Sample(
        lambda: drafted("evals.jsonl", k=2),
        ("evals.jsonl", "-k", "2", "-o", "draft.csv", "--json"),
        left=lambda: Path("draft.csv").read_text(),
    ),
    "convert": Sample(
        lambda: calipers.convert("evals.jsonl", "out.qrels"),
        ("evals.jsonl", "out.qrels", "--json"),
        left=lambda: {path.name: path.read_text() for path in Path().glob("out*")},
    ),
}
"""By the name of the operation."""
