"""A small stand-in for the runner of GitHub: it runs the steps of action.yml as written."""

import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from tests.command import calipers_command

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
NAME = re.compile(r"\b(inputs|github|steps)(\.[\w-]+)+")
SCRIPT = re.compile(r'"\$PYTHON" "\$GITHUB_ACTION_PATH/action/(\w+\.py)"(?: (\w+))?')
VALUE = re.compile(r"^(\w+)<<(\w+)\n(.*?)\n\2$", re.MULTILINE | re.DOTALL)


@dataclass
class Runner:
    """One job: its folder, the event that started it, and what the steps did."""

    folder: Path
    event_name: str
    event: dict[str, Any]
    api: str
    ref_name: str = "main"
    sha: str = "0" * 40
    caches: dict[str, Path] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    uploads: dict[str, str] = field(default_factory=dict)
    path: str = str(ROOT / "src")
    """Where the job's own Python finds calipers."""
    processes: bool = False
    """Whether scripts and commands are processes of their own, and not run here, which is quick."""
    code: int = 0

    def run(self, **inputs: str) -> "Runner":
        """Run every step, as a composite action is run: after a failure no step follows."""
        action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        given = {name: one.get("default", "") for name, one in action["inputs"].items()}
        unknown = set(inputs) - {name.replace("-", "_") for name in given}
        assert not unknown, unknown
        given |= {
            name: inputs[name.replace("-", "_")]
            for name in given
            if name.replace("-", "_") in inputs
        }
        self.inputs = {name: self._filled(str(value)) for name, value in given.items()}
        for step in action["runs"]["steps"]:
            if "if" in step and not self._value(step["if"]):
                continue
            self.log.append(step["name"])
            if "uses" in step:
                given = {k: self._filled(str(v)) for k, v in step["with"].items()}
                if step["uses"].startswith("actions/setup-python@"):
                    assert given["update-environment"] == "False"
                    self.outputs[step["id"]] = {"python-path": sys.executable}
                else:
                    self._use(step["uses"], given)
                continue
            self.code = self._shell(step)
            if self.code:
                break
        return self

    @property
    def summary(self) -> str:
        return (self.folder / "step-summary.md").read_text(encoding="utf-8")

    def _github(self) -> dict[str, Any]:
        return {
            "event_name": self.event_name,
            "event": self.event,
            "ref_name": self.ref_name,
            "sha": self.sha,
            "token": "ghs_secret",
        }

    def _lookup(self, name: str) -> Any:
        head, *rest = name.split(".")
        value: Any = {
            "inputs": getattr(self, "inputs", {}),
            "github": self._github(),
            "steps": {one: {"outputs": found} for one, found in self.outputs.items()},
        }[head]
        for part in rest:
            value = value.get(part, "") if isinstance(value, dict) else ""
        return value

    def _value(self, expression: str) -> Any:
        """An expression of comparisons and conjunctions, which is all that the action uses."""
        python = NAME.sub(lambda found: repr(self._lookup(found[0])), expression)
        return eval(python.replace("&&", " and ").replace("||", " or "), {"__builtins__": {}})

    def _filled(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: str(self._value(found[1])), text)

    def _shell(self, step: dict[str, Any]) -> int:
        assert "${{" not in step["run"], "an expression in a script could be run as a command"
        output, event = self.folder / "output.txt", self.folder / "event.json"
        output.write_text("")
        event.write_text(json.dumps(self.event))
        own = {name: self._filled(str(value)) for name, value in step.get("env", {}).items()}
        folder = self.folder / self._filled(step.get("working-directory", "."))
        environment = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": self.path,
            "HOME": str(self.folder),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_API_URL": self.api,
            "GITHUB_REPOSITORY": "acme/search",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_SHA": self.sha,
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "step-summary.md"),
            **own,
        }
        script = None if self.processes else SCRIPT.fullmatch(step["run"])
        code, said = (
            run_here(script[1], script[2], folder, environment)
            if script
            else run_apart(step["run"], folder, environment)
        )
        self.log.append(said)
        if "id" in step:
            left = VALUE.sub("", output.read_text())
            assert not left.strip(), left
            found = VALUE.findall(output.read_text())
            self.outputs[step["id"]] = {name: value for name, _, value in found}
        return code

    def _use(self, name: str, given: dict[str, str]) -> None:
        action = name.partition("@")[0]
        path = self.folder / given["path"]
        if action == "actions/upload-artifact":
            self.uploads[given["name"]] = path.read_text(encoding="utf-8")
        elif action == "actions/cache/save":
            kept = self.folder.parent / f"cache-{given['key']}"
            shutil.copytree(path, kept)
            self.caches[given["key"]] = kept
        else:
            assert action == "actions/cache/restore", name
            newest = [
                kept for key, kept in self.caches.items() if key.startswith(given["restore-keys"])
            ][-1:]
            for kept in newest:
                shutil.copytree(kept, path)


def run_apart(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a line of a shell as the runner does."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    return done.returncode, done.stdout + done.stderr


def run_here(
    name: str, word: str | None, folder: Path, environment: dict[str, str]
) -> tuple[int, str]:
    """Run a script of the action, and the commands that it starts, in this process."""

    def start(words: tuple[str, ...], check: bool) -> subprocess.CompletedProcess[str]:
        assert words[1:3] == ("-m", "calipers"), words
        printed = calipers_command(*words[3:])
        sys.stdout.write(printed.out + printed.err)
        return subprocess.CompletedProcess(words, printed.code)

    script = ROOT / "action" / name
    said, code = io.StringIO(), 0
    with (
        chdir(folder),
        redirect_stdout(said),
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(sys, "argv", [str(script), *([word] if word else [])]),
        mock.patch.object(subprocess, "run", start),
    ):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return code, said.getvalue()


def prepare(folder: Path) -> Path:
    """A checked-out repository in which `python` and `calipers` are those of the tests."""
    (folder / "bin").mkdir(parents=True)
    (folder / "temp").mkdir()
    for name, words in (("python", ""), ("calipers", " -m calipers")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable}{words} "$@"\n')
        script.chmod(0o755)
    return folder
