"""Files of every known form in many shapes: the form that is recognised is theirs, or none is."""

import csv
import gzip
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.registry import recognise
from calipers.names import words_in

FIXTURES = Path(__file__).parents[2] / "data" / "formats"
CASES = 1_500
WORDS = words_in(
    "how do lists grow what is the lock of threads 17 3.5 who Größe 東京 a-b x_1 it's (not) "
    "really? 2024 #1 1e5 Q0 0 - query item rank"
)
NOTHING = "records"
"""Records without results and without a ground truth: whoever measures them is told so."""
ROLES: dict[str, Any] = {
    "mapping": "run",
    "msmarco_run": "run",
    "three_columns": "ground_truth",
    "kilt": "ground_truth",
    "colbert_run": "run",
}
Make = Callable[[random.Random], bytes]


def words(rng: random.Random, most: int = 9) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, most))).lstrip("#-")


def word(rng: random.Random) -> str:
    return rng.choice(("d", "doc-", "a#", "")) + str(rng.randint(1, 999))


def rows_of(path: Path) -> list[dict[str, Any]] | None:
    """The rows of a fixture; None where it is one object."""
    text = path.read_text()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if path.suffix in (".csv", ".tsv"):
        return list(
            csv.DictReader(io.StringIO(text), delimiter="," if "csv" in path.name else "\t")
        )
    whole = json.loads(text)
    return whole if isinstance(whole, list) else None


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same object with its fields in another order."""
    if not isinstance(value, dict):
        return value
    keys = list(value)
    rng.shuffle(keys)
    return {key: value[key] for key in keys}


def asked_anew(row: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The row with another question, so that no text of a fixture is what is recognised."""
    asked = {"query", "question", "user_input", "input"} & row.keys()
    return {
        **row,
        **{key: words(rng) + "?" for key in asked if isinstance(row[key], str)},
        **({"my_note": words(rng)} if rng.random() < 0.2 else {}),
    }


def as_json(rows: list[dict[str, Any]], rng: random.Random) -> bytes:
    ascii_only, indent = rng.random() < 0.5, rng.choice((None, None, 2))
    if rng.random() < 0.5:
        return "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows).encode()
    return json.dumps(rows, ensure_ascii=ascii_only, indent=indent).encode()


def as_text(rows: list[dict[str, Any]], rng: random.Random) -> bytes:
    names = list(rows[0])
    separator = rng.choice(",;\t|")
    quoting: Any = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, quoting=quoting, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        cells = (row.get(name) for name in names)
        writer.writerow([one if isinstance(one, str) else json.dumps(one) for one in cells])
    return text.getvalue().encode()


def of_rows(rows: list[dict[str, Any]], is_table: bool) -> Make:
    def make(rng: random.Random) -> bytes:
        some = rng.sample(rows, rng.randint(1, len(rows)))
        order = shuffled(some[0], rng)
        made = [{key: row[key] for key in (*order, *row) if key in row} for row in some]
        made = [asked_anew(row, rng) for row in made]
        if is_table:
            made = [{key: row.get(key, "") for key in made[0]} for row in made]
            return as_text(made, rng)
        return as_json(made, rng)

    return make


def of_object(whole: dict[str, Any]) -> Make:
    return lambda rng: json.dumps(shuffled(whole, rng), indent=rng.choice((None, 2))).encode()


def lines(rng: random.Random, columns: Callable[[int], list[str]]) -> bytes:
    blank = rng.choice((" ", "\t", "  "))
    comment = "# made by somebody\n" if rng.random() < 0.1 else ""
    made = (blank.join(columns(number)) for number in range(rng.randint(1, 60)))
    return (comment + "\n".join(made) + rng.choice(("", "\n"))).encode()


def trec_run(rng: random.Random) -> bytes:
    mark = rng.choice(("Q0", "0", "q0"))
    return lines(
        rng, lambda n: [f"q{n // 9}", mark, f"{word(rng)}.{n}", str(n), f"{rng.gauss(0, 9)}", "tag"]
    )


def trec_judgements(rng: random.Random) -> bytes:
    mark = rng.choice(("Q0", "0"))
    return lines(rng, lambda n: [str(n // 9), mark, f"{word(rng)}.{n}", str(rng.randint(-1, 4))])


def msmarco_run(rng: random.Random) -> bytes:
    return lines(rng, lambda n: [str(n // 9), f"{word(rng)}.{n}", str(n % 9 + 1)])


def colbert_run(rng: random.Random) -> bytes:
    # One line alone is a judgement.
    first = rng.randint(1, 99)
    rows = (f"7\t{first}.{n}\t{n}\t{30 - n / 3}\n" for n in range(1, rng.randint(3, 60)))
    return "".join(rows).encode()


def three_columns(rng: random.Random) -> bytes:
    return lines(rng, lambda n: [str(n // 9), f"{word(rng)}.{n}", rng.choice("01")])


def mapping(rng: random.Random) -> bytes:
    return json.dumps(
        {f"q{i}": {word(rng): rng.random() for _ in range(3)} for i in range(rng.randint(1, 9))}
    ).encode()


def prose(rng: random.Random) -> bytes:
    """What is no form at all: texts, topics, tables without a header."""
    divider = rng.choice((" ", "\t", ": ", ", "))
    made = (f"{rng.randint(1, 999)}{divider}{words(rng, 12)} so" for _ in range(rng.randint(3, 20)))
    return "\n".join(made).encode()


def makers() -> dict[str, Make]:
    found: dict[str, Make] = {
        "trec_run": trec_run,
        "trec_judgements": trec_judgements,
        "msmarco_run": msmarco_run,
        "colbert_run": colbert_run,
        "three_columns": three_columns,
        "mapping": mapping,
        "": prose,
    }
    for path in FIXTURES.iterdir():
        name = path.name.split(".")[0]
        if path.is_dir() or name in found or name == "deepeval_camel":
            continue
        rows = rows_of(path)
        is_table = path.suffix in (".csv", ".tsv")
        found[name] = (
            of_object(json.loads(path.read_text())) if rows is None else of_rows(rows, is_table)
        )
    return found


def wrapped(content: bytes, rng: random.Random) -> bytes:
    """With a byte order mark, Windows line ends, packed, or as it is."""
    if rng.random() < 0.2:
        content = content.replace(b"\n", b"\r\n")
    if rng.random() < 0.2:
        content = b"\xef\xbb\xbf" + content
    return gzip.compress(content, 1) if rng.random() < 0.1 else content


def held(content: bytes) -> Source:
    """A file whose content is in memory already, as that of a pipe is: no disk is waited for."""
    source = Source(Path("data"))
    vars(source)["_held"] = content
    return source


def test_a_file_is_recognised_as_what_it_is_or_not_at_all():
    rng = random.Random(7)
    made = makers()
    known: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for number in range(CASES):
        name = list(made)[number % len(made)]
        content = made[name](rng)
        tried[name] += 1
        role = ROLES.get(name, "both")
        try:
            found = recognise(Probe(held(wrapped(content, rng))), role).name
        except InvalidInput:
            continue
        if found != NOTHING:
            assert found == name, content[:300]
        known[name] += found == name
    assert sum(tried.values()) == CASES
    for name in made:
        if name:
            assert known[name] > 0.7 * tried[name], (name, known[name], tried[name])
