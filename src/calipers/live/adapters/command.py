"""A command as a retriever: it reads questions as JSON lines and answers each with one line.

Each worker starts the command once and keeps it running. It reads
``{"id": "q1", "query": "Who wrote it?", "k": 20}`` from standard input and writes one line of
JSON to standard output, in any shape a function may return; then it waits for the next.
"""

import contextlib
import os
import queue
import subprocess
import threading
from collections import deque
from typing import IO, Any

import msgspec

from calipers.errors import InvalidInput
from calipers.live.adapters.base import (
    HIDDEN,
    LOOKS_SECRET,
    Question,
    Retriever,
    Secrets,
    Session,
    settings_of,
)
from calipers.live.answers import Layout
from calipers.live.code import code_of_files
from calipers.live.failures import LARGEST_ANSWER, AskFailed, bad_answer, beginning, decoded
from calipers.shell import join_words, split_line

TAIL_LINES = 5
MOST_WAITING = 64
"""Lines that may wait to be read; beyond this the command blocks."""
PATIENCE_SECONDS = 2.0
"""How long a command may take to exit once its input is closed."""


def from_command(line: str, *, layout: Layout | None = None) -> Retriever:
    """A retriever that runs a command, without a shell; ``$NAME`` is an environment variable."""
    layout = layout or Layout()
    secrets = Secrets()
    words = words_of(line, "cmd:./search")
    arguments = [secrets.expand(word, "the command") for word in words]
    shown = shown_words(words, secrets)
    return Retriever(
        name=f"cmd:{shown}",
        settings=settings_of(f"cmd:{shown}", layout),
        open=lambda: _Session(arguments),
        code=code_of_files(words),
        layout=layout,
        secrets=secrets,
        # Each worker starts a process of its own, which may hold a whole index in memory.
        workers=1,
        keeps_time=True,
    )


def words_of(line: str, example: str) -> list[str]:
    """Split a command line into words."""
    try:
        words = split_line(line)
    except ValueError as error:
        raise InvalidInput(
            f"The command {line!r:.80} cannot be read: {error}; close every quotation mark."
        ) from None
    if not words:
        raise InvalidInput(f"The command is empty; write it after the colon, such as {example!r}.")
    return words


def shown_words(words: list[str], secrets: Secrets) -> str:
    """The command for display, without the values of options that look secret."""
    shown: list[str] = []
    hide_next = False
    for word in words:
        name, equals, value = word.partition("=")
        if hide_next and not word.startswith(("-", "$")):
            secrets.add(word)
            shown.append(HIDDEN)
        elif equals and LOOKS_SECRET.search(name.lstrip("-")) and not value.startswith("$"):
            secrets.add(value)
            shown.append(f"{name}={HIDDEN}")
        else:
            shown.append(word if " " not in word else join_words([word]))
        hide_next = (
            word.startswith("-") and not equals and bool(LOOKS_SECRET.search(word.lstrip("-")))
        )
    return " ".join(shown)


class _Session(Session):
    """One running process, started when needed and again after it failed."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: queue.Queue[bytes | None] = queue.Queue(MOST_WAITING)
        self.complaints: deque[bytes] = deque(maxlen=TAIL_LINES)
        self.listening: list[threading.Thread] = []
        self.answered = False

    def close(self) -> None:
        self._end()

    def _end(self, *, kill: bool = False) -> int:
        """End the process, at once or after it had time to exit, and return its exit code."""
        process, self.process = self.process, None
        if process is None:
            return 0
        if kill:
            process.kill()
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            code = process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        for thread in self.listening:
            # A grandchild may hold the pipes open for ever, so the wait has an end.
            thread.join(PATIENCE_SECONDS / 4)
        return code

    def _start(self) -> subprocess.Popen[bytes]:
        self.lines = queue.Queue(MOST_WAITING)
        self.complaints = deque(maxlen=TAIL_LINES)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user named this command, no shell is used
                self.arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        except OSError as error:
            raise AskFailed(
                "command",
                f"the command {self.arguments[0]!r} cannot be started: {error.strerror}; give the "
                "path of a program that exists and may be run",
                hopeless=True,
            ) from error
        pipes = ((process.stdout, self.lines.put), (process.stderr, self.complaints.append))
        self.listening = [
            threading.Thread(target=listen, args=about, daemon=True) for about in pipes
        ]
        for thread in self.listening:
            thread.start()
        return process

    def ask(self, question: Question, k: int, timeout: float | None) -> Any:
        if self.process is None:
            self.process = self._start()
        asked = msgspec.json.encode({"id": question.id, "query": question.text, "k": k})
        try:
            if self.process.stdin is not None:
                self.process.stdin.write(asked + b"\n")
                self.process.stdin.flush()
            line = self.lines.get(timeout=timeout)
        except queue.Empty:
            self._end(kill=True)
            raise AskFailed(
                "timeout",
                f"no line within {timeout:g} s; does the command flush its output after each "
                "line, and is that time enough for it to start?",
                # If no line ever came, none will.
                retry=self.answered,
                hopeless=not self.answered,
            ) from None
        except OSError:
            # It ended before it read the question.
            line = None
        if line is None:
            raise self._ended()
        if len(line) > LARGEST_ANSWER:
            self._end(kill=True)
            raise bad_answer(f"the line is longer than {LARGEST_ANSWER >> 20} MB")
        self.answered = True
        return self._decoded(line, question)

    def _ended(self) -> AskFailed:
        code = self._end()
        stderr = b" / ".join(one for one in self.complaints if one)
        return AskFailed(
            "command",
            f"the command ended with code {code} instead of answering"
            + (f"; its last words: {beginning(stderr, 300)}" if stderr else ""),
        )

    def _decoded(self, line: bytes, question: Question) -> Any:
        answer = decoded(line, "the line")
        if isinstance(answer, dict) and "retrieved" in answer:
            given = answer.get("id")
            if given is not None and str(given) != question.id:
                # Every later line would be one off too, so the process starts anew.
                self._end(kill=True)
                raise bad_answer(
                    f"the command answered question {given!r:.60} when asked {question.id!r:.60}; "
                    "it answers in order, one line per question"
                )
            if answer.get("error") is not None:
                raise AskFailed("command", beginning(str(answer["error"])))
        return answer


def listen(pipe: IO[bytes] | None, emit: Any) -> None:
    """Pass each line on, and None at the end."""
    if pipe is None:
        return
    with pipe:
        while line := pipe.readline(LARGEST_ANSWER + 1):
            if line.strip():
                emit(line.rstrip())
            if len(line) > LARGEST_ANSWER:
                # The line is too long: stop reading, so that the process is stopped.
                break
    emit(None)
