"""`python -m fuzz`: make cases, carry them out, print what was found."""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import msgspec

from fuzz.calls import call_case, method_case, operations_by_name
from fuzz.case import Case, Finding
from fuzz.commands import (
    dash_case,
    device_case,
    file_case,
    leaves,
    live_case,
    option_case,
    seed_case,
    shadow_case,
    stream_case,
    typed_case,
)
from fuzz.run import STREAMS, carry_out
from fuzz.seeds import Seeds, read_seeds, write_seeds
from fuzz.stores import attack

BATCH = 1000
MOST_TRIES = 30
"""Of making a case smaller."""
LOADED = ("calipers.operations", "rich.console", "rich.table", "sqlalchemy", "msgspec")
PAST = Path(__file__).parent / "past.jsonl"
"""Every fault that was ever found, replayed in every test run."""


def past_cases() -> list[Case]:
    """The corpus of past findings."""
    lines = PAST.read_bytes().splitlines()
    return [Case.from_dict(msgspec.json.decode(line)) for line in lines]


def make_cases(seeds: Seeds, seed: int) -> Iterator[Case]:
    """Cases without end, the same for the same seed; the first are one of each kind."""
    random = Random(seed)  # noqa: S311 - nothing is kept secret by it
    commands, operations = list(leaves()), operations_by_name()
    kinds: dict[Callable[[], Case], float] = {
        lambda: file_case(seeds, random): 0.35,
        lambda: option_case(commands, seeds, random): 0.15,
        lambda: call_case(operations, seeds, random): 0.15,
        lambda: method_case(operations, seeds, random): 0.1,
        lambda: typed_case(seeds, random): 0.1,
        lambda: live_case(seeds, random): 0.1,
        lambda: stream_case(seeds, random): 0.1,
        lambda: dash_case(commands, seeds, random): 0.05,
        lambda: device_case(seeds, random): 0.05,
        lambda: seed_case(commands, seeds, random): 0.03,
        lambda: shadow_case(seeds, random): 0.005,
    }
    yield from (make() for make in kinds)
    yield from (replace(stream_case(seeds, random), kind=kind) for kind in STREAMS)
    while True:
        yield random.choices(list(kinds), list(kinds.values()))[0]()


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; 1 where anything was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="so many processes at a time")
    parser.add_argument("--skip", type=int, default=0, help="go on after so many of these cases")
    parser.add_argument("--past", action="store_true", help="replay past findings alone")
    parser.add_argument("--keep", action="store_true", help="add what is found to past.jsonl")
    parser.add_argument("--stores", type=int, metavar="N", help="damage N copies of a history")
    given = parser.parse_args(arguments)
    started = time.monotonic()
    # Past findings bring their files with them.
    seeds = Seeds({}, {}, {}) if given.past else _fresh_seeds()
    if given.stores:
        return _attack_stores(seeds.common["history.db"], given.stores, given.seed)
    _load_all()
    every = iter(past_cases()) if given.past else make_cases(seeds, given.seed)
    cases = islice(every, given.skip, None if given.past else given.cases)
    found, kinds = _shared(cases, given.jobs, keep=given.keep)
    total = kinds.total()
    spent = time.monotonic() - started
    counted = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    print(f"{total:,} cases ({counted}) in {spent:.0f} s, seed {given.seed}: {found} findings.")
    return 1 if found else 0


def _fresh_seeds() -> Seeds:
    with tempfile.TemporaryDirectory(prefix="calipers-seeds-") as folder:
        # The table library starts threads, which a fork does not take along: this process never
        # loads it.
        writing = multiprocessing.get_context("spawn").Process(
            target=write_seeds, args=(Path(folder) / "seeds",)
        )
        writing.start()
        writing.join()
        if writing.exitcode:
            raise SystemExit(2)
        return read_seeds(Path(folder) / "seeds")


def _attack_stores(content: bytes, number: int, seed: int) -> int:
    with tempfile.TemporaryDirectory(prefix="calipers-stores-") as folder:
        counts, findings = attack(content, number, seed, Path(folder))
    for one in findings:
        print(one)
    counted = ", ".join(f"{count:,} × {what}" for what, count in sorted(counts.items()))
    print(f"{number:,} damaged histories ({counted}), seed {seed}: {len(findings)} findings.")
    return 1 if findings else 0


def _load_all() -> None:
    """Load what every case needs once, before the forks; but nothing that starts threads."""
    for name in LOADED:
        import_module(name)
    if "polars" in sys.modules:
        raise SystemExit("The table library is loaded before the forks, which would hang in it.")


def _shared(cases: Iterator[Case], jobs: int, *, keep: bool) -> tuple[int, Counter[str]]:
    """The campaign, by so many processes: each makes all cases, and carries out its batches."""
    forking = multiprocessing.get_context("fork")
    ends = []
    for job in range(jobs):
        reading, writing = forking.Pipe(duplex=False)
        given = (cases, slice(job, None, jobs), writing, keep)
        forking.Process(target=_campaign, args=given).start()
        writing.close()  # so that a process that ends without an answer is no wait for ever
        ends.append(reading)
    found: set[str] = set()
    kinds: Counter[str] = Counter()
    for end in ends:
        seen, counted = end.recv()
        found |= seen
        kinds += counted
    return len(found), kinds


def _campaign(cases: Iterator[Case], which: slice, answer: Connection, keep: bool) -> None:
    every = iter(lambda: list(islice(cases, BATCH)), [])
    kinds: Counter[str] = Counter()
    seen: set[str] = set()
    for number, batch in enumerate(islice(every, which.start, None, which.step), 1):
        for case, finding in zip(batch, carry_out(batch), strict=True):
            kinds[case.kind] += 1
            if finding is not None and finding.what not in seen and _is_so(finding):
                seen.add(finding.what)
                words = finding.case.call or " ".join(finding.case.command)
                print(f"{finding.what}: {words:.200}", file=sys.stderr, flush=True)
                _print(_smallest(finding), keep=keep)
        print(f"{number * BATCH:,} cases, {len(seen)} findings", file=sys.stderr, flush=True)
    answer.send((seen, kinds))


def _is_so(finding: Finding) -> bool:
    """Whether a hang is one when the case is carried out again alone: the machine may be busy."""
    return "hang" not in finding.what or next(iter(carry_out([finding.case]))) is not None


def _print(finding: Finding, *, keep: bool) -> None:
    print(f"\n== {finding.what}\n{finding.case.shown()}\n{finding.details}", flush=True)
    if keep:
        with PAST.open("ab") as file:
            file.write(msgspec.json.encode(finding.case.to_dict()) + b"\n")


def _smallest(finding: Finding, left: int = MOST_TRIES) -> Finding:
    """The finding with fewer words, fewer files and fewer bytes, where it stays the same."""
    if "hang" in finding.what:
        return finding  # each try would take as long again
    for case in _smaller(finding.case):
        (found,) = carry_out([case])
        left -= 1
        if found is not None and found.what == finding.what:
            return _smallest(found, left)
        if left <= 0:
            break
    return finding


def _smaller(case: Case) -> Iterator[Case]:
    for at in range(len(case.files)):
        yield replace(case, files=case.files[:at] + case.files[at + 1 :])
    for at in range(1, len(case.command)):
        yield replace(case, command=case.command[:at] + case.command[at + 1 :])
    for at, (name, content) in enumerate(case.files):
        for shorter in _shorter(content):
            files = (*case.files[:at], (name, shorter), *case.files[at + 1 :])
            yield replace(case, files=files)


def _shorter(content: bytes) -> Iterator[bytes]:
    size = len(content) // 2
    while size:
        for start in range(0, len(content), size):
            yield content[:start] + content[start + size :]
            if start // size > 8:
                break
        size //= 2


if __name__ == "__main__":
    sys.exit(main())
