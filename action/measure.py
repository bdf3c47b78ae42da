"""Run calipers for the GitHub Action: install, measure, judge, write summary, report and baseline.

Everything comes from the environment, never from text pasted into a shell, so that no title of a
branch and no condition can be run as a command. What calipers prints may hold text of a corpus, so
the runner is told to take no line of it as a command. The standard library is enough.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path
from uuid import uuid4

KEPT = Path(".calipers-action") / "baseline.json"
"""Where the baseline of the default branch is restored to, and kept from."""
SUMMARY = Path("calipers-summary.md")
SOURCE, INSTALLED = "source", "installed"


def given(name: str) -> str:
    """An input of the action."""
    return os.environ.get(f"CALIPERS_{name}", "").strip()


def several(name: str) -> list[str]:
    """An input with one value a line."""
    return [line.strip() for line in given(name).splitlines() if line.strip()]


def inputs() -> list[str]:
    """What is measured, as arguments."""
    words = []
    for name, option in (("GROUND_TRUTH", "--ground-truth"), ("RUN", "--run")):
        words += [option, given(name)] if given(name) else []
    for name, option in (("METRICS", "--metrics"), ("CONFIG", "--config")):
        words += [option, given(name)] if given(name) else []
    # Last and behind two dashes: a name that begins with a dash is a name all the same.
    return [*words, "--", given("DATA")] if given("DATA") else words


def run(*words: str) -> int:
    """Run a program whose output goes to the log, where no line of it is a command."""
    resume = uuid4().hex
    print(f"::stop-commands::{resume}", flush=True)
    try:
        print(*words, flush=True)
        return subprocess.run(words, check=False).returncode  # noqa: S603
    finally:
        print(f"::{resume}::", flush=True)


def calipers(*words: str) -> int:
    """Run a command of calipers with the Python that runs this."""
    return run(sys.executable, "-m", "calipers", *words)


def output(**values: str) -> None:
    """Hand values on to the next steps; a value of several lines stays one value."""
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        for name, value in values.items():
            end = uuid4().hex
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


def install() -> None:
    """Make an environment that holds calipers alone, so that nothing of the job's own changes."""
    package = given("PACKAGE") or SOURCE
    if package == INSTALLED:
        output(python=given("PYTHON") or "python")
        return
    place = Path(os.environ["RUNNER_TEMP"]) / f"calipers-{uuid4().hex}"
    venv.create(place)
    windows = place / "Scripts" / "python.exe"
    python = str(windows if windows.is_file() else place / "bin" / "python")
    source = str(Path(__file__).parents[1])
    words = ("install", "--quiet", "--disable-pip-version-check", "--")
    wanted = source if package == SOURCE else package
    code = run(sys.executable, "-m", "pip", "--python", python, *words, wanted)
    output(python=python)
    sys.exit(code)


def baseline_file() -> str:
    """The baseline to compare with: the one that was named, or else the one that was kept."""
    return given("BASELINE") or (str(KEPT) if KEPT.is_file() else "")


def measure() -> None:
    """Judge, or only measure where there is nothing to judge by, and write the summary."""
    SUMMARY.unlink(missing_ok=True)
    judges = given("COMMAND") != "eval"
    words = []
    if judges:
        words += [word for one in several("REQUIRE") for word in ("--require", one)]
        # Needs no baseline: what must be found is judged from the first day.
        words += [word for one in several("MUST") for word in ("--must", one)]
    if judges and baseline_file():
        words += ["--baseline", baseline_file()]
        words += [word for one in several("BY") for word in ("--by", one)]
        words += ["--allow", given("ALLOW")] if given("ALLOW") else []
        words += ["--accept", given("ACCEPT")] if given("ACCEPT") else []
        # A kept baseline moves up by itself; one that was named belongs to whoever named it.
        words += ["--move-up"] if given("MOVES").lower() == "true" and not given("BASELINE") else []
    report = report_file()
    judged = bool(words) or given("COMMAND") == "gate"
    if judged:
        code = calipers("gate", *words, "--markdown", str(SUMMARY), *inputs())
    else:
        code = calipers("eval", "--markdown", str(SUMMARY), *inputs())
    text = SUMMARY.read_text(encoding="utf-8") if SUMMARY.is_file() else failed_summary(code)
    if not judged and code == 0:
        why = "the command is eval" if not judges else "there is no condition and no baseline yet"
        text = f"**Nothing was judged: {why}.**\n\n{text}"
        print(f"::notice title=Calipers::Nothing was judged: {why}.")
    SUMMARY.write_text(text, encoding="utf-8")
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(text)
    output(
        code=str(code),
        passed="true" if code == 0 else "false",
        judged="true" if judged else "false",
        summary=str(SUMMARY),
        report=report,
    )


def report_file() -> str:
    """The HTML report, written; empty where none is wanted or none could be made."""
    path = given("REPORT")
    if not path:
        return ""
    return path if calipers("eval", "--html", path, *inputs()) == 0 else ""


def failed_summary(code: int) -> str:
    """What is said where calipers could not even say why."""
    return f"## ✗ Could not be checked\n\ncalipers ended with {code}; see the log.\n"


def keep_baseline() -> None:
    """Keep the first result as the baseline of the default branch; later the gate moves it."""
    if KEPT.is_file():
        output(saved="true")
        return
    KEPT.parent.mkdir(exist_ok=True)
    code = calipers("gate", "save", "--output", str(KEPT), *inputs())
    output(saved="true" if code == 0 else "false")
    sys.exit(code)


if __name__ == "__main__":
    {"install": install, "baseline": keep_baseline}.get("".join(sys.argv[1:]), measure)()
