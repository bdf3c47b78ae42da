"""Put deliberate faults into the rules of advice, one at a time, and see whether tests notice.

A wrong number is found by comparison with other tools; wrong advice looks like any other sentence.
So each fault here is one that would do harm, such as a loss that passes the gate. It goes into a
copy of the source; the tests of its rule must then fail. Run it from the root of the repository,
with parts of names to try only some:

    make faults ARGS=gate
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.fault_list import RULES

SOURCE = Path("src/calipers")
FAILED = 1
"""The exit code of pytest where tests failed; any other says that they could not be run."""

# The first example that fails is enough: finding the smallest one takes minutes.
PLUGIN = """
from hypothesis import Phase, settings

def pytest_configure():
    settings.register_profile(
        "faults", deadline=None, derandomize=True, database=None, max_examples=60,
        phases=(Phase.explicit, Phase.generate),
    )
    settings.load_profile("faults")
"""


@dataclass(frozen=True)
class Fault:
    """One text of the source, another in its place, and the tests that must notice."""

    rule: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    by: str
    """Those of the tests that must notice, by name; all of them where none is named."""

    @contextmanager
    def inside(self, package: Path) -> Iterator[None]:
        """While the fault is in a copy of the package."""
        path = package / self.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")
        yield
        path.write_text(text, encoding="utf-8")


def faults() -> Iterator[Fault]:
    """Every fault, rule by rule."""
    for rule, (tests, several) in RULES.items():
        for name, file, old, new, by in several:
            yield Fault(rule, name, file, old, new, tests, by)


def stale(several: Sequence[Fault], root: Path = Path()) -> list[str]:
    """A line for each fault whose text does not stand in its file once, or whose test is gone."""
    lines = []
    for fault in several:
        path = root / SOURCE / fault.file
        found = path.read_text(encoding="utf-8").count(fault.old) if path.is_file() else 0
        if found != 1 or fault.old == fault.new:
            lines.append(f"{fault.name}: its text stands {found} times in {fault.file}, not once")
        written = "".join(
            path.read_text(encoding="utf-8") for path in map(root.joinpath, fault.tests)
        )
        for test in fault.by.split():
            if f"def {test}(" not in written:
                lines.append(f"{fault.name}: there is no {test} in {', '.join(fault.tests)}")
    return lines


def copied(folder: Path) -> Path:
    """A copy of the package, and beside it what makes tests stop at the first example."""
    (folder / "without_shrinking.py").write_text(PLUGIN, encoding="utf-8")
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(SOURCE, folder / "src" / "calipers", ignore=ignored))


def caught(fault: Fault, package: Path) -> tuple[bool, str]:
    """Whether the tests of its rule fail with the fault in a copy of the source, and which one."""
    source, folder = package.parent, package.parents[1]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=line"]
    command += ["-p", "no:cacheprovider", "-p", "without_shrinking", "-o", f"pythonpath={source} ."]
    command += ["-k", " or ".join(fault.by.split())] if fault.by else []
    with fault.inside(package):
        done = subprocess.run(
            [*command, *fault.tests],
            env={**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{folder}"},
            capture_output=True,
            text=True,
            check=False,
        )
    told = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    first = (told or done.stdout.splitlines() or done.stderr.splitlines() or [""])[0]
    return done.returncode == FAILED, first


def main(wanted: Sequence[str]) -> int:
    """0 where every fault is caught."""
    chosen = [
        fault
        for fault in faults()
        if not wanted or any(word in f"{fault.rule}: {fault.name}" for word in wanted)
    ]
    lines = stale(chosen)
    print(*lines, sep="\n", end="\n" if lines else "")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        package = copied(Path(folder))
        for fault in chosen if not lines else ():
            noticed, first = caught(fault, package)
            missed += not noticed
            print(f"{'caught' if noticed else 'MISSED'}  {fault.rule}: {fault.name}", flush=True)
            print(f"        {first[:120]}", flush=True)
    if not lines:
        print(f"{len(chosen) - missed} of {len(chosen)} faults were caught.")
    return 1 if lines or missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
