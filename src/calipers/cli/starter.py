"""The first files of a project: questions, a search function, settings, a check for CI.

Everything works at once, so that the first thing a newcomer sees is an answer; and every file
is short enough to be replaced.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

from calipers.config import PLAIN, find_config
from calipers.errors import WriteFailed, check_number
from calipers.io.files.write import whole_file
from calipers.present.escape import printable
from calipers.store.git import published_commit
from calipers.version import __version__, installed_from

QUESTIONS = "questions.csv"
WORKFLOW = ".github/workflows/retrieval.yml"
FUNCTION_FILES = ("search.py", "calipers_search.py")
"""File names for the search function; the first free one is used."""

QUESTIONS_TEXT = """\
question,chunk_id
How can I get my money back?,refunds#1
How long does delivery abroad take?,shipping#2
I forgot my password. What now?,account#1
When can I call you?,contact#1
"""

FUNCTION_TEXT = '''\
"""The retriever that Calipers asks. Put a call of your own search here."""

DOCUMENTS = {
    "refunds#1": "Send the item back within 30 days and you get your money back.",
    "refunds#2": "Opened software cannot be sent back.",
    "shipping#1": "How long an order takes: it leaves the warehouse within two days.",
    "shipping#2": "Delivery abroad: one to two weeks.",
    "account#1": "A new password: follow the link on the page where you sign in.",
    "account#2": "I want to leave: how you can delete your account.",
    "payment#1": "You can pay by card or by invoice.",
    "payment#2": "What is on an invoice, and how can I get it again?",
    "contact#1": "You can write to us, or call on weekdays from 9 to 5.",
    "contact#2": "What we do with your letters, and when we answer.",
}


def search(query, k):
    """The ids of the k best documents, the best first; (id, score) pairs and dicts do as well."""
    words = set(query.split())
    best = sorted(DOCUMENTS, key=lambda name: -len(words & set(DOCUMENTS[name].split())))
    return best[:k]
'''

SETTINGS_TEXT = """\
# Settings of every calipers command that runs in this folder; `calipers config` shows them.
ground-truth = "{questions}"
retriever = {retriever}
metrics = ["recall@{k}", "precision@{k}", "mrr"]

[gate]
require = ["recall@{k} >= 0.5"]
"""

WORKFLOW_TEXT = """\
# Checks the retriever on every pull request: the conditions in {settings}, and that no metric there
# fell by more than 0.1 since the baseline, or got significantly worse. The baseline is kept in the
# cache. It moves up by itself when main is better; to accept a loss, run this workflow by hand and
# say why.
name: retrieval
on:
  pull_request:
  push:
    branches: [main]
  workflow_dispatch:
    inputs:
      accept:
        description: Why a loss is accepted
        required: true
permissions:
  contents: read
jobs:
  gate:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      # {origin}
      - name: Install
        run: python -m pip install "{package}"
      - name: Fetch the baseline of main
        uses: actions/cache/restore@v4
        with:
          path: .calipers/baseline.json
          key: calipers-baseline-${{{{ github.sha }}}}
          restore-keys: calipers-baseline-
      - name: Check a pull request
        if: github.event_name == 'pull_request'
        run: |
          if [ -f .calipers/baseline.json ]
          then
            calipers gate --baseline .calipers/baseline.json --allow 0.1 --markdown retrieval.md
          else calipers gate --markdown retrieval.md
          fi
      - name: Move the baseline of main
        if: github.event_name != 'pull_request'
        env:
          ACCEPT: ${{{{ inputs.accept }}}}
        run: |
          mkdir -p .calipers
          if [ ! -f .calipers/baseline.json ]
          then calipers gate save -o .calipers/baseline.json
          elif [ -n "$ACCEPT" ]
          then calipers gate --baseline .calipers/baseline.json --allow 0.1 --accept "$ACCEPT"
          else
            calipers gate --baseline .calipers/baseline.json --allow 0.1 --move-up
          fi
      - name: Keep the baseline
        if: github.event_name != 'pull_request'
        uses: actions/cache/save@v4
        with:
          path: .calipers/baseline.json
          key: calipers-baseline-${{{{ github.sha }}}}-${{{{ github.run_id }}}}
      - name: Show the result
        if: always() && hashFiles('retrieval.md') != ''
        run: cat retrieval.md >> "$GITHUB_STEP_SUMMARY"
"""


@dataclass(frozen=True)
class Started:
    """The files that were written, and those that existed already."""

    written: tuple[str, ...]
    left: tuple[str, ...]
    retriever: str
    is_example: bool
    """Whether the retriever is our example."""
    origin: str
    """What the workflow installs, as a sentence."""


def start_project(folder: Path, *, retriever: str | None, k: int) -> Started:
    """Write the files that do not exist yet; existing ones are not touched."""
    check_number("k", k, whole=True, least=1)
    files: dict[str, str] = {QUESTIONS: QUESTIONS_TEXT}
    target = retriever
    if target is None:
        free = (name for name in FUNCTION_FILES if not (folder / name).exists())
        name = next(free, FUNCTION_FILES[-1])
        files[name] = FUNCTION_TEXT
        target = f"{name.removesuffix('.py')}:search"
    settings = _settings_of(folder)
    if settings is None:
        # TOML strings are escaped like those of JSON.
        written_as = msgspec.json.encode(target).decode()
        files[PLAIN] = SETTINGS_TEXT.format(questions=QUESTIONS, retriever=written_as, k=k)
    package, origin = requirement(folder)
    files[WORKFLOW] = WORKFLOW_TEXT.format(
        package=package, origin=origin, settings=settings or PLAIN
    )
    written, left = _write(folder, files)
    if settings is not None:
        left.append(settings)
    return Started(tuple(written), tuple(left), target, retriever is None, origin)


def requirement(folder: Path) -> tuple[str, str]:
    """What pip must install in CI to get the Calipers that runs here, and a sentence about it.

    A folder of this machine does for CI where it is part of the project, or a checkout whose
    commit can be fetched.
    """
    address = installed_from()[0]
    if not address:
        package = f"calipers=={__version__}"
        return package, f"The workflow installs {package}, as here."
    if not address.startswith("file:"):
        address = re.sub(r"//[^/@]*:[^/@]*@", "//", address)  # a password stays here
        return f"calipers @ {address}", f"The workflow installs Calipers from {address}, as here."
    path = Path(url2pathname(urlsplit(address).path)).resolve()
    if path.is_relative_to(folder.resolve()):
        inside = path.relative_to(folder.resolve()).as_posix()
        return f"./{inside}", f"The workflow installs Calipers from {inside}, as here."
    if (found := published_commit(path)) is not None:
        return f"calipers @ git+{found}", f"The workflow installs Calipers from {found}, as here."
    return (
        "${{ vars.CALIPERS }}",
        "The workflow installs what the repository's variable CALIPERS says: set it to what pip "
        f"can install there, such as git+https://…, as CI does not have {printable(str(path))}.",
    )


def _settings_of(folder: Path) -> str | None:
    """The file in this folder that already has settings, if any."""
    found = find_config(folder).path
    if found is not None and found.parent == folder.resolve():
        return found.name
    return PLAIN if (folder / PLAIN).exists() else None


def _write(folder: Path, files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    written: list[str] = []
    left: list[str] = []
    for name, text in files.items():
        path = folder / name
        if path.exists():
            left.append(name)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(
                f"The folder {path.parent} cannot be made: {error.strerror}; make room for it."
            ) from error
        with whole_file(path) as file:
            file.write(text.encode())
        written.append(name)
    return written, left
