"""What may be asked here, declared once: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.live.keywords import Retrieving
from calipers.operation import Setting, operation

if TYPE_CHECKING:
    from calipers.live.result import LiveRun


@operation(page="retrieve", command="retrieve")
def retrieve(
    search: Annotated[Any, Setting("", argument="[RETRIEVER]", file="retriever")],
    questions: Annotated[Any, Setting("", argument="[QUESTIONS]", file="ground-truth")],
    k: Annotated[int, Setting("Results to ask for.", "-k", file="ask-for")] = 20,
    *,
    workers: Annotated[
        int | None,
        Setting(
            "Questions asked at a time. [default: 8; 1 for a command]", metavar="N", file="workers"
        ),
    ] = None,
    output: str | os.PathLike[str] | None = None,
    **asking: Unpack[Retrieving],
) -> "LiveRun":
    """Ask a retriever every question and return what came back as a run.

    ``search`` is a function of (query, k), sync or async; an object of LangChain, LlamaIndex,
    Haystack, FAISS, Chroma, Qdrant, LanceDB or bm25s; or a text: an address, ``cmd:`` and a
    command, ``mcp:server#tool``, or ``package.module:function``. ``questions`` is a path, a ground
    truth, a mapping of id to text, or a list of texts or records; ``columns`` says which column of
    a table is what, where its name does not, such as ``{"query": "Frage"}``.

    ``k`` results are asked for, by ``workers`` at a time (8, or 1 for a command). With
    ``output``, a .jsonl file, every finished question is on disk at once, the same call goes on
    where it was interrupted, and the run stays in the file until it is looked into. A finished
    output is asked again and the old one kept as .bak; ``keep`` leaves it where nothing changed.

    The others say how patiently it is asked (timeout, retries, rate, max_errors), what happens
    to answers (warm_up, cache, label, restart, resume, keep, retry_errors), what this kind of
    retriever takes (such as batch, request or embed) and where in an answer to look (such as
    results or id).

    >>> def search(query: str, k: int) -> list[str]:
    ...     return ["b", "a"]
    >>> run = retrieve(search, {"q1": "Who wrote it?"}, k=2)
    >>> run.frame["item"].to_list()
    ['b', 'a']
    >>> run.report.answered
    1
    """
    from calipers.live.retrieve import retrieve_to_run

    return retrieve_to_run(search, questions, k=k, workers=workers, output=output, **asking)
