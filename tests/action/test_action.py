"""The GitHub Action, step by step, on a stand-in for the runner and for the API."""

import json
import re
import shlex
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.action import github
from tests.action.runner import ROOT, Runner, prepare, run_apart
from tests.command import calipers_command

yaml = pytest.importorskip("yaml")
NAME = "acme/search"


def pull(head: str = NAME) -> dict[str, Any]:
    repositories = {"head": {"repo": {"full_name": head}}, "base": {"repo": {"full_name": NAME}}}
    return {"pull_request": {"number": 7, **repositories}}


PUSH = {"repository": {"default_branch": "main"}}


@pytest.fixture
def server():
    with github.running() as one:
        yield one


@pytest.fixture
def job(tmp_path, server):
    caches: dict[str, Path] = {}
    made = iter(range(100))

    def start(event_name, event, *, hits=20, n=20, **more) -> Runner:
        folder = prepare(tmp_path / f"job{next(made)}")
        records = [
            {"query": f"q{i}", "retrieved": ["a"] if i < hits else ["b"], "ground_truth": ["a"]}
            for i in range(n)
        ]
        text = "".join(json.dumps(one) + "\n" for one in records)
        (folder / "evals.jsonl").write_text(text)
        return Runner(folder, event_name, event, server.address, caches=caches, **more)

    return start


GIVEN = {"data": "evals.jsonl", "metrics": "recall@1", "package": "installed", "report": ""}


def test_a_pull_request_gets_one_comment_that_is_kept_up_to_date(job, server):
    server.comments = [{"id": i, "body": "Looks good"} for i in range(130)]
    first = job("pull_request", pull(), hits=18, processes=True).run(
        **GIVEN, require="recall@1 >= 0.85"
    )
    assert (first.code, first.outputs["measure"]["passed"]) == (0, "true")
    assert first.summary.startswith("## ✓ Passed: recall@1 is 0.900")
    assert len(server.comments) == 131
    second = job("pull_request", pull(), hits=10).run(**GIVEN, require="recall@1 >= 0.85")
    assert (second.code, second.outputs["measure"]["passed"]) == (1, "false")
    assert len(server.comments) == 131
    body = server.comments[-1]["body"]
    assert body.startswith("<!-- calipers: retrieval -->\n## ✗ Failed: recall@1 is 0.500")
    assert second.summary in body


@pytest.mark.parametrize("more", [{}, {"require": "recall@1 >= 0.1"}], ids=["alone", "beside"])
def test_what_must_be_found_is_judged_without_a_baseline(job, more):
    runner = job("pull_request", pull(), hits=19)
    (runner.folder / "never.txt").write_text("q3\nq19\n")
    failed = runner.run(**GIVEN, **more, must="never.txt")
    assert (failed.code, failed.outputs["measure"]["passed"]) == (1, "false")
    assert failed.outputs["measure"]["judged"] == "true"
    assert "q19" in failed.summary
    runner = job("pull_request", pull(), hits=20)
    (runner.folder / "never.txt").write_text("q3\nq19\n")
    passed = runner.run(**GIVEN, **more, must="never.txt")
    assert (passed.code, passed.outputs["measure"]["judged"]) == (0, "true")


def test_two_gates_have_a_comment_each(job, server):
    for name in ("english", "german"):
        job("pull_request", pull()).run(**GIVEN, require="recall@1 >= 0.5", name=name)
    assert [one["body"].splitlines()[0] for one in server.comments] == [
        "<!-- calipers: english -->",
        "<!-- calipers: german -->",
    ]


def test_from_a_fork_the_summary_stands_alone(job, server):
    done = job("pull_request", pull("stranger/search")).run(**GIVEN, require="recall@1 >= 0.85")
    assert done.code == 0
    assert "## ✓ " in done.summary
    assert server.requests == []
    assert any("::notice title=Calipers::From a fork" in line for line in done.log)


@pytest.mark.parametrize("code", [403, 404, 422, 429, 503])
def test_an_api_that_refuses_is_seen_and_fails_nothing(job, server, code):
    server.refuse = code
    done = job("pull_request", pull()).run(**GIVEN, require="recall@1 >= 0.85")
    assert done.code == 0
    refused = f"::warning title=Calipers::GitHub refused the comment ({code})"
    said = "pull-requests: write" if code in (403, 404) else refused
    assert any(said in line for line in done.log)


@pytest.mark.parametrize("login", [None, "anna"])
def test_a_comment_of_somebody_else_is_never_edited(job, server, login):
    stranger = {"login": "eve", "type": "User"}
    theirs = {"id": 1, "body": "<!-- calipers: retrieval -->\nmine", "user": stranger}
    server.comments, server.login = [theirs], login
    for _ in range(2):
        job("pull_request", pull()).run(**GIVEN, require="recall@1 >= 0.85")
    assert [one["user"]["login"] for one in server.comments] == [
        "eve",
        login or "github-actions[bot]",
    ]
    assert server.comments[0]["body"].endswith("mine")


def test_without_baseline_and_conditions_it_says_that_nothing_was_judged(job):
    done = job("pull_request", pull()).run(**GIVEN, comment="false")
    assert (done.code, done.outputs["measure"]["judged"]) == (0, "false")
    assert done.summary.startswith(
        "**Nothing was judged: there is no condition and no baseline yet.**"
    )
    assert any("::notice title=Calipers::Nothing was judged" in line for line in done.log)


def test_an_input_of_two_lines_writes_one_output(job):
    given = {**GIVEN, "report": "out.html\ncode=0\npassed=true"}
    done = job("push", PUSH, hits=2).run(
        **given, require="recall@1 >= 0.85", refresh_baseline="false"
    )
    assert (done.code, done.outputs["measure"]["passed"]) == (1, "false")


def test_no_value_of_the_data_is_a_command_of_the_runner(job):
    ready = job("push", PUSH, hits=2)
    evil = "::error title=x::y"
    record = {
        "query": evil,
        "retrieved": ["b"],
        "ground_truth": ["a"],
        "tags": {"part": f"\n{evil}"},
    }
    (ready.folder / "evals.jsonl").write_text(json.dumps(record) + "\n")
    log = "\n".join(ready.run(**GIVEN, require=f"recall@1 >= 0.85\n{evil}").log)
    stopped = ""
    for line in log.splitlines():
        if found := re.match(r"::stop-commands::(\w+)$", line):
            stopped = found[1]
        elif stopped and line == f"::{stopped}::":
            stopped = ""
        elif not stopped:
            assert not line.lstrip().startswith("::error"), line
    assert evil in log


def test_it_is_installed_beside_the_jobs_own_environment(job, tmp_path):
    wheel = tmp_path / "calipers-9-py3-none-any.whl"
    info = {
        "METADATA": "Metadata-Version: 2.1\nName: calipers\nVersion: 9\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("calipers/__main__.py", "import sys; print('of its own', sys.prefix)")
        for name, text in info.items():
            file.writestr(f"calipers-9.dist-info/{name}", text)
    ready = job("push", PUSH, processes=True)
    (ready.folder / "sub").mkdir()
    ready.path = ""
    done = ready.run(
        **{**GIVEN, "package": str(wheel)}, working_directory="sub", refresh_baseline="false"
    )
    place = done.outputs["install"]["python"]
    assert place.startswith(str(done.folder / "temp"))
    assert any(f"of its own {Path(place).parents[1]}" in line for line in done.log)
    assert (done.folder / "sub" / "calipers-summary.md").is_file()


def test_the_default_branch_keeps_the_baseline_and_a_pull_request_is_held_to_it(job, server):
    first = job("push", PUSH, hits=20, sha="1" * 40).run(**GIVEN)
    assert first.code == 0
    assert first.log.count("Keep the new baseline") == 1
    assert "recall" in first.summary
    worse = job("pull_request", pull(), hits=8).run(**GIVEN)
    assert worse.code == 1
    assert "## ✗ Failed: recall@1 fell from 1.000 to 0.400; 12 of 20 queries worse" in worse.summary
    assert "0.000 (it was 1.000)" in worse.summary, "what was lost against the baseline"
    other = job("push", PUSH, hits=8, ref_name="topic").run(**GIVEN)
    assert "Keep the new baseline" not in other.log
    failed = job("push", PUSH, hits=8, sha="2" * 40).run(**GIVEN)
    assert failed.code == 1
    assert "Keep the new baseline" not in failed.log, "a failed run must not become the yardstick"
    lost = job("push", PUSH, hits=19, sha="3" * 40).run(**GIVEN)
    assert lost.code == 0
    held = job("pull_request", pull(), hits=19).run(**GIVEN)
    assert "1.000 to 0.950" in held.summary, "what passed and lost a little is no yardstick either"
    job("push", PUSH, hits=8, sha="4" * 40).run(**GIVEN, accept="a tenth of the price")
    assert "| 0.400 | 0.400 |" in job("pull_request", pull(), hits=8).run(**GIVEN).summary
    better = job("push", PUSH, hits=16, sha="5" * 40).run(**GIVEN)
    assert "the baseline from now on" in better.summary
    assert "| 0.800 | 0.800 |" in job("pull_request", pull(), hits=16).run(**GIVEN).summary


def test_a_gate_is_not_held_to_the_baseline_of_one_whose_name_begins_like_its_own(job):
    job("push", PUSH, hits=20, sha="1" * 40).run(**GIVEN, name="retrieval-german")
    other = job("pull_request", pull(), hits=8).run(**GIVEN, name="retrieval", comment="false")
    assert other.code == 0
    assert not any("--baseline" in line for line in other.log)


def test_the_report_is_uploaded(job):
    pytest.importorskip("jinja2")
    given = {**GIVEN, "report": "out.html"}
    done = job("pull_request", pull()).run(**given, comment="false", require="recall@1 >= 0.5")
    assert done.outputs["measure"]["report"] == "out.html"
    assert "<html" in done.uploads["calipers-retrieval"]
    assert "Comment" not in done.log


def test_what_cannot_be_checked_is_no_pass(job, server):
    done = job("pull_request", pull()).run(
        **{**GIVEN, "data": "nowhere.jsonl"}, require="recall@1 >= 0.5"
    )
    assert done.code == 2
    assert "Could not be checked" in done.summary
    assert "Could not be checked" in server.comments[0]["body"]


def test_no_input_is_run_as_a_command(job):
    evil = """$(touch hacked) `touch hacked` "; touch hacked; " '; touch hacked; '"""
    ready = job("push", PUSH, processes=True)
    done = ready.run(**{**GIVEN, "metrics": evil, "name": evil}, require=evil)
    assert done.code == 2
    assert not (done.folder / "hacked").exists()


def test_every_input_is_used_and_described():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    text = (ROOT / "action.yml").read_text()
    page = (ROOT / "docs" / "ci.md").read_text()
    for name, one in action["inputs"].items():
        assert one["description"]
        assert f"inputs.{name}" in text, name
        assert f"`{name}`" in page, name


def test_the_hooks_of_pre_commit_are_commands(tmp_path, monkeypatch):
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    Path("evals.jsonl").write_text('{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}\n')
    Path("calipers.toml").write_text(
        'data = "evals.jsonl"\n[gate]\nrequire = ["recall@1 >= 0.5"]\n'
    )
    arguments = {"calipers-gate": [], "calipers-audit": ["evals.jsonl"]}
    assert {one["id"] for one in hooks} == set(arguments)
    for hook in hooks:
        words = shlex.split(hook["entry"])
        assert words[0] == "calipers"
        done = calipers_command(*words[1:], *arguments[hook["id"]])
        assert done.code == 0, done.err
        assert hook["pass_filenames"] is False
        assert hook["language"] == "system", "another environment cannot import the retriever"


def test_the_template_for_gitlab_runs(tmp_path):
    template = yaml.safe_load((ROOT / "templates" / "gitlab-ci.yml").read_text())
    folder = prepare(tmp_path / "job")
    (folder / "evals.jsonl").write_text(
        '{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}\n'
    )
    (folder / "calipers.toml").write_text('[gate]\nrequire = ["recall@1 >= 0.5"]\n')
    variables = {name: str(value) for name, value in template["variables"].items()}
    script = "\n".join(template["calipers"]["script"])

    variables |= {
        "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "CI_DEFAULT_BRANCH": "main",
    }
    on_main = {"CI_COMMIT_BRANCH": "main", "CALIPERS_REPORT": "nowhere/report.html"}
    assert run_apart(script, folder, {**variables, **on_main})[0] == 2
    assert (folder / "calipers-summary.md").is_file(), "the gate is asked when the report fails"
    assert (folder / variables["CALIPERS_BASELINE"]).is_file()
    code, said = run_apart(script, folder, {**variables, "CI_COMMIT_BRANCH": "topic"})
    assert code == 0, said
    assert "no query changed" in (folder / "calipers-summary.md").read_text(), said
    for path in template["calipers"]["artifacts"]["paths"]:
        assert (folder / path.replace("$CALIPERS_REPORT", variables["CALIPERS_REPORT"])).is_file()
