"""Run calipers for the GitHub Action: measure, judge, write summary, report and baseline.

Everything comes from the environment, never from text pasted into a shell, so that no title of a
branch and no condition can be run as a command. The standard library is enough.
"""

import os
import subprocess
import sys
from pathlib import Path

KEPT = Path(".calipers-action") / "baseline.json"
"""Where the baseline of the default branch is restored to, and kept from."""
SUMMARY = Path("calipers-summary.md")


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


def calipers(*words: str) -> int:
    """Run a command of calipers, its output going to the log."""
    print("calipers", *words, flush=True)
    return subprocess.run(["calipers", *words], check=False).returncode  # noqa: S603, S607


def output(**values: str) -> None:
    """Hand values on to the next steps."""
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        for name, value in values.items():
            file.write(f"{name}={value}\n")


def baseline_file() -> str:
    """The baseline to compare with: the one that was named, or else the one that was kept."""
    return given("BASELINE") or (str(KEPT) if KEPT.is_file() else "")


def measure() -> None:
    """Judge, or only measure where there is nothing to judge by, and write the summary."""
    SUMMARY.unlink(missing_ok=True)
    judged = given("COMMAND") != "eval"
    words = [word for one in several("REQUIRE") for word in ("--require", one)] if judged else []
    if judged and baseline_file():
        words += ["--baseline", baseline_file()]
        words += [word for one in several("BY") for word in ("--by", one)]
        words += [word for one in several("MUST") for word in ("--must", one)]
        words += ["--allow", given("ALLOW")] if given("ALLOW") else []
        words += ["--accept", given("ACCEPT")] if given("ACCEPT") else []
        # A kept baseline moves up by itself; one that was named belongs to whoever named it.
        words += ["--move-up"] if given("MOVES").lower() == "true" and not given("BASELINE") else []
    report = report_file()
    if words or given("COMMAND") == "gate":
        code = calipers("gate", *words, "--markdown", str(SUMMARY), *inputs())
    else:
        code = calipers("eval", "--markdown", str(SUMMARY), *inputs())
    text = SUMMARY.read_text(encoding="utf-8") if SUMMARY.is_file() else failed_summary(code)
    SUMMARY.write_text(text, encoding="utf-8")
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(text)
    output(
        code=str(code), passed="true" if code == 0 else "false", summary=str(SUMMARY), report=report
    )


def report_file() -> str:
    """The HTML report, written; empty where none is wanted or none could be made."""
    path = given("REPORT")
    if not path:
        return ""
    return path if calipers("eval", "--html", path, *inputs()) == 0 else ""


def failed_summary(code: int) -> str:
    """What is said where calipers could not even say why."""
    return f"## ✗ Retrieval: could not be checked\n\ncalipers ended with {code}; see the log.\n"


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
    keep_baseline() if sys.argv[1:] == ["baseline"] else measure()
