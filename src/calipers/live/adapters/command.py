"""A command as a retriever: it reads questions as JSON lines and answers each with one line.

Each worker starts the command once and keeps it running. It reads ``{"id": "q1", "query":
"Who wrote it?", "k": 20}`` from standard input, writes one line such as ``{"id": "q1",
"retrieved": ["c2", "c1"]}`` to standard output, and waits for the next question. The list
may have any shape that a function may return.

The ``id`` ties an answer to its question. Without it only the order would, and one line
too many would give every later question its neighbour's answer. So a process that answers
without the id is asked nothing else: its input is closed, and its answer counts once it
has ended with 0 and written no other line. The next question starts another. The first
such answer is looked at twice: its process is given time to write another, and one that
is asked nothing must write nothing, or what was read was the line of a start. A line that
cannot belong to a question stops the run. An ``id`` beside the results is the question's,
under whatever name they stand; only where the caller says where the results are
(``--results``) may it be a service's own.
"""

import contextlib
import os
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

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
from calipers.live.answers import Layout, read_answer
from calipers.live.code import code_of_files
from calipers.live.driver import TIMEOUT_SECONDS
from calipers.live.failures import (
    LARGEST_ANSWER,
    AskFailed,
    ProtocolBroken,
    bad_answer,
    beginning,
    decoded,
)
from calipers.shell import join_words, split_line

TAIL_LINES = 5
MOST_WAITING = 64
"""Lines that may wait to be read; beyond this the command blocks."""
PATIENCE_SECONDS = 2.0
"""How long a command may take to exit once its input is closed."""
QUIET_SECONDS = 0.5
"""How long, at least, a command without ids is watched for a line that is no answer."""
ONE_LINE = (
    "A search command writes one line of JSON for each question and nothing else to "
    "standard output; print everything else to standard error"
)
SAME_ID = f'{ONE_LINE}, and repeat the question\'s id: {{"id": …, "retrieved": […]}}.'
END_OR_ID = (
    'Repeat the question\'s id, {"id": …, "retrieved": […]}, or exit with 0 when standard '
    "input ends."
)
OWN_ID = (
    'Repeat the id that came with the question, {"id": …, "retrieved": […]}, or leave an '
    "id of another kind out."
)
WITHOUT_ID = (
    "An answer does not repeat the id of its question, so the command is started anew for "
    'each question. With {"id": …, "retrieved": […]} one process answers all.'
)


@dataclass(eq=False)
class _Seen:
    """What all processes of one command have shown so far."""

    without_id: bool = False
    """Whether an answer came without the id of its question."""
    quiet: bool = False
    """Whether a process wrote nothing where it was asked nothing."""

    def remark(self) -> str | None:
        """What ``--check`` says about the ids."""
        return WITHOUT_ID if self.without_id else None


def from_command(line: str, *, layout: Layout | None = None) -> Retriever:
    """A retriever that runs a command, without a shell; ``$NAME`` is an environment variable."""
    layout = layout or Layout()
    secrets = Secrets()
    words = words_of(line, "cmd:./search")
    arguments = [secrets.expand(word, "the command") for word in words]
    shown = shown_words(words, secrets)
    seen = _Seen()
    return Retriever(
        name=f"cmd:{shown}",
        settings=settings_of(f"cmd:{shown}", layout),
        open=lambda: _Session(arguments, seen, layout),
        remark=seen.remark,
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
            f"The command {line!r:.80} cannot be read: {error}; close every quotation "
            "mark."
        ) from None
    if not words:
        raise InvalidInput(
            f"The command is empty; write it after the colon, such as {example!r}."
        )
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
        elif (
            equals and LOOKS_SECRET.search(name.lstrip("-")) and not value.startswith("$")
        ):
            secrets.add(value)
            shown.append(f"{name}={HIDDEN}")
        else:
            shown.append(word if " " not in word else join_words([word]))
        hide_next = (
            word.startswith("-")
            and not equals
            and bool(LOOKS_SECRET.search(word.lstrip("-")))
        )
    return " ".join(shown)


class _Session(Session):
    """One running process, started when needed and again after it failed."""

    def __init__(self, arguments: list[str], seen: _Seen, layout: Layout) -> None:
        self.arguments = arguments
        self.seen = seen
        self.layout = layout
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: queue.Queue[bytes | None] = queue.Queue(MOST_WAITING)
        self.complaints: deque[bytes] = deque(maxlen=TAIL_LINES)
        self.listening: list[threading.Thread] = []
        self.sent: set[str] = set()
        """The ids of the questions that this process was asked."""
        self.echoes = False
        """Whether it has repeated one of them."""
        self.answered = False

    def close(self) -> None:
        """End the process, if one is running."""
        self._end()

    def finish(self) -> None:
        """End the process after its last question; a line that is left over stops the run."""
        self._end()
        self._refuse_left_over()

    def _refuse_left_over(self) -> None:
        left = self._waiting_line()
        if left:
            raise self._broken(
                f"It printed a line after its last answer: {_shown(left)}."
            )

    def _end_after_one(self, begun: float, timeout: float) -> None:
        """End a process whose answer has no id: with 0, and without another line.

        One that is a line behind is still working on its answer, so it has as long as an
        answer may take.
        """
        watched = not self.seen.quiet
        quiet = max(QUIET_SECONDS, 2 * (time.perf_counter() - begun))
        if watched:
            # The end of the input may end a process before it has written its answer.
            self._refuse_line_within(min(quiet, timeout / 4), "after its last answer")
        patience = max(PATIENCE_SECONDS, timeout - (time.perf_counter() - begun))
        code = self._end(patience=patience)
        self.listening[0].join(PATIENCE_SECONDS)
        self._refuse_left_over()
        if code is None:
            how = f"it went on running for {patience:.3g} s after its input had ended"
        elif code != 0:
            how = f"it ended with code {code}"
        elif self.listening[0].is_alive():
            how = "another process holds its standard output open"
        else:
            if watched:
                left = timeout - (time.perf_counter() - begun)
                self._start_unasked(min(quiet, max(PATIENCE_SECONDS, left)))
            return
        raise self._broken(
            f"Its answer has no id, and {how}: a line may be missing.", END_OR_ID
        )

    def _start_unasked(self, quiet: float) -> None:
        """Start a process that is asked nothing: what it writes is no answer."""
        self.process = self._start()
        self._refuse_line_within(quiet, "that no question asked for")
        self._end(kill=True)
        self.seen.quiet = True

    def _refuse_line_within(self, seconds: float, when: str) -> None:
        """Stop the run where a line comes that nothing asked for."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return
        if line is None:
            # The end of the output is looked for again where the process is ended.
            self.lines.put(None)
        else:
            raise self._broken(f"It printed a line {when}: {_shown(line)}.")

    def _end(
        self, *, kill: bool = False, patience: float = PATIENCE_SECONDS
    ) -> int | None:
        """End the process, at once or after it had time to exit.

        Return its exit code, or None where it did not exit in time.
        """
        process = self.process
        if process is None:
            return 0
        code: int | None = None
        if kill:
            process.kill()
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.process = None
        for thread in self.listening:
            # A grandchild may hold the pipes open for ever, so the wait has an end.
            thread.join(PATIENCE_SECONDS / 4)
        return code

    def _start(self) -> subprocess.Popen[bytes]:
        self.lines = queue.Queue(MOST_WAITING)
        self.complaints = deque(maxlen=TAIL_LINES)
        self.sent = set()
        self.echoes = False
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
                f"the command {self.arguments[0]!r} cannot be started: {error.strerror}; "
                "give the path of a program that exists and may be run",
                hopeless=True,
            ) from error
        lines = threading.Thread(
            target=listen, args=(process.stdout, self.lines.put), daemon=True
        )
        complaints = threading.Thread(
            target=listen, args=(process.stderr, self.complaints.append), daemon=True
        )
        self.listening = [lines, complaints]
        for thread in self.listening:
            thread.start()
        return process

    def ask(self, question: Question, k: int, timeout: float | None) -> object:
        """Send a question as one line, and return the value in the line that comes back."""
        if self.process is None:
            self.process = self._start()
        early = self._waiting_line()
        if early:
            raise self._broken(
                f"It printed a line that no question asked for: {_shown(early)}."
            )
        begun = time.perf_counter()
        self.waited = 0.0
        line = (
            None
            if early is not None
            else self._exchange(self.process, question, k, timeout)
        )
        if line is None:
            raise self._ended()
        if len(line) > LARGEST_ANSWER:
            self._end(kill=True)
            raise bad_answer(f"the line is longer than {LARGEST_ANSWER >> 20} MB")
        answer = self._checked(line, question)
        if not self.echoes:
            self.seen.without_id = True
            came = time.perf_counter()
            self._end_after_one(begun, timeout or TIMEOUT_SECONDS)
            self.waited = time.perf_counter() - came
        self.answered = True
        failed = _error_in(answer)
        if failed is not None:
            raise AskFailed("command", beginning(str(failed)))
        return answer

    def _exchange(
        self,
        process: subprocess.Popen[bytes],
        question: Question,
        k: int,
        timeout: float | None,
    ) -> bytes | None:
        """The next line after a question was sent; None if the process ended instead."""
        message = msgspec.json.encode({"id": question.id, "query": question.text, "k": k})
        try:
            if process.stdin is not None:
                process.stdin.write(message + b"\n")
                process.stdin.flush()
            return self.lines.get(timeout=timeout)
        except queue.Empty:
            self._end(kill=True)
            raise AskFailed(
                "timeout",
                f"no line within {timeout:g} s; does the command flush its output after "
                "each line, and is that time enough for it to start?",
                # If no line ever came, none will.
                retry=self.answered,
                hopeless=not self.answered,
            ) from None
        except OSError:
            # It ended before it read the question.
            return None

    def _waiting_line(self) -> bytes | None:
        """A line that waits though nothing was asked: empty at the end of output, None if none."""
        try:
            return self.lines.get_nowait() or b""
        except queue.Empty:
            return None

    def _ended(self) -> AskFailed:
        """The error of a question whose process ended instead of answering."""
        once = bool(self.sent)
        code = self._end()
        how = "closed its output" if code is None else f"ended with code {code}"
        stderr = b" / ".join(complaint for complaint in self.complaints if complaint)
        return AskFailed(
            "command",
            f"the command {how} instead of answering"
            + (f"; its last words: {beginning(stderr, 300)}" if stderr else ""),
            # A script that answers one question and ends has not failed: it starts again.
            retry=once and code == 0,
        )

    def _checked(self, line: bytes, question: Question) -> object:
        """The value in a line, if it can be the answer to this question."""
        try:
            answer = decoded(line, "the line")
        except AskFailed:
            raise self._broken(
                f"It printed a line that is not JSON: {_shown(line)}."
            ) from None
        echo = _echoed_id(answer)
        if echo is not None and echo in self.sent and echo != question.id:
            raise self._broken(
                f"It answered question {echo!r:.60} when asked {question.id!r:.60}."
            )
        # Where the results are named, the answer may be that of a service, with its own id.
        has_own_id = self.layout.results is not None and not _is_ours(answer)
        if echo is not None and echo != question.id and not has_own_id:
            raise self._broken(
                f"It answered question {question.id!r:.60} with the id {echo!r:.60}, "
                "which is not the question's.",
                OWN_ID,
            )
        self.sent.add(question.id)
        if echo == question.id:
            self.echoes = True
        elif _error_in(answer) is None:
            self._check_without_id(answer, line)
        return answer

    def _check_without_id(self, answer: object, line: bytes) -> None:
        """Refuse an answer without an id that is none, or whose process gave ids before."""
        if self.echoes:
            raise self._broken(
                f"It printed a line without an id after answers with one: {_shown(line)}."
            )
        try:
            read_answer(answer, layout=self.layout)
        except AskFailed as failed:
            raise self._broken(
                f"It printed a line that is no answer: {_shown(line)} ({failed.sentence})."
            ) from None

    def _broken(self, sentence: str, advice: str = SAME_ID) -> ProtocolBroken:
        """The error that stops the run, because lines and questions no longer belong together."""
        self._end(kill=True)
        return ProtocolBroken("protocol", f"{sentence} {advice}")


def _echoed_id(answer: object) -> str | None:
    """The id that an answer gives beside its results, as a text; None without one."""
    if not isinstance(answer, dict) or answer.get("id") is None:
        return None
    # A number beside numbers is the score of a result with this id.
    beside = any(isinstance(value, list | dict) for value in answer.values())
    return str(answer["id"]) if beside or _is_ours(answer) else None


def _is_ours(answer: object) -> bool:
    """Whether an answer has our own form, in which ``id`` can be nothing but the question's."""
    return isinstance(answer, dict) and ("retrieved" in answer or "error" in answer)


def _error_in(answer: object) -> object:
    """The error that an answer reports instead of results; None without one."""
    return answer.get("error") if isinstance(answer, dict) else None


def _shown(line: bytes) -> str:
    """The beginning of a line, quoted."""
    return repr(beginning(line, 80))


def listen(pipe: IO[bytes] | None, emit: Callable[[bytes | None], object]) -> None:
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
