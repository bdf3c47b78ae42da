"""Exports of search engines, vector stores and evaluation platforms, drawn at random.

Each is the JSON that a tool writes, or a log that keeps its answer beside the question, with the
values that its author means. The values are computed here and share no code with the package.
"""

import json
import random
from collections.abc import Callable
from typing import Any

from tests.io.natural_files import File, Ranked, Truth

Export = Callable[[random.Random, Truth, Ranked], Any]
TEXT = "Part {} of the handbook says how it works."
ASKED = ("query", "question", "user_query", "Question")
WANTED = ("expected_ids", "relevant_ids", "ground_truth", "expected", "gold_ids", "relevant_docs")


def draw_export(seed: int) -> File:
    """The export of a number, always the same."""
    draw = random.Random(seed)
    form = draw.choice(("doc{}", "lists#{}", "a/b-{}", "kb/{}.md", "c{}_1"))
    ids = [form.format(number) for number in range(1, 13)]
    queries = [f"How does part {number} of it work?" for number in range(draw.randint(2, 5))]
    truth: Truth = {}
    run: Ranked = {}
    for query in queries:
        targets = draw.sample(ids, draw.randint(1, 3))
        truth[query] = dict.fromkeys(targets, 1.0)
        run[query] = draw.sample(ids, 5)
    # With nothing in common they would be refused, which is another test's matter.
    run[queries[0]][2] = next(iter(truth[queries[0]]))
    run[queries[0]] = [*dict.fromkeys(run[queries[0]])]
    shape = draw.choice([*ANSWERS, *EXPORTS])
    if shape in ANSWERS:
        return answered(draw, truth, run, shape)
    made = EXPORTS[shape](draw, truth, run)
    file = written(draw, made, truth, run, shape)
    file.returned_only = shape == "judged_results"
    return file


def written(
    draw: random.Random, made: tuple[Any, str], truth: Truth, run: Ranked, shape: str
) -> File:
    """A value as JSON, and a list of records sometimes as JSON lines."""
    value, holds = made
    if isinstance(value, list) and draw.random() < 0.5:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in value)
        return File(lines, ".jsonl", truth, run, holds, shape)
    return File(json.dumps(value), ".json", truth, run, holds, shape)


def answered(draw: random.Random, truth: Truth, run: Ranked, shape: str) -> File:
    """A log of answers: each beside its question, and often beside what should be found."""
    asked, wanted = draw.choice(ASKED), draw.choice(WANTED)
    both = draw.random() < 0.6
    answer = ANSWERS[shape]
    inside = draw.choice(("", "", "response", "result"))
    style = draw.random()
    rows = []
    for query, ids in run.items():
        found = answer(random.Random(style), ids)  # every record of a file in the same style
        row = {asked: query, **({inside: found} if inside else found)}
        if both:
            row[wanted] = [*truth[query]]
        rows.append(row)
    return written(draw, (rows, "both" if both else "run"), truth, run, f"{shape} {inside}".strip())


def _falling(draw: random.Random, ids: list[str]) -> list[tuple[str, float]]:
    top = draw.uniform(0.5, 20)
    return [(name, round(top - place * top / 10, 4)) for place, name in enumerate(ids)]


def _rising(ids: list[str]) -> list[tuple[str, float]]:
    return [(name, round(0.1 + place * 0.07, 4)) for place, name in enumerate(ids)]


def haystack(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    return {
        "documents": [
            {"id": name, "content": TEXT.format(name), "meta": {"lang": "en"}, "score": score}
            for name, score in _falling(draw, ids)
        ]
    }


def pinecone(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    matches = [
        {"id": name, "score": score, "values": [], "metadata": {"genre": "a"}}
        for name, score in _falling(draw, ids)
    ]
    return {"matches": matches, "namespace": "", "usage": {"read_units": 5}}


def azure(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    key = draw.choice(("id", "chunk_id"))
    value = [
        {"@search.score": score, key: name, "content": TEXT.format(name)}
        for name, score in _falling(draw, ids)
    ]
    return {"@odata.context": "https://x.search.windows.net/", "@odata.count": 5, "value": value}


def qdrant(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    points = [
        {"id": name, "version": 3, "score": score, "payload": {"city": "Rome"}, "vector": None}
        for name, score in _falling(draw, ids)
    ]
    inner = {"points": points}
    return draw.choice((inner, {"result": inner, "status": "ok", "time": 0.002}))


def bigquery(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    flat = [{"id": name, "distance": number} for name, number in _rising(ids)]
    nested = [{"base": {"id": name}, "distance": number} for name, number in _rising(ids)]
    return {"neighbors": draw.choice((flat, nested))}


def chroma(_: random.Random, ids: list[str]) -> dict[str, Any]:
    return {
        "ids": [ids],
        "distances": [[number for _, number in _rising(ids)]],
        "documents": [[TEXT.format(name) for name in ids]],
        "metadatas": [[None for _ in ids]],
        "embeddings": None,
    }


def vespa(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    children = [
        {"id": name, "relevance": score, "source": "content", "fields": {"title": "T"}}
        for name, score in _falling(draw, ids)
    ]
    top = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 5}, "children": children}
    return {"root": top}


def llama_index(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    key = draw.choice(("source_nodes", "nodes"))
    nodes = [
        {"node": {"id_": name, "text": TEXT.format(name), "metadata": {}}, "score": score}
        for name, score in _falling(draw, ids)
    ]
    return {key: nodes}


def weaviate(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    objects = [
        {"title": "T", "_additional": {"id": name, "distance": number}}
        for name, number in _rising(ids)
    ]
    return {"data": {"Get": {draw.choice(("Article", "Chunk")): objects}}}


def elasticsearch(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    hits = [
        {"_index": "kb", "_id": name, "_score": score, "_source": {"title": "T", "version": 2}}
        for name, score in _falling(draw, ids)
    ]
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 5, "successful": 5, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": 5, "relation": "eq"}, "max_score": 1.0, "hits": hits},
    }


def vector_store(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    data = [
        {"file_id": name, "score": score, "content": [{"type": "text", "text": TEXT.format(name)}]}
        for name, score in _falling(draw, ids)
    ]
    return {"object": "vector_store.search_results.page", "data": data, "has_more": False}


def bedrock(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    results = [
        {
            "content": {"text": TEXT.format(name), "type": "TEXT"},
            "location": {"type": "S3", "s3Location": {"uri": name}},
            "score": score,
        }
        for name, score in _falling(draw, ids)
    ]
    return {"retrievalResults": results}


def solr(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    key = draw.choice(("id", "chunk_id"))
    docs = [{key: name, "title_t": ["T"], "score": score} for name, score in _falling(draw, ids)]
    header = {"status": 0, "QTime": 3, "params": {"wt": "json"}}
    return {"responseHeader": header, "response": {"numFound": 5, "start": 0, "docs": docs}}


def typesense(_: random.Random, ids: list[str]) -> dict[str, Any]:
    hits = [{"document": {"id": name}, "highlights": [], "text_match": 9} for name in ids]
    return {"facet_counts": [], "found": 5, "hits": hits, "page": 1, "search_time_ms": 1}


def meilisearch(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    key = draw.choice(("id", "objectID", "_id"))
    hits = [
        {key: name, "title": "T", "_rankingScore": score} for name, score in _falling(draw, ids)
    ]
    return {"hits": hits, "estimatedTotalHits": 5, "limit": 20, "offset": 0}


def kendra(_: random.Random, ids: list[str]) -> dict[str, Any]:
    items = [{"Id": f"t-{name}", "Type": "DOCUMENT", "DocumentId": name} for name in ids]
    return {"ResultItems": items, "TotalNumberOfResults": 5}


def redis(_: random.Random, ids: list[str]) -> dict[str, Any]:
    docs = [{"id": name, "vector_distance": str(number)} for name, number in _rising(ids)]
    return {"total": 5, "docs": docs}


ANSWERS: dict[str, Callable[[random.Random, list[str]], dict[str, Any]]] = {
    "haystack": haystack,
    "pinecone": pinecone,
    "azure": azure,
    "qdrant": qdrant,
    "bigquery": bigquery,
    "chroma": chroma,
    "vespa": vespa,
    "llama_index": llama_index,
    "weaviate": weaviate,
    "elasticsearch": elasticsearch,
    "opensearch": elasticsearch,
    "vector_store": vector_store,
    "bedrock": bedrock,
    "solr": solr,
    "typesense": typesense,
    "meilisearch": meilisearch,
    "kendra": kendra,
    "redis": redis,
}


KINDS = ("ids", "objects", "langchain")


def _documents(kind: str, ids: list[str]) -> list[Any]:
    """Documents as platforms keep them: ids, or objects."""
    if kind == "ids":
        return ids
    if kind == "objects":
        return [{"id": name, "text": TEXT.format(name)} for name in ids]
    return [
        {"id": name, "page_content": TEXT.format(name), "metadata": {}, "type": "Document"}
        for name in ids
    ]


def langsmith(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """An experiment: inputs, what the target returned, what the dataset holds."""
    asked = draw.choice(("question", "query", "input"))
    key = draw.choice(("doc_ids", "documents", "context", "retrieved"))
    wanted = draw.choice((key, "expected_ids", "ids", "relevant_ids"))
    nested = draw.random() < 0.6
    kind = draw.choice(KINDS)
    rows = []
    for query, ids in run.items():
        found = _documents(kind, ids)
        meant = [*truth[query]]
        if nested:
            row = {
                "inputs": {asked: query},
                "outputs": {key: found},
                "reference_outputs": {wanted: meant},
                "execution_time": 0.2,
                "feedback": {"correct": 1},
            }
        else:
            row = {
                f"inputs.{asked}": query,
                f"outputs.{key}": found,
                f"reference_outputs.{wanted}": meant,
            }
        rows.append(row)
    return rows, "both"


def langfuse(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Items of a dataset, sometimes with the output of an experiment."""
    asked = draw.choice(("question", "query", ""))
    wanted = draw.choice(("expected_output", "expectedOutput"))
    inner = draw.choice(("ids", "expected_ids", "relevant_docs", ""))
    both = draw.random() < 0.5
    kind = draw.choice(KINDS)
    wrapped = draw.random() < 0.5
    rows = []
    for number, (query, ids) in enumerate(run.items()):
        meant = [*truth[query]]
        row = {
            "id": f"item-{number}",
            "input": {asked: query} if asked else query,
            wanted: {inner: meant} if inner else meant,
            "metadata": None,
        }
        if both:
            found = _documents(kind, ids)
            row["output"] = {"documents": found} if wrapped else found
        rows.append(row)
    return rows, "both" if both else "truth"


def phoenix(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Spans of retrievers."""
    del truth
    rows = []
    for number, (query, ids) in enumerate(run.items()):
        documents = [
            {"document.id": name, "document.content": TEXT.format(name), "document.score": score}
            for name, score in _falling(draw, ids)
        ]
        rows.append(
            {
                "name": "retrieve",
                "span_kind": "RETRIEVER",
                "context": {"trace_id": f"t{number}", "span_id": f"s{number}"},
                "attributes": {
                    "openinference.span.kind": "RETRIEVER",
                    "input.value": query,
                    "retrieval.documents": documents,
                },
            }
        )
    return rows, "run"


def mlflow(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """An evaluation table: retrieved and expected context."""
    asked = draw.choice(("request", "question", "inputs"))
    where = draw.choice(("flat", "expectations"))
    rows = []
    for number, (query, ids) in enumerate(run.items()):
        found = [{"doc_uri": name, "content": TEXT.format(name)} for name in ids]
        meant = [{"doc_uri": name} for name in truth[query]]
        row: dict[str, Any] = {"request_id": f"r{number}"}
        row[asked] = {"query": query} if asked == "inputs" else query
        row["retrieved_context"] = found
        if where == "flat":
            row["expected_retrieved_context"] = meant
        else:
            row["expectations"] = {"expected_retrieved_context": meant}
        rows.append(row)
    return rows, "both"


def wandb(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """A table of Weights & Biases."""
    columns = draw.choice(
        (
            ("query", "retrieved_ids", "expected_ids"),
            ("question", "results", "relevant"),
            ("question", "retrieved", "ground_truth"),
        )
    )
    data = [[query, ids, [*truth[query]]] for query, ids in run.items()]
    return {"columns": [*columns], "data": data}, "both"


def promptfoo(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Results of an evaluation with variables."""
    asked, wanted = draw.choice(("query", "question")), draw.choice(("expected_ids", "gold"))
    kind = draw.choice(KINDS)
    rows = [
        {
            "vars": {asked: query, wanted: [*truth[query]]},
            "response": {"output": {"documents": _documents(kind, ids)}},
            "success": True,
            "score": 1,
            "latencyMs": 12,
        }
        for query, ids in run.items()
    ]
    whole = {"version": 3, "timestamp": "2026-01-01T00:00:00Z", "results": rows}
    return {"evalId": "eval-1", "results": whole, "config": {}}, "both"


def deepeval(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Test cases of texts."""
    camel = draw.random() < 0.5
    names = (
        ("actualOutput", "retrievalContext") if camel else ("actual_output", "retrieval_context")
    )
    rows = [
        {
            "input": query,
            names[0]: "An answer.",
            names[1]: [TEXT.format(name) for name in ids],
            "context": [TEXT.format(name) for name in truth[query]],
        }
        for query, ids in run.items()
    ]
    return draw.choice((rows, {"testCases": rows}, {"test_cases": rows})), "both"


def mteb(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Predictions of MTEB 2: subsets, splits, queries, documents."""
    del truth
    scores = {query: dict(_falling(draw, ids)) for query, ids in run.items()}
    meta = {"mteb_model_meta": {"model_name": "m", "revision": "1"}}
    return {**draw.choice((meta, {})), "default": {draw.choice(("test", "dev")): scores}}, "run"


def ragas_like(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Contexts beside the documents that are relevant."""
    contexts = draw.choice(("contexts", "retrieved_contexts", "retrieved_context"))
    wanted = draw.choice(("relevant_docs", "expected_contexts", "reference_context_ids"))
    if contexts == "retrieved_contexts" and wanted == "reference_context_ids":
        wanted = "relevant_docs"
    rows = [
        {"question": query, contexts: ids, wanted: [*truth[query]], "answer": "Somehow."}
        for query, ids in run.items()
    ]
    return rows, "both"


def bigquery_rows(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """What a vector search in BigQuery returns, one neighbour in each row, in any order."""
    del truth
    named = draw.random() < 0.5
    rows = [
        {
            "query": {"question": query, "embedding": [0.1, 0.2]} if named else query,
            "base": {"id": name, "content": TEXT.format(name)},
            "distance": number,
        }
        for query, ids in run.items()
        for name, number in _rising(ids)
    ]
    return draw.sample(rows, len(rows)), "run"


def rank_eval(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """The answer of a ranking evaluation, as results."""
    details = {}
    for query, ids in run.items():
        hits = [
            {"hit": {"_index": "kb", "_id": name, "_score": score}, "rating": None}
            for name, score in _falling(draw, ids)
        ]
        details[query] = {"metric_score": 0.5, "unrated_docs": [], "hits": hits}
    del truth
    return {"metric_score": 0.5, "details": details, "failures": {}}, "run"


def by_query(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """An object with a record under each question."""
    returned = draw.choice(("retrieved", "results", "retrieved_ids"))
    wanted = draw.choice(("ground_truth", "relevant", "expected_ids", "gold"))
    rows = {query: {returned: ids, wanted: [*truth[query]]} for query, ids in run.items()}
    return rows, "both"


def short_names(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Names that nobody knows, beside one another."""
    asked, returned, wanted = draw.choice((("q", "pred", "gt"), ("kysymys", "osumat", "oikeat")))
    return [{asked: q, returned: ids, wanted: [*truth[q]]} for q, ids in run.items()], "both"


def one_each(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """One result in each row, with its id, and its score or distance."""
    del truth
    key, numbers = draw.choice((("score", _falling), ("distance", lambda _, ids: _rising(ids))))
    rows = [
        {"query_text": query, "id": name, key: number}
        for query, ids in run.items()
        for name, number in numbers(draw, ids)
    ]
    # Scores that rise down every list by chance may be distances, and are asked about.
    return draw.sample(rows, len(rows)) if key == "distance" else rows, "run"


def two_stages(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """A first stage and what a reranker made of it; the last one counts."""
    first, last = draw.choice(
        (
            ("retrieved", "reranked"),
            ("retrieved_ids", "reranked_ids"),
            ("before", "after"),
            ("results", "reranked_results"),
            ("retriever", "ranker"),
        )
    )
    wanted = draw.choice(("ground_truth", "expected"))
    rows = []
    for query, ids in run.items():
        before = draw.sample(ids, len(ids))
        while before == ids:
            before = draw.sample(ids, len(ids))
        lists: list[Any] = [before, ids]
        if last == "ranker":
            lists = [{"documents": _documents("objects", some)} for some in lists]
        rows.append({"query": query, first: lists[0], last: lists[1], wanted: [*truth[query]]})
    return rows, "both"


def verdicts(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """What should be found and what came back, under names of experiments."""
    wanted, returned = draw.choice(
        (
            ("expected_docs", "actual_docs"),
            ("expected_doc_ids", "actual_doc_ids"),
            ("expected_sources", "actual_sources"),
            ("expected_retrieved_context", "retrieved_context"),
            ("expected_output", "actual_output"),
            ("expected_context_ids", "retrieved_context_ids"),
        )
    )
    asked = "input" if wanted == "expected_output" else "question"
    rows = [{asked: q, wanted: [*truth[q]], returned: ids} for q, ids in run.items()]
    if draw.random() < 0.5:
        rows = [dict(draw.sample([*row.items()], 3)) for row in rows]
    return rows, "both"


def judged_pairs(draw: random.Random, truth: Truth, run: Ranked) -> list[tuple[str, str, bool]]:
    """Each question with its targets and some of its results, and whether they are relevant."""
    pairs = [
        (query, name, name in truth[query])
        for query, ids in run.items()
        for name in dict.fromkeys([*truth[query], *ids[: draw.randint(1, 4)]])
    ]
    return [*pairs, (next(iter(run)), "another", False)]


def argilla(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Pairs that people judged in Argilla, sometimes two of them."""
    asked = draw.choice(("relevance", "is_relevant"))
    people = draw.randint(1, 2)
    rows = []
    for query, name, is_good in judged_pairs(draw, truth, run):
        answer = {"value": "yes" if is_good else "no", "user_id": "u", "status": "submitted"}
        fields = {"query": query, "doc_id": name, "text": TEXT.format(name)}
        rows.append({"id": name, "fields": fields, "responses": {asked: [answer] * people}})
    return rows, "truth"


def label_studio(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Tasks of Label Studio with a choice in each."""
    good, bad = draw.choice((("Relevant", "Not relevant"), ("yes", "no")))
    rows = []
    for number, (query, name, is_good) in enumerate(judged_pairs(draw, truth, run)):
        chosen = {"choices": [good if is_good else bad]}
        result = {"from_name": "verdict", "type": "choices", "value": chosen}
        data = {"question": query, "chunk_id": name}
        rows.append({"id": number, "data": data, "annotations": [{"result": [result]}]})
    return rows, "truth"


def kilt(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Judgements or predictions of KILT: the pages that an answer comes from."""
    holds = draw.choice(("truth", "run"))
    pages = {query: [*(truth if holds == "truth" else run)[query]] for query in run}
    rows = [
        {
            "id": f"k{number}",
            "input": query,
            "output": [
                {"answer": "Yes."},
                {"answer": "yes", "provenance": [{"wikipedia_id": name} for name in pages[query]]},
            ],
        }
        for number, query in enumerate(run)
    ]
    return rows, holds


def several_asked(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """The answer of Chroma to several questions at once."""
    del truth
    asked = draw.choice(("queries", "query_texts"))
    whole = {
        asked: [*run],
        "ids": [*run.values()],
        "distances": [[number for _, number in _rising(ids)] for ids in run.values()],
        "metadatas": None,
        "included": ["distances"],
    }
    return whole, "run"


def mapped_parts(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """One object with the results and the judgements of all queries."""
    returned, wanted = draw.choice(
        (("run", "qrels"), ("retrieved", "ground_truth"), ("results", "relevant_docs"))
    )
    scored = {query: dict(_falling(draw, ids)) for query, ids in run.items()}
    whole: dict[str, Any] = {returned: draw.choice((run, scored)), wanted: truth}
    if draw.random() < 0.5:
        numbers = {query: f"q{number}" for number, query in enumerate(run)}
        whole = {
            part: {numbers[query]: held for query, held in value.items()}
            for part, value in whole.items()
        }
        whole["queries"] = {number: query for query, number in numbers.items()}
    return whole, "both"


def bedrock_evaluation(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Records of Bedrock's evaluations, with what its knowledge base returned."""
    del draw, truth
    rows = []
    for query, ids in run.items():
        passages = [{"name": name, "content": {"text": TEXT.format(name)}} for name in ids]
        output = {"text": "Yes.", "retrievedPassages": {"retrievalResults": passages}}
        prompt = {"content": [{"text": query}]}
        rows.append({"conversationTurns": [{"prompt": prompt, "output": output}]})
    return rows, "run"


def tasks(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Tasks that OpenLLMetry records, of which one is called a retrieval."""
    del truth
    called = draw.choice(("retriever.task", "search_documents.tool"))
    rows = []
    for number, (query, ids) in enumerate(run.items()):
        documents = [{"id": name, "page_content": TEXT.format(name)} for name in ids]
        for name, output in ((called, {"documents": documents}), ("answer.task", "Yes.")):
            attributes = {
                "traceloop.entity.name": name,
                "traceloop.entity.input": json.dumps({"query": query}),
                "traceloop.entity.output": json.dumps(output),
            }
            context = {"trace_id": f"t{number}", "span_id": name}
            rows.append({"name": name, "context": context, "attributes": attributes})
    return rows, "run"


def chain(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """What a retrieval chain of LangChain returns."""
    del draw, truth
    rows = [
        {"input": query, "chat_history": [], "context": _documents("langchain", ids), "answer": "Y"}
        for query, ids in run.items()
    ]
    return rows, "run"


def answers_of_model(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Answers of OpenAI's model, with the search that it called."""
    del truth
    rows = []
    for number, (query, ids) in enumerate(run.items()):
        results = [{"file_id": name, "score": score} for name, score in _falling(draw, ids)]
        search = {"type": "file_search_call", "queries": [query], "results": results}
        message = {"type": "message", "role": "assistant", "content": []}
        rows.append({"id": f"r{number}", "input": query, "output": [search, message]})
    return rows, "run"


def outputs_in_texts(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Results of promptfoo whose outputs are JSON in texts."""
    wanted = draw.choice(("expected_ids", "relevant"))
    rows = [
        {
            "vars": {"question": query, wanted: [*truth[query]]},
            "response": {"output": json.dumps(draw.choice((ids, {"ids": ids})))},
        }
        for query, ids in run.items()
    ]
    return {"results": {"version": 3, "results": rows}}, "both"


def of_system(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """The rankings of one system, below its name."""
    del truth
    scored = {query: dict(_falling(draw, ids)) for query, ids in run.items()}
    return {draw.choice(("bm25", "dense-v2", "hybrid")): draw.choice((run, scored))}, "run"


def judged_results(draw: random.Random, truth: Truth, run: Ranked) -> tuple[Any, str]:
    """Results that carry a judgement each, under a name that is known or not."""
    name = draw.choice(("relevant", "is_relevant", "grade", "judgement", "label", "fits"))
    no, yes = draw.choice(((0, 1), (False, True), ("no", "yes"), ("bad", "good")))
    part = draw.choice(("results", "retrieved", "hits"))
    rows = []
    for query, ids in run.items():
        meant = {one: float(draw.random() < 0.4) for one in ids}
        meant[ids[0]], meant[ids[1]] = draw.choice(((0.0, 1.0), (1.0, 0.0)))
        truth[query] = meant
        results = [{"id": one, name: yes if meant[one] else no} for one in ids]
        rows.append({"query": query, part: results})
    return rows, "both"


EXPORTS: dict[str, Export] = {
    "judged_results": judged_results,
    "of_system": of_system,
    "argilla": argilla,
    "label_studio": label_studio,
    "kilt": kilt,
    "several_asked": several_asked,
    "mapped_parts": mapped_parts,
    "bedrock_evaluation": bedrock_evaluation,
    "tasks": tasks,
    "chain": chain,
    "answers_of_model": answers_of_model,
    "outputs_in_texts": outputs_in_texts,
    "langsmith": langsmith,
    "langsmith again": langsmith,
    "langfuse": langfuse,
    "phoenix": phoenix,
    "mlflow": mlflow,
    "wandb": wandb,
    "promptfoo": promptfoo,
    "deepeval": deepeval,
    "mteb": mteb,
    "ragas_like": ragas_like,
    "bigquery_rows": bigquery_rows,
    "rank_eval": rank_eval,
    "by_query": by_query,
    "short_names": short_names,
    "one_each": one_each,
    "two_stages": two_stages,
    "verdicts": verdicts,
}
