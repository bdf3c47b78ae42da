"""What is published: its metadata, its bytes, and that every place says the same."""

import email
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from calipers.version import PUBLISHED, __version__
from tools import release

ROOT = Path(__file__).parents[1]
PARTS = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel, built in two folders whose files have different ages."""
    pytest.importorskip("hatchling", reason="the build package is not installed: hatchling")
    made = []
    for age in (1_000_000_000, 1_700_000_000):
        folder = tmp_path_factory.mktemp("source")
        for name in PARTS:
            shutil.copy(ROOT / name, folder)
        shutil.copytree(
            ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
        )
        for path in folder.rglob("*"):
            os.utime(path, (age, age))
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "out"],
            cwd=folder,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
            check=True,
            capture_output=True,
        )
        made += list((folder / "out").iterdir())
    return made


def test_a_wheel_that_is_built_twice_has_the_same_bytes(wheels: list[Path]) -> None:
    one, other = (hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels)
    assert one == other


def test_what_the_package_says_about_itself(wheels: list[Path]) -> None:
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = wheel.namelist()
        said = email.message_from_bytes(wheel.read(f"calipers-{__version__}.dist-info/METADATA"))
    assert said["Version"] == __version__
    assert said["Author"] == "The Calipers contributors"
    assert "Framework :: Pytest" in said.get_all("Classifier")
    assert {one.partition(",")[0] for one in said.get_all("Project-URL")} == {
        *("Documentation", "Changes", "Source", "Issues")
    }
    assert "dev" not in said.get_all("Provides-Extra")
    description = str(said.get_payload())
    assert description.startswith("# Calipers")
    assert re.findall(r"\]\((?!https://)[^)]*\)", description) == []
    assert "calipers/py.typed" in names
    kept = {f"calipers/schemas/{one.name}" for one in (ROOT / "src/calipers/schemas").iterdir()}
    assert {"calipers/schemas/gate.json"} <= kept <= set(names)
    assert not [one for one in names if not one.startswith(("calipers/", "calipers-"))]


def test_every_place_has_the_one_version() -> None:
    assert "version" not in tomllib.loads(text_of("pyproject.toml"))["project"]
    assert f"version: {__version__}\n" in text_of("CITATION.cff")
    assert f"v{__version__}.tar.gz" in text_of("templates/gitlab-ci.yml")


def test_nobody_is_sent_to_an_index_that_does_not_have_the_package() -> None:
    files = [
        ROOT / "README.md",
        ROOT / "action.yml",
        *(one for one in (ROOT / "templates").rglob("*") if one.is_file()),
    ]
    for folder, ending in (("docs", "*.md"), ("src", "*.py"), ("examples", "*.md")):
        files += (ROOT / folder).rglob(ending)
    command = re.compile(r"pip install\b[^\n`]*?['\" ]calipers\b(?!-)")
    sent = [
        str(path.relative_to(ROOT))
        for path in files
        if command.search(path.read_text(encoding="utf-8")) and path.name != "version.py"
    ]
    assert PUBLISHED or sent == []


def test_the_recipe_of_conda_asks_for_what_the_package_asks_for() -> None:
    wanted = tomllib.loads(text_of("pyproject.toml"))["project"]["dependencies"]
    asked = re.findall(r"^    - ([\w-]+) (>=[\d.]+)$", text_of("conda/meta.yaml"), re.MULTILINE)
    run = {name.removesuffix("-python") + lowest for name, lowest in asked}
    assert set(wanted) == run - {"python>=3.11", "hatchling>=1.27"}


def test_nothing_is_fetched_by_a_name_that_can_move() -> None:
    files = [*(ROOT / ".github/workflows").iterdir(), ROOT / "action.yml"]
    used = [one for path in files for one in re.findall(r"uses: (\S+)", path.read_text())]
    assert used
    assert [one for one in used if not re.search(r"@[0-9a-f]{40}$", one)] == []
    images = re.findall(r"^FROM (\S+)", text_of("Dockerfile"), re.MULTILINE)
    assert len(set(images)) == 1
    assert re.search(r"@sha256:[0-9a-f]{64}$", images[0])


def test_a_release_is_refused_under_another_tag_or_before_it_is_known_who_publishes() -> None:
    found = " ".join(release.problems("v9"))
    assert f"The tag is v9 and src/calipers/version.py says {__version__}" in found
    assert PUBLISHED or "pyproject.toml says OWNER" in found
