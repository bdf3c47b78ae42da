"""Command lines: every command and option from click's own tree, with values good and bad."""

import gzip
import shlex
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import click

from calipers.cli import every_command
from calipers.cli.output import OUTPUTS
from fuzz.case import Case
from fuzz.mutate import mutated
from fuzz.run import PIPE, STREAMS
from fuzz.seeds import Seeds

LEFT_OUT = ("mcp", "web", "serve")
"""Commands that run until somebody stops them."""
LEFT_OUT_OPTIONS = ("help", "version")
MODEL = "--endpoint http://127.0.0.1:9/v1 --model m --retries 0"
USUAL: dict[str, str] = {
    "compare": "evals.jsonl turned.jsonl",
    "convert": "evals.jsonl out.json",
    "labels export": "anna.jsonl bo.jsonl",
    "history alarm": "nightly --store history.db",
    "gate save": "evals.jsonl -o out.json",
    "gate show": "main.json",
    "labels draft": "evals.jsonl -o out.csv",
    "gate": "evals.jsonl --require 'recall@3 >= 0.1' --baseline main.json",
    "history": "--store history.db",
    "labels judge": f"anna.jsonl -o out.jsonl {MODEL}",
    "metrics": "",
    "explain": "'question number 3' --retriever search.py:search -g evals.jsonl",
    "retrieve": "search.py:search evals.jsonl -o out.jsonl",
    "history show": "@nightly --store history.db",
    "history trend": "nightly --store history.db",
}
"""What a command needs to do something; one that is not here is given the records alone."""
_WORDS = """
- x -1 0 1 3 1,3 5,5 0.5 1e9 1e400 nan inf 99999999999999999999 recall@3 recall@0 recall@1e3
ndcg@10(gain=exp) mrr, recall@3=0.5 a=b = type length all evidence,document quote(min=0.8)
quote(min=2) id span evals.jsonl turned.jsonl chunks.jsonl calipers.toml main.json no.jsonl
no/such/file.jsonl . /dev/null /dev/full @nightly @nightly~1 @nightly~99 @no @ ~nouser/x
search.py:search search.py:no no.module:f builtins:int builtins:len sys:exit >= 30d 2026-01-01
9999999d yesterday z*.csv [1].csv out.csv out.json out.html out.md out.parquet out.svg out.xyz
out.jsonl.gz json csv ours trec ragas
"""
TEXTS = (
    *_WORDS.split(),
    "",
    " ",
    "x" * 300,
    "recall@3 >= 0.1",
    "recall@3 >= x",
    "\u202e",
    "\x1b[31m",
    "\ud800",
    "a\nb",
    "7" * 5000,
)
READERS: tuple[str, ...] = (
    "eval {file}",
    "eval {file}",
    "eval -g {file} -r {file}",
    "eval -g evals.jsonl -r {file}",
    "eval -r evals.jsonl -g {file}",
    "convert {file} out.jsonl",
    "convert {file} out.parquet",
    "convert {file} out.csv",
    "convert -g {file} out.qrels",
    "convert -r {file} out.run",
    "audit {file}",
    "misses {file} -k 2",
    "sweep {file}",
    "diagnose {file}",
    "compare {file} evals.jsonl",
    "eval {file} --json",
    "eval evals.jsonl --corpus {file} --markdown out.md",
    "labels draft {file} -o out.csv",
    "labels export {file} bo.jsonl",
    "retrieve search.py:search {file} -o out.jsonl",
    "convert {file} --resolve chunks.jsonl",
    "gate {file} --require 'mrr >= 0'",
    "compare {file} turned.jsonl",
    "sweep {file} --floor",
    "labels draft --from-traces {file}",
    "plan {file}",
    "eval {file} --calls",
    "misses evals.jsonl --exact {file}",
    "misses evals.jsonl --candidates {file}",
    "labels import pool {file} --store history.db",
    "eval {file} --per-query out.csv --match quote",
    "eval {file} --html out.html",
    "compare turned.jsonl {file} --json",
    "eval {file} --chart out.json",
    "init {file} --endpoint http://127.0.0.1:9/v1 --model m --yes",
)
"""Commands that read a file of any form."""
OWN: dict[str, tuple[str, ...]] = {
    "history.db": (
        "history --store history.db",
        "history show @nightly --store history.db",
        "history trend nightly --store history.db",
        "history alarm nightly --store history.db",
        "compare @nightly '@nightly~1' --store history.db",
        "labels export --list --store history.db",
        "labels export pool -o out.jsonl --store history.db",
        "eval evals.jsonl --save nightly --store history.db",
    ),
    "main.json": (
        "compare main.json evals.jsonl",
        "gate evals.jsonl --baseline main.json",
    ),
    "calipers.toml": (
        "gate evals.jsonl --config calipers.toml",
        "eval evals.jsonl",
        "grid calipers.toml",
    ),
    "anna.jsonl": (
        "labels export anna.jsonl bo.jsonl",
        "labels import pool anna.jsonl --store history.db",
    ),
    "grid.toml": ("grid grid.toml",),
    "map.csv": ("eval evals.jsonl --map-ids map.csv",),
    "run.jsonl": ("retrieve search.py:search evals.jsonl -k 3 -o run.jsonl --retry-errors",),
    "run.jsonl.meta.json": ("retrieve search.py:search evals.jsonl -k 3 -o run.jsonl",),
    "chunks.jsonl": ("misses evals.jsonl -k 2 --corpus chunks.jsonl",),
}
"""Files of one use, with the commands that read them."""


HOSTILE = Path(__file__).with_name("hostile.py")
NAMES = ("endless", "raising", "leaving", "deep", "changing", *(f"answer{i}" for i in range(42)))
ANSWERS = (
    b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n["d1"]   ',
    b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"hits": [{"id": "d1", "score": 0.5}]}',
    b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
    b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n["d1"]\r\n0\r\n\r\n',
    b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
)
_FORMS = "ours json jsonl csv tsv parquet trec qrels run beir ragas llama_index x"
ENDINGS = (".jsonl", ".json", ".csv", ".html", ".md", ".parquet", ".qrels", ".run", ".db", ".toml")
_SEEDS = "-1 -9223372036854775809 4294967296 18446744073709551616 1e9 0x10 007 1_000 nan true"
ODD_SEEDS = (*_SEEDS.split(), "9" * 40, "\u0663", " 7", "-0")
_SHADOWS = """
html rich json click numpy polars random statistics msgspec sqlite3 csv inspect secrets calipers
asyncio httpx jinja2 types string ssl site uuid decimal tomllib
"""
ASKERS = (
    "retrieve {retriever} evals.jsonl -k 3 -o out.jsonl --timeout 1 --retries 0",
    "eval evals.jsonl --retriever {retriever}",
    "explain 'question number 3' --retriever {retriever} -g evals.jsonl",
)


def reading(command: str, file: str = "") -> tuple[str, ...]:
    """The words of a command line that reads the file."""
    return tuple(word.replace("{file}", file) for word in shlex.split(command))


def live_case(seeds: Seeds, random: Random) -> Case:
    """A function or a server that does not answer as it should."""
    files = {**seeds.common, "hostile.py": HOSTILE.read_bytes()}
    retriever = f"hostile.py:{random.choice(NAMES)}"
    if random.random() < 0.5:
        # What the server says is a file of the case, and its port is known when it is asked.
        files["answer.http"] = mutated(random.choice(ANSWERS), random)
        retriever = "http://127.0.0.1:PORT/search?q={query}&k={k}"
    words = tuple(shlex.split(random.choice(ASKERS).replace("{retriever}", f"'{retriever}'")))
    return Case("live", words, files=tuple(files.items()))


def typed_case(seeds: Seeds, random: Random) -> Case:
    """A table of Arrow or Parquet whose columns have types that nobody expects."""
    name = random.choice(list(seeds.typed))
    content = seeds.typed[name]
    if random.random() < 0.3:
        content = mutated(content, random)
    words = reading(random.choice(READERS), name)
    return Case("typed", words, files=tuple({**seeds.common, name: content}.items()))


def stream_case(seeds: Seeds, random: Random) -> Case:
    """A command whose output or errors go to a full disk, to a reader that left, or nowhere."""
    own = random.choice((*READERS, *OWN["history.db"], *OWN["main.json"], "nothing"))
    more = random.choice(((), ("--json",), ("--explain",), ("--quiet",), ("--nothing",)))
    words = (*reading(own, "evals.jsonl"), *more)
    return Case(random.choice(list(STREAMS)), words, files=tuple(seeds.common.items()))


def dash_case(commands: list[tuple[str, click.Command]], seeds: Seeds, random: Random) -> Case:
    """A command that writes to standard output: every form of convert, every option of a file."""
    if random.random() < 0.4:
        name = random.choice(("evals.jsonl", *seeds.forms))
        words: tuple[str, ...] = ("convert", name, "-", "--to", random.choice(_FORMS.split()))
        return Case("dash", words, files=tuple({**seeds.common, **seeds.forms}.items()))
    name, option = random.choice(
        [(name, one) for name, some in commands for one in some.params if one.name in OUTPUTS]
    )
    words = tuple(shlex.split(f"{name} {USUAL.get(name, 'evals.jsonl')}"))
    words = words[: words.index("-o")] if "-o" in words else words
    more = random.choice(((), (), ("--json",), ("--quiet",), ("-o", "out.jsonl")))
    named = () if isinstance(option, click.Argument) else (option.opts[0],)
    return Case("dash", (*words, *named, "-", *more), files=tuple(seeds.common.items()))


def device_case(seeds: Seeds, random: Random) -> Case:
    """A command one of whose files is a device or a pipe."""
    every = (*READERS, *(one for some in OWN.values() for one in some), *ASKERS)
    command = random.choice(every).replace("{retriever}", "search.py:search")
    words = list(reading(command, "evals.jsonl"))
    files = [at for at, word in enumerate(words) if word.endswith(ENDINGS)]
    device = random.choice(("/dev/null", "/dev/full", "/dev/zero", "/dev/tty", PIPE, PIPE))
    content = words[at := random.choice(files)] if files else ""
    common = dict(seeds.common)
    if files:
        words[at] = device
    if device == PIPE:
        common[PIPE] = mutated(common.get(content, b""), random)
    return Case("device", tuple(words), files=tuple(common.items()))


def seed_case(commands: list[tuple[str, click.Command]], seeds: Seeds, random: Random) -> Case:
    """A command with a seed that no generator of random numbers takes."""
    takes = [name for name, some in commands if any("--seed" in one.opts for one in some.params)]
    name = random.choice(takes)
    words = shlex.split(f"{name} {USUAL.get(name, 'evals.jsonl')}")
    if name == "sweep" and random.random() < 0.5:
        words.append("--floor")
    given = ("--seed", random.choice(ODD_SEEDS))
    return Case("seed", (*words, *given), files=tuple(seeds.common.items()))


def shadow_case(seeds: Seeds, random: Random) -> Case:
    """A retriever beside a file that is named as a module which Calipers loads."""
    names = random.sample(_SHADOWS.split(), random.choice((1, 1, 2)))
    odd = random.choice((b"", b"raise SystemExit(3)\n", b"1 / 0\n", b"def dumps(): ...\n"))
    command = random.choice(ASKERS).replace("{retriever}", "search.py:search")
    more = random.choice(((), ("--json",), ("--html", "out.html")))
    files = {**seeds.common, **{f"{name}.py": odd for name in names}}
    return Case("shadow", (*shlex.split(command), *more), files=tuple(files.items()))


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by the words that call it."""
    for name, command in every_command().items():
        if name not in LEFT_OUT and not isinstance(command, click.Group):
            yield name, command


def option_case(commands: list[tuple[str, click.Command]], seeds: Seeds, random: Random) -> Case:
    """A command with a few of its options."""
    name, command = random.choice(commands)
    words = shlex.split(f"{name} {USUAL.get(name, 'evals.jsonl')}")
    options = [one for one in command.params if isinstance(one, click.Option)]
    options = [one for one in options if one.name not in LEFT_OUT_OPTIONS]
    for option in random.choices(options, k=random.choice((1, 1, 2, 3))) if options else ():
        words.append(random.choice(option.opts))
        if not option.is_flag:
            words.extend(_value(option.type, random) for _ in range(max(1, option.nargs)))
    if random.random() < 0.1:
        words.insert(random.randint(1, len(words)), random.choice(TEXTS))
    elif random.random() < 0.1 and len(words) > 1:
        del words[random.randrange(1, len(words))]
    return Case(
        "option",
        tuple(word.replace("\x00", "") for word in words),
        files=tuple(seeds.common.items()),
    )


def _value(kind: Any, random: Random) -> str:
    if isinstance(kind, click.Choice) and random.random() < 0.7:
        return str(random.choice(list(kind.choices)))
    return random.choice(TEXTS)


def file_case(seeds: Seeds, random: Random) -> Case:
    """A file that is not quite as it should be, and a command that reads it."""
    common = dict(seeds.common)
    if random.random() < 0.3:
        name = random.choice(list(OWN))
        common[name] = mutated(common[name], random)
        return Case("file", reading(random.choice(OWN[name])), files=tuple(common.items()))
    name = random.choice(list(seeds.forms))
    words = random.choice(READERS)
    content = mutated(seeds.forms[name], random)
    if random.random() < 0.05 and not name.endswith(".gz"):
        name, content = f"{name}.gz", gzip.compress(content, 1, mtime=0)
        if random.random() < 0.5:
            content = mutated(content, random)
    common[name] = content
    return Case("file", reading(words, name), files=tuple(common.items()))
