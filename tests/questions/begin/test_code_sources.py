"""Questions from docstrings and from the history of a repository."""

import subprocess

import pytest

from calipers.io.documents.sections import as_document
from calipers.io.documents.walk import read_documents
from calipers.questions.begin.docstrings import from_docstrings
from calipers.questions.begin.history import asked, from_history
from calipers.questions.begin.library import Library

CODE = '''
def backoff(attempt):
    """Return how long to wait before the next attempt is made. More."""
    """A second text, which is no code."""
    seconds = min(60, 2 ** attempt)
    return seconds + jitter(seconds)


def _hidden(attempt):
    """Return how long to wait before the next attempt is made."""
    return min(60, 2 ** attempt) + jitter(attempt)


def retry_failed_request(request):
    """Retry failed request."""
    return send(request, attempt=request.attempt + 1, wait=True)


class Pool:
    """Keep open connections so that they can be used again."""

    def size(self):
        """Short."""
'''


def test_docstrings_ask_for_the_code_below_them():
    found = [*from_docstrings(Library([as_document("a.py", "python", CODE)]))]
    # Not what is hidden, spells the name of its function, or has no code of its own.
    assert [(one.question, one.line) for one in found] == [
        ("Return how long to wait before the next attempt is made", 2)
    ]
    assert found[0].quotes == ("seconds = min(60, 2 ** attempt) return seconds + jitter(seconds)",)
    assert not [*from_docstrings(Library([as_document("tests/test_a.py", "python", CODE)]))]


@pytest.mark.parametrize(
    "folder",
    ["_ext/php", "vendor", "pkg/_vendor", "third_party", "externals", "downstream", "docs/images"],
)
def test_packages_of_others_are_not_asked(folder):
    assert not [*from_docstrings(Library([as_document(f"{folder}/a.py", "python", CODE)]))]


@pytest.mark.parametrize(
    "sentence",
    [
        "Description of an object on the global level of all namespaces.",
        "Return the text for the index entry of the object.",
        "uv-venv: create environments and install the editable packages.",
        "Called by the pool when a connection was closed early.",
        "wait(attempt) -> how long to wait before each next attempt.",
        "Same as the other one, but without random seconds.",
    ],
)
def test_a_docstring_that_speaks_of_its_class_is_not_asked(sentence):
    before = "Return how long to wait before the next attempt is made."
    assert before in CODE
    code = CODE.replace(before, sentence)
    assert not [*from_docstrings(Library([as_document("a.py", "python", code)]))]


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("fix(client): Retry when the proxy closes a connection (#123)",
         "Retry when the proxy closes a connection"),
        ("[core] Wait longer before each new attempt", "Wait longer before each new attempt"),
        ("Merge branch main into the other branch here", None),
        ("Bump version to 1.2.3", None),
        ("Revert the longer wait before each attempt", None),
        ("Fix typo in the name of a parameter somewhere", None),
        ("Short one", None),
    ],
)  # fmt: skip
def test_what_a_commit_asks(subject, question):
    assert asked(subject, "") == question


def git(folder, *words):
    subprocess.run(
        ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        check=True,
        capture_output=True,
    )


def commit(folder, subject, **files):
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", subject)


def test_small_commits_ask_for_the_lines_around_their_change(tmp_path):
    git(tmp_path, "init", "-q")
    old = CODE.replace("2 ** attempt", "3 * attempt")
    commit(tmp_path, "Add a waiting time between several attempts", pool=old, other=old)
    commit(tmp_path, "Wait twice as long after every failure of a server", pool=CODE)
    commit(tmp_path, "Wait in the other module for slow failures too", other=CODE)
    later = CODE.replace("60", "90")
    commit(tmp_path, "Allow ninety seconds before somebody gives up", pool=later)
    git(tmp_path, "checkout", "-q", "HEAD~1")
    found = [*from_history(Library(read_documents(tmp_path, {})), tmp_path)]
    # Not the commit that made the files, one that names its file, or one after what is searched.
    assert [one.question for one in found] == ["Wait twice as long after every failure of a server"]
    assert found[0].document == "pool.py"
    assert any("next attempt is made" in quote for quote in found[0].quotes)


def test_no_repository_has_no_history(tmp_path):
    (tmp_path / "a.py").write_text(CODE)
    assert not [*from_history(Library(read_documents(tmp_path, {})), tmp_path)]


def test_a_function_that_only_calls_another_of_its_name_is_not_asked():
    code = (
        "class Array:\n    def argmax(self, axis):\n"
        '        """Return the place of the largest value along the given axis."""\n'
        "        from arrays import argmax\n        return argmax(self, axis=axis, keep=False)\n"
    )
    assert not [*from_docstrings(Library([as_document("a.py", "python", code)]))]
    other = code.replace("return argmax", "return places")
    assert len([*from_docstrings(Library([as_document("a.py", "python", other)]))]) == 1


def test_code_that_does_nothing_answers_nothing():
    code = CODE.replace("return seconds + jitter(seconds)", "").replace(
        "seconds = min(60, 2 ** attempt)", 'raise NotImplementedError("A subclass says how long.")'
    )
    assert not [*from_docstrings(Library([as_document("a.py", "python", code)]))]
