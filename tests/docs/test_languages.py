"""Recipes for other languages: what stands in examples/languages runs, where its tools are."""

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

import calipers
from calipers.shell import join_words
from calipers.version import PUBLISHED
from tests.command import calipers_command

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples" / "languages"
PAGE = (ROOT / "docs" / "other-languages.md").read_text(encoding="utf-8")
BUILDS = {
    "node": None,
    "go": ("go", "build", "-o", "search", "search.go"),
    "rustc": ("rustc", "search.rs", "-o", "search"),
}


@pytest.fixture(scope="module", params=BUILDS)
def program(request, tmp_path_factory):
    """A language, the folder of the recipes, and the words that start its search there."""
    if (tool := shutil.which(request.param)) is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copytree(RECIPES, folder, dirs_exist_ok=True)
    build = BUILDS[request.param]
    if build is None:
        return request.param, folder, (tool, str(folder / "search.mjs"))
    done = subprocess.run([tool, *build[1:]], cwd=folder, check=False, capture_output=True)
    if done.returncode and b"linker" in done.stderr:
        pytest.skip("there is no linker")
    assert done.returncode == 0, done.stderr.decode()
    return request.param, folder, (str(folder / "search"),)


def test_a_program_is_asked_and_decides_the_gate(program, monkeypatch):
    _, folder, words = program
    monkeypatch.chdir(folder)
    target = f"cmd:{join_words(words)}"
    said = calipers_command("retrieve", target, "questions.csv", "-k", "2", "--check")
    assert said.code == 0, said.err
    assert said.out.count("\n") == 1
    assert "with 2 results" in said.out
    assert said.out.endswith("the first has id 'refunds', score 3.0.\n")
    gate = ("gate", "questions.csv", "--retriever", target, "--json")
    passed = calipers_command(*gate, "--require", "recall@2 >= 0.7")
    assert passed.code == 0, passed.err
    schema = json.loads((Path(calipers.__file__).parent / "schemas/gate.json").read_text("utf-8"))
    problems = pytest.importorskip("jsonschema").Draft202012Validator(schema).iter_errors
    assert list(problems(json.loads(passed.out))) == []
    assert calipers_command(*gate, "--require", "recall@1 >= 0.99").code == 1
    odd = ['q"uo\\te', "tab\tand\nline", "Straße 東京 \U0001f600", "x\u2028y"]
    run = calipers.retrieve(target, odd, k=2)
    assert (run.report.answered, run.report.failed) == (4, 0)


def test_a_server_is_asked(program, monkeypatch):
    language, folder, words = program
    if language == "rustc":
        pytest.skip("the recipe in Rust has no server")
    monkeypatch.chdir(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([*words, str(port)]) as server:
        try:
            for _ in range(200):
                with socket.socket() as trial:
                    if trial.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            address = f"http://127.0.0.1:{port}/search?q={{query}}&k={{k}}"
            run = calipers.retrieve(address, "questions.csv", k=2)
            assert run.report.answered == 4
            assert run.frame["item"].to_list()[0] == "refunds"
        finally:
            server.kill()


def test_node_reads_what_the_gate_decided(tmp_path):
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    rows = [{"query": f"q{n}", "ground_truth": ["a"], "results": ["a"]} for n in range(4)]
    (tmp_path / "evals.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    asked = ("gate", str(tmp_path / "evals.jsonl"), "--require", "recall@1 >= 0.9", "--json")
    verdict = calipers_command(*asked).out.encode()
    read = subprocess.run([node, RECIPES / "read.mjs"], input=verdict, capture_output=True)
    assert read.stdout.decode() == "passed: recall@1 >= 0.9\nMay be merged.\n", read.stderr


def test_the_page_installs_from_where_the_package_is():
    """One switch: once the package is on an index, the page must say so."""
    at = "uvx calipers" if PUBLISHED else 'uvx --from "$CALIPERS" calipers'
    assert at in PAGE
    assert PAGE.index(at) < PAGE.index("pipx install")
    assert ("not on a package index yet" in PAGE) != PUBLISHED


def test_the_page_names_every_recipe():
    for path in RECIPES.iterdir():
        assert path.name in PAGE
