"""A small OpenAI-compatible server on loopback, whose behaviour is written into the passage.

A passage may hold one of the words below in brackets, such as ``[refuse]``; without any, the
server grades by the question's first word, and writes a question about the first sentence.
Every request is kept.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.loopback import JsonHandler, LoopbackServer, serving

KEY = "sk-very-secret-key"


class ModelServer(LoopbackServer):
    def __init__(self) -> None:
        super().__init__(Handler)
        self.forget()

    def forget(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: Counter[str] = Counter()
        self.wants_key = False

    @property
    def endpoint(self) -> str:
        return f"{self.address}/v1"


class Handler(JsonHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ModelServer

    def do_POST(self) -> None:  # noqa: N802 - as the base class calls it
        body = self.body()
        prompt = body["messages"][-1]["content"]
        with self.server.lock:
            self.server.requests.append(body)
            self.server.headers.append(dict(self.headers))
            self.server.paths.append(self.path)
            self.server.times[prompt] += 1
            times = self.server.times[prompt]
        key = self.headers.get("Authorization")
        if self.server.wants_key and key != f"Bearer {KEY}":
            return self.send(401, {"error": {"message": f"bad key {key}"}})
        if "[busy]" in prompt and times == 1:
            return self.send(429, {"error": "slow down"}, {"Retry-After": "0.01"})
        if "[always busy]" in prompt:
            return self.send(429, {"error": "slow down"}, {"Retry-After": "0.01"})
        if "[hang]" in prompt:
            self.server.released.wait(20)
            return None
        if "[refuse]" in prompt:
            return self.say(None, refusal="I cannot help with that.")
        if "[filter]" in prompt:
            return self.say("", finish_reason="content_filter")
        if "[silent]" in prompt:
            return self.say("")
        if "[other]" in prompt:
            return self.send(200, {"output": "2"})
        if "[broken]" in prompt:
            return self.send(200, b'{"choices": [')
        for word, answer in ANSWERS.items():
            if f"[{word}]" in prompt:
                return self.say(answer)
        if "[echo]" in prompt:
            return self.say(json.dumps({"grade": 1, "why": f"your key is {key}"}))
        return self.say(judged(prompt) if "Question:" in prompt else written(prompt))

    def say(self, content: Any, finish_reason: str = "stop", **message: Any) -> None:
        said = {"role": "assistant", "content": content, **message}
        self.send(200, {"choices": [{"index": 0, "message": said, "finish_reason": finish_reason}]})


ANSWERS: dict[str, Any] = {
    "prose": "I would say two.",
    "five": '{"grade": 5, "why": "great"}',
    "half": '{"grade": 1.5}',
    "true": '{"grade": true}',
    "word": '{"grade": "high"}',
    "fenced": '```json\n{"grade": 2, "why": "yes"}\n```',
    "thinking": '<think>{"grade": 0}? no.</think>\n{"grade": 2, "why": "yes"}',
    "list": "[2]",
    "text": '{"grade": "2", "why": "as a text"}',
    "high": '{"grade": "3", "why": "as a text"}',
    "parts": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]},
        {"type": "text", "text": '{"grade": 2, '},
        {"type": "text", "text": '"why": "yes"}'},
    ],
    "invents": '{"question": "What is it?", "quote": "words that nobody wrote there"}',
    "nothing": '{"question": null, "quote": null}',
}


def judged(prompt: str) -> str:
    """2 where the passage holds the question's last word, else 0."""
    question, _, passage = prompt.removeprefix("Question:\n").partition("\n\nPassage:\n")
    found = question.rstrip("?").split()[-1] in passage
    return json.dumps({"grade": 2 if found else 0, "why": "It does\nor it does not."})


def written(prompt: str) -> str:
    sentence = prompt.removeprefix("Passage:\n").split(".")[0]
    # As a model would: on one line, whatever the passage has.
    quote = " ".join(sentence.split())
    return json.dumps({"question": f"What about {quote.split()[-1]}?", "quote": quote})


@contextmanager
def running() -> Iterator[ModelServer]:
    with serving(ModelServer()) as server:
        yield server
