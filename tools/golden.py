"""Record what every command and operation gives, and compare two recordings.

    python tools/golden.py record FOLDER [--source SRC] [--only PATTERN] [--jobs N]
    python tools/golden.py compare FOLDER FOLDER [--only PATTERN]

This holds a change that is to change no output: record before it, record after it, compare. A case
is a few commands in one folder of small files; its recording is a text with their exit codes, what
they printed and every file they wrote. Only times, speeds, random ids, temporary paths and the
version are replaced. PATTERN is a regular expression that is looked for in the names of cases:
`^(?!help-)` leaves the help texts out.
"""

import argparse
import difflib
import hashlib
import itertools
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
COPIED = """
examples/first examples/lighthouse examples/nights.py examples/python_questions.json
tests/data/formats tests/data/histories tests/data/parity
"""
"""What a case finds of the repository, each under its last name."""
FILES = r"""
>>> empty.jsonl
>>> bad.jsonl
{"id": "q1", "query": "a", "retrieved": ["x"], "ground_truth": ["x"]}
{"id":
>>> strange.jsonl
{"id": "q0", "query": "a", "retrieved": ["z"]}
>>> wide.csv
frage,richtig,gefunden
who?,a,a
why?,c,b
>>> label.csv
query_id,query,item,text,grade
q0,What of it?,a,A text of it.,1
q0,What of it?,b,Another.,
>>> wrong.toml
dta = "both.jsonl"
>>> settings.toml
data = "both.jsonl"
metrics = ["recall@5", "mrr"]
gate = {require = ["recall@5 >= 0.2", "mrr >= 0.9 for kind=fact"]}
>>> grid.toml
ground-truth = "truth.jsonl"
metrics = "recall@3,mrr"
grid = {k = 4, params = {shift = [0, 2]}, retrievers = {near = {make = "search:made"}}}
>>> calipers_project.toml
ground-truth = "truth.jsonl"
retriever = "search:search"
k = 3
>>> search.py
IDS = [f"d{n // 4}#{n}" for n in range(32)]
wrong = 5
def search(query, k, shift=0):
    first = (sum(map(ord, query)) + shift) % 32
    return (IDS[first:] + IDS[:first])[:k]
def made(shift):
    return lambda query, k: search(query, k, shift)
def fails(query, k):
    if "3" in query:
        raise ValueError("no " + query)
    return [{"id": one, "score": 1 / n} for n, one in enumerate(search(query, k), 1)]
def tokens(text):
    return len(text.split())
>>> command.py
import json, sys
for line in sys.stdin:
    print(json.dumps({"results": ["d0#1", "d1#5"][: json.loads(line)["k"]]}), flush=True)
>>> many.py
import polars
n = polars.int_range(1_000_000, eager=True)
table = polars.DataFrame({"query": n.cast(str), "item": (n % 7).cast(str)})
table.write_parquet("many.parquet")
table.with_columns(item=(n % 5).cast(str), rank=n // n.len() + 1).write_parquet("many_run.parquet")
>>> test_search.py
def test_good(calipers_eval):
    calipers_eval("both.jsonl").require("mrr > 0")
def test_bad(calipers_eval):
    calipers_eval("both.jsonl").require("mrr > 0.99")
def test_file(calipers_eval):
    calipers_eval("both.jsonl").not_worse_than("nowhere.json")
>>> look.py
import datetime, json, sys
import numpy, polars
import calipers
from search import search
try:
    value = eval(sys.argv[1])
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
print(type(value).__name__, repr(value), value, sep="\n")
if hasattr(value, "to_dict"):
    print(json.dumps(value.to_dict(), indent=1, default=str, ensure_ascii=False))
if hasattr(value, "_repr_html_"):
    print(value._repr_html_())
>>> beside.py
import json, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        value = {"hits": [{"key": f"d{n}#{4 * n}", "points": 9 - n} for n in range(4)]}
        if self.path.startswith("/v1"):
            prompt = json.loads(body)["messages"][-1]["content"]
            quote = prompt.removeprefix("Passage:\n").split(".")[0]
            said = {"question": f"What of {quote.split()[1]}?", "quote": quote}
            if "Question:" in prompt:
                said = {"grade": len(prompt) % 3, "why": "It is so."}
            message = {"role": "assistant", "content": json.dumps(said)}
            value = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())
    do_GET = do_POST
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
given = [one.replace("URL", f"http://127.0.0.1:{server.server_port}") for one in sys.argv[1:]]
sys.exit(subprocess.run([sys.executable, "-m", "calipers", *given]).returncode)
>>> visit.py
import atexit, http.client, re, signal, subprocess, sys
where = sys.argv.index("--")
command = [sys.executable, "-m", "calipers", "serve", "--port", "0", *sys.argv[1:where]]
server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
atexit.register(server.send_signal, signal.SIGINT)
host, door = re.search(r"http://([^/]+)(/.+)", server.stdout.readline()).groups()
sent = {"Origin": f"http://{host}", "Content-Type": "application/json"}
for asked in [door, *sys.argv[where + 1:]]:
    path, _, body = asked.partition(" ")
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("POST" if body else "GET", path, body or None, sent)
    answer = connection.getresponse()
    sent.setdefault("Cookie", (answer.headers["Set-Cookie"] or "").partition(";")[0])
    print(path, answer.status, answer.headers["Content-Type"], answer.read().decode(), sep="\n")
"""
"""What is written as it stands here, each below its name."""
COMMANDS = """
audit compare config convert diagnose eval gate gate_save gate_show grid history history_alarm
history_check history_copy history_prune history_show history_trend init labels labels_agreement
labels_draft labels_export labels_import labels_judge labels_list labels_questions labels_traces
metrics misses plan retrieve serve sweep
"""
# A line is a case: commands of calipers, of the shell after a $, or what Python shows after a =,
# with ;; between them. [[a | b]] makes a case of each, and an indented line goes on with the last.
CASES = r"""
eval both.jsonl [[ | --explain | --json | --csv | -q | --level all | --bounds | --cluster topic]]
eval both.jsonl --by kind --by length [[ | --csv | --json | --explain]] --primary mrr
eval both.jsonl -m [[recall@3,mrr --score recall@3=0.7,mrr=0.3 | ndcg,map,f1,err,rbp -k 2,5 | all
  | tn@3,fp@3 --corpus-size 32 | hit_rate@1,r_precision,bpref --rel 2 | recall@3 --confidence 0.8]]
eval both.jsonl -m recall@3 [[--missing error | --errors exclude | --unanswerable zero | --ties trec
  | --duplicates error | --unknown error | --like trec_eval | --join-calls best | --errors error]]
eval -g parity/qrels.txt -r parity/run.txt --like [[trec_eval | trec_eval-9 --explain]] -k 5,10
eval -g [[quotes.jsonl | quotes.jsonl --match quote(min=0.8) | spans.jsonl | spans.jsonl --level all
  | spans.jsonl --level chunk --json | quotes.jsonl --level document]] -r run.jsonl -k 1,5 --explain
eval -g quotes.jsonl -r run.jsonl --level all [[ | --csv | --by kind | --html p.html | --save x]]
eval -g prefixed.jsonl -r run.jsonl [[ | --map-ids prefix=docs/,case | --nothing-in-common zero]]
eval wide.csv --column query=frage --column ground_truth=richtig [[ | --column retrieved=gefunden]]
eval both.jsonl --corrected-by people.jsonl [[ | --json | --csv | --explain]] -m recall@3,mrr
eval both.jsonl --per-query per.[[csv | jsonl | json | tsv | parquet]] -m recall@3,mrr -q
eval both.jsonl --per-query s.parquet -q ;; eval s.parquet [[ | --by kind | --json | --html p.html
  | -m recall@1 | --explain | --csv --by kind | --bounds | -k 3]]
eval both.jsonl [[--html p.html --corpus corpus.jsonl --markdown short.md -k 1,3 | --markdown s.md
  | --html p.html --full --by kind | --memory 16MB --json -m mrr]]
eval truth.jsonl --retriever [[search:search | search.py:search --json | search:wrong | nowhere:f
  | "cmd:python command.py" | search:search --ask-for 3 --workers 2 | search:fails]] -k 1,3
eval --config [[settings.toml | wrong.toml | nowhere.toml | settings.toml -m mrr --explain]]
eval python_questions.json ;; eval lighthouse/overlap.jsonl -g lighthouse/questions.jsonl --explain
eval both.jsonl --save nightly --tag model=e5 --corpus corpus.jsonl ;; eval -g truth.jsonl -r
  other.jsonl --save nightly --tag model=e6 ;; history ;; history --with-tag model=e5 --explain ;;
  history show @nightly ;; history show @nightly~1 --json ;; compare @nightly~1 @nightly ;;
  history trend nightly ;; history check ;; history prune --keep 1 --yes ;; eval @nightly
eval both.jsonl --save a --no-results --store h.db --tag x ;; eval both.jsonl --save a --store h.db
  --tag x=1 --json ;; history show @a --store h.db --per-query p.csv ;; history show @b
eval both.jsonl --mlflow sqlite:///mlflow.db -m mrr
eval -g truth.jsonl ;; eval nowhere.json ;; eval empty.jsonl ;; eval bad.jsonl ;; eval ;; eval docs
  ;; eval both.jsonl -m recal@5 ;; eval both.jsonl -k 0 ;; eval both.jsonl --master local ;; eval
  both.jsonl --level page ;; eval both.jsonl --by nothing ;; eval both.jsonl --confidence 2
eval both.jsonl [[--jsn | --json --csv | --score recall@5 | --primary x | --memory lots | --rel x
  | --match fuzzy | --cluster no | --tag a=b | --per-query x.doc | --column x | --map-ids x]]
eval -g truth.jsonl -r strange.jsonl ;; eval truth.jsonl ;; eval run.jsonl ;; evla ;; eval --full
eval calls.jsonl --join-calls [[concat | union | best | last]] -m recall@2,mrr
$ calipers eval - < both.jsonl ;; $ gzip -n both.jsonl ;; eval both.jsonl.gz ;; $ calipers
$ mkdir sub; mv calipers_project.toml calipers.toml; cd sub; calipers eval; calipers config --json
$ cd first && calipers eval questions.csv --retriever search:search -k 1,3 --by length
config ;; config --config settings.toml ;; config --config wrong.toml
eval calls.jsonl --calls [[ | -k 1 | --json | --csv | --explain]]
compare both.jsonl other.jsonl third.jsonl -g truth.jsonl [[ | --explain | --json | --as csv
  | --as markdown | --as latex | --against other | --html page.html | --examples 2 | -b third]]
compare old=run.jsonl new=other.jsonl -g truth.jsonl -m recall@3,mrr [[--per-query p.csv
  | --per-query p.parquet | --score recall@3=1,mrr=2 | --primary mrr --queries-by recall@3
  | --cluster topic --confidence 0.9 | --against nobody | -g people.jsonl | --explain]]
eval both.jsonl --json -m recall@3,mrr > a.json ;; eval -g truth.jsonl -r other.jsonl --json -m mrr
  > b.json ;; compare a.json b.json ;; compare a.json b.json --as markdown ;; plan a.json b.json
compare truth.jsonl --retriever old=search:search --retriever new=search:fails -k 3
compare run.jsonl ;; compare run.jsonl run.jsonl -g truth.jsonl ;; compare run.jsonl strange.jsonl
  -g truth.jsonl ;; compare x=run.jsonl x=other.jsonl -g truth.jsonl ;; compare both.jsonl docs
plan run.jsonl other.jsonl -g truth.jsonl [[--difference 0.05 | --queries 500 --json | --queries 2]]
gate save both.jsonl -m recall@3,mrr -o main.json ;; gate save -g truth.jsonl -r other.jsonl
  -m recall@3,mrr -o main.json --add ;; gate show main.json ;; gate show main.json --json ;;
  gate -g truth.jsonl -r third.jsonl -b main.json --by kind --junit j.xml --markdown m.md ;;
  gate both.jsonl -b main.json --strict --allow 0.1 --explain ;; gate both.jsonl -b main.json --json
gate both.jsonl --require "recall@5 >= 0.1" [[ | --require "mrr > 0.99 for kind=fact" --junit j.xml
  --markdown m.md | --json | --explain --require "ndcg@3 >= 0.2" | --require "x > 1" | --require y]]
gate [[--config settings.toml | --config settings.toml --json | | both.jsonl --by kind | both.jsonl
  -b no.json | both.jsonl -b both.jsonl | truth.jsonl --retriever search:fails --require "mrr>0"]]
sweep both.jsonl [[ | --explain | --json | --csv | -m recall,ndcg -k 1,3,8 | --tokens 40 --price 2.5
  | --tokenizer search:tokens | --margin 0.2 | -m recall@5]]
sweep both.jsonl --floor [[ | --explain | --json | --csv | -k 5 --recall 0.5 | --keep 0.8 --seed 3]]
sweep calls.jsonl --floor ;; sweep both.jsonl --keep 2 ;; sweep both.jsonl --floor --tokens 40
diagnose both.jsonl [[ | --explain | --json | --before other.jsonl | -k 3 --price 2.5 --by kind
  | --rules | --rules --json | --threshold too_wide.recall=0.7 | --threshold x=1]]
misses both.jsonl -k 3 [[ | --explain | --json | --corpus corpus.jsonl -o m.csv | -o m.parquet
  | --candidates third.jsonl --exact other.jsonl --examples 1 -o m.jsonl]]
misses -g quotes.jsonl -r run.jsonl --corpus [[corpus.jsonl | docs | nowhere]]
audit [[truth.jsonl | both.jsonl --explain | quotes.jsonl --corpus docs --json | spans.jsonl -c
  corpus.jsonl -q | prefixed.jsonl -c corpus.jsonl --fail-on error | truth.jsonl -r run.jsonl | ]]
convert quotes.jsonl --resolve docs [[ | out.jsonl --first | --json | --strict --explain]]
compare run.jsonl other.jsonl [[ | --explain | --json | -k 3 --by length | --html d.html
  | -g truth.jsonl --by kind -o label.csv | --changes -g truth.jsonl | -m mrr]]
labels draft run.jsonl other.jsonl [[-o label.csv -k 3 | -o label.jsonl -g truth.jsonl | -o x.doc
  | -o label.csv --questions truth.jsonl --corpus corpus.jsonl --seed 3 --json]]
labels agreement lighthouse/anna.csv lighthouse/bo.csv [[ | --explain | --json | --scale nominal
  --weights linear | -o t.jsonl --ties max | --machine bo | -o t.jsonl --targets-as quote]]
labels traces formats/openinference.jsonl formats/langsmith.jsonl [[ | -n 2 -o q.jsonl --mask e
  | --json]]
$ for f in formats/*.*; do echo $f; calipers convert $f ${f%.*}_out.jsonl; done
$ for f in formats/[adlmo]*.*; do echo $f; calipers eval $f -k 2 -q 2>&1; done
$ for f in formats/[qrt]*.*; do echo $f; calipers eval $f -k 2 --explain 2>&1; done
convert both.jsonl out.[[csv | trec | json --json | x --to beir | tsv | x | qrels | csv --to x
  | arrow | jsonl --to ragas | json --to llama_index | parquet ;; eval out.parquet --explain]]
convert -g parity/qrels.txt -r parity/run.txt all.jsonl ;; convert nowhere.csv out.jsonl
eval both.jsonl --chart c.[[svg -m recall | json | png | doc | json --by kind]]
sweep both.jsonl --chart c.json ;; misses both.jsonl -k 3 --corpus corpus.jsonl --chart c.html
compare run.jsonl other.jsonl third.jsonl -g truth.jsonl --chart c.[[json | svg]] -k 3
metrics [[ | nDCG@10 | --json | --explain | recal]]
init --yes ;; eval ;; gate ;; init --yes
init --retriever search:search -k 5 --json ;; $ printf 'search:made\n5\n' | calipers init
retrieve search:search truth.jsonl -k 3 -o r.jsonl --workers 1 ;; retrieve search:search truth.jsonl
  -k 3 -o r.jsonl --keep ;; retrieve search:search truth.jsonl -k 3 -o r.jsonl --resume ;; retrieve
  search:search truth.jsonl -k 4 -o r.jsonl ;; eval -g truth.jsonl -r r.jsonl -k 3 --explain
retrieve search:fails truth.jsonl -o f.jsonl --workers 1 [[ | --json | --max-errors 1 --retries 0]]
retrieve search:nothing truth.jsonl -o f.jsonl ;; retrieve search:search empty.jsonl -o f.jsonl
retrieve "cmd:python command.py" truth.jsonl -k 2 -o c.jsonl --label one
$ python beside.py retrieve "URL/find?q={query}&k={k}" truth.jsonl -k 3 -o h.jsonl --workers 1
  --results '$.hits[*]' --id '$.key' --score '$.points'
$ python beside.py labels judge label.csv --endpoint URL/v1 --model small -o [[m.csv
  | m.jsonl --json]]
$ python beside.py labels questions corpus.jsonl -n 4 --endpoint URL/v1 --model small -o q.jsonl
labels judge label.csv -o m.csv --endpoint x --model y ;; labels judge nowhere.csv -o m.csv
grid grid.toml --dry-run ;; grid grid.toml ;; grid grid.toml --explain ;; grid grid.toml --json
$ cd lighthouse && calipers grid ;; grid wrong.toml ;; grid settings.toml ;; grid
$ python nights.py ;; history nightly -m mrr [[ | --csv | --json | --explain]]
$ python nights.py ;; history trend nightly [[ | --csv | --json | --by targets --chart t.json]]
$ python nights.py ;; history alarm nightly [[ | --json | --explain | --as markdown]]
$ python nights.py ;; history copy o.db --json ;; history prune nightly --keep 2 --dry-run ;;
  history prune ;; history alarm weekly ;; history trend weekly ;; history --since x
history --store histories/000[[1 | 2 | 3 | 4]].db --explain
history ;; history check --store h.db ;; labels list ;; history show @x ;; history trend x ;; diff
= calipers.labels_pool("p", ["run.jsonl", "other.jsonl"], ground_truth="truth.jsonl", store="h.db")
  ;; = calipers.labels_desk("p", store="h.db").give("me", 0, 3) ;; labels list --store h.db ;;
  labels export p -o t.jsonl --store h.db ;; labels export q -o t.jsonl --store h.db ;; labels list
  --json --store h.db ;; labels import p label.csv --store h.db
serve nowhere.jsonl ;; serve --judge ;; serve both.jsonl --only misses ;; serve --host 0.0.0.0
$ python visit.py both.jsonl other.jsonl -g truth.jsonl -- / /pools /evaluations/both?open=0
  "/compare?of=both&of=other" /evaluations/both/truth /nowhere /api/v1/evaluations
  /api/v1/evaluations/both/misses /api/v1/openapi.json /evaluations/both/report
$ python visit.py --judge run.jsonl other.jsonl -g truth.jsonl --store h.db -- /pools/1/judge
  '/api/v1/pools/1/labels {"request": "abcdefgh", "item": 0, "grade": 1}' /api/v1/pools/1/next
  /pools/1/conflicts /api/v1/pools /api/v1/pools/1/moved /api/v1/pools/1/agreement
$ python -m pytest -q -p no:cacheprovider test_search.py
$ python many.py ;; eval -g many.parquet -r many_run.parquet -m recall@2,mrr --per-query p.parquet
= calipers.[[read | evaluate | levels | sweep | bounds | misses | diagnose | floor | audit
  | report]]("both.jsonl")
= calipers.compare(["run.jsonl", "other.jsonl"], ground_truth="truth.jsonl") ;; = calipers.plan(
  ["run.jsonl", "other.jsonl"], "truth.jsonl", queries=90, k=3) ;; = calipers.calls("calls.jsonl")
= calipers.diff("run.jsonl", "other.jsonl") ;; = calipers.labels_draft(["run.jsonl", "other.jsonl"],
  k=2)
= calipers.slices(calipers.evaluate("both.jsonl", k=3), "kind") ;; = calipers.rules() ;; =
  calipers.metrics("mrr") ;; = calipers.corrected("both.jsonl", people="people.jsonl", k=3)
= calipers.gate("both.jsonl", require=["mrr > 0.9", "recall@3 > 0"]) ;; = calipers.labels_agreement(
  ["lighthouse/anna.csv", "lighthouse/bo.csv"]) ;; = calipers.resolve("quotes.jsonl", "docs")
= calipers.retrieve(search, "truth.jsonl", k=3, workers=1) ;; = calipers.grid("grid.toml") ;; =
  calipers.plan_grid("grid.toml") ;; = calipers.labels_traces("formats/otlp.json")
= calipers.gate_save("both.jsonl", to="b.json", metrics="mrr") ;; = calipers.gate_show(
  "b.json") ;; = calipers.convert("both.jsonl", "o.csv") ;; = calipers.history("x")
= calipers.save(calipers.evaluate("both.jsonl"), "n", now=datetime.datetime(2024, 5, 6)) ;; =
  calipers.history() ;; = calipers.history_show("@n") ;; = calipers.history_trend("n") ;; =
  calipers.history_check() ;; = calipers.history_alarm("n") ;; = calipers.history_prune(keep=1)
= calipers.evaluate(run={"q": ["a", "b"]}, ground_truth={"q": ["b"]}, metrics="mrr").queries ;; =
  calipers.evaluate(polars.DataFrame({"query": ["q"], "item": ["a"]}), run={"q": ["a"]}) ;; =
  calipers.exact_neighbours(numpy.eye(3), numpy.eye(3), 2) ;; = calipers.index_recall({"q": ["a"]},
  {"q": ["a"]}, k=1) ;; = calipers.scorer("mrr")(["x", "a"], {"a": 1}) ;; = calipers.scorer("mr")
= calipers.recall_at_k(["a"], ["a", "b"], 1) ;; = calipers.ndcg_at_k(["a"], {"b": 2, "a": 1}, 2) ;;
  = calipers.confusion_at_k(["a"], ["b"], 1) ;; = calipers.f1_at_k("a", ["b"], 1) ;; = calipers.no
= calipers.evaluate(5) ;; = calipers.evaluate("both.jsonl", metric="mrr") ;; = calipers.sweep() ;; =
  calipers.evaluate("both.jsonl", k="x") ;; = calipers.compare(7) ;; = calipers.gate("both.jsonl")
  ;; = calipers.misses("both.jsonl", k=0) ;; = calipers.labels_draft([]) ;; =
  calipers.floor(k=1, keap=2) ;; = calipers.read("both.jsonl", like="x")
  ;; = calipers.Policy(missing="x") ;; = calipers.diff("run.jsonl") ;; = sorted(dir(calipers))
"""
REPLACED = {
    r"""("calipers": ?"|calipers==?'?|calipers, version )\d+\.\d+\.\d+""": r"\1<version>",
    r"\bat 0x[0-9a-f]+": "at <address>",
    r"127\.0\.0\.1:\d+": "127.0.0.1:<port>",
    r"token=[\w-]+": "token=<token>",
    r"^\d\d:\d\d:\d\d (GET|POST) (\S+ \d+) \d+ ms": r"<time> \1 \2 <speed>",
    r"(asked|passed) in [\d.]+ ?s( \([\d.,]+ per second\))?": r"\1 in <speed>",
    r"(?<![\w.])[0-9a-f]{16}(?![\w.])|(?:^|(?<=[@>]))\u200b?[0-9a-f]{8}(?![\w.])": "<id>",
    r"(mlruns/1/|MLflow as run )[0-9a-f]{32}": r"\1<id>",
    r'("copied": [^{}]*"fingerprint": "|afterwards, fingerprint )[0-9a-f]+': r"\1<of ids>",
}
"""What differs from one recording to the next, and what stands for it."""
REPLACED_LIVE = {
    r"Latency: p50[^()]*\([^()]*\)\.": "Latency: <speed>",
    r'("(?:\w*_ms|per_second|seconds)": ?)(?:[\d.e-]+|\{[^{}]*\})': r"\1<speed>",
    r" +p50 +p95$": " p50 p95",
    r"(?: +|(?<=>))[\d.]+ (?:ms|s)\b": " <speed>",
}
"""The same where a live retriever is asked: how fast it was."""


def write_inputs(folder: Path) -> None:
    """Write the files that every case finds, the same each time."""
    for name in COPIED.split():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / Path(name).name)
    for section in FILES.split(">>> ")[1:]:
        name, _, text = section.partition("\n")
        (folder / name).write_text(text, encoding="utf-8")
    luck = random.Random(7)  # noqa: S311 - made-up data
    made = {"corpus": list(_chunks(luck))}
    (folder / "docs").mkdir()
    for name, own in itertools.groupby(made["corpus"], lambda chunk: str(chunk["document"])):
        (folder / "docs" / name).write_text(" ".join(chunk["text"] for chunk in own))
    for n in range(24):
        for name, one in _records(n, made["corpus"], luck):
            made.setdefault(name, []).append(one)
    for name, records in made.items():
        lines = "".join(json.dumps(one) + "\n" for one in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def _chunks(luck: random.Random) -> Iterator[dict[str, Any]]:
    """Eight documents of four sentences each."""
    for document in range(8):
        start = 0
        for n in range(4 * document, 4 * document + 4):
            words = luck.choices(("harbour", "lamp", "tower", "granite", "storm", "tide"), k=17)
            text = f"Note {n} says {' '.join(words)}."
            place = {"document": f"d{document}.txt", "start": start, "end": start + len(text)}
            yield {"id": f"d{document}#{n}", "text": text, **place}
            start += len(text) + 1


def _records(
    n: int, chunks: list[dict[str, Any]], luck: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the files hold of one query, by their names: truths of several kinds, and runs."""
    right = luck.sample(chunks, luck.randint(1, 3)) if n < 23 else []
    tags = {"kind": "list" if n % 2 else "fact", "topic": f"t{n % 5}"}
    asked = {"id": f"q{n}", "query": f"What does note {n} say of it?", "tags": tags}
    truth = {**asked, "ground_truth": {one["id"]: luck.randint(1, 3) for one in right}}
    place = ("document", "start", "end")
    yield "truth", truth
    yield "quotes", {**asked, "ground_truth": [{"quote": one["text"][5:40]} for one in right]}
    yield "spans", {**asked, "ground_truth": [{key: one[key] for key in place} for one in right]}
    yield "prefixed", {**asked, "ground_truth": [f"docs/{one['id'].upper()}" for one in right]}
    if n < 14:
        yield "people", {**asked, "ground_truth": [one["id"] for one in right[:2]]}
    for name, skill in (("run", 0.8), ("other", 0.6), ("third", 0.4)):
        found = {one["id"]: one for one in right if luck.random() < skill}
        found |= {one["id"]: one for one in luck.sample(chunks, 8)}
        ranked = luck.sample(list(found.values()), len(found) if n != 21 else 0)
        scored = [{**one, "score": 9.5 - rank} for rank, one in enumerate(ranked)]
        run = {**asked, "retrieved": scored, "latency_ms": luck.randint(5, 50)}
        yield name, run
        if name == "run":
            yield "both", {**truth, **run, **({"error": "timeout"} if n == 21 else {})}
            called = [{"id": one["id"], "call": 1 + i // 3} for i, one in enumerate(ranked)]
            yield "calls", {**truth, "retrieved": called}


def cases() -> dict[str, list[str]]:
    """The steps of each case, by its name."""
    found = {f"help-{one}": [f"{one.replace('_', ' ')} --help"] for one in COMMANDS.split()}
    found["help-calipers"] = ["--help", "--version"]
    for line in CASES.replace("\n  ", " ").strip().splitlines():
        parts = [
            [part] if n % 2 == 0 else [one.strip() for one in part.split("|")]
            for n, part in enumerate(re.split(r"\[\[(.*?)\]\]", line))
        ]
        for chosen in itertools.product(*parts):
            text = "".join(chosen)
            name = re.sub(r"[^\w.@+=]+", "-", text).strip("-=")[:100]
            if name in found:
                raise ValueError(f"Two cases are called {name}.")
            found[name] = [step.strip() for step in text.split(";;")]
    return found


def run_case(steps: list[str], inputs: Path, source: Path) -> str:
    """Run the steps in a folder of their own; all they gave, as one text."""
    with tempfile.TemporaryDirectory(prefix="golden-") as above:
        folder = Path(above) / "case"
        shutil.copytree(inputs, folder)
        before = _files(folder)
        environment = {"COLUMNS": "100", "HOME": above, "LANG": "C.UTF-8", "TMPDIR": above}
        environment |= {"PYTHONHASHSEED": "0", "PYTHONPATH": str(source), "TZ": "UTC"}
        environment["PATH"] = f"{Path(sys.executable).parent}:{os.defpath}"
        said = []
        for step in steps:
            done = subprocess.run(
                ["/bin/sh", "-c", _script(step)],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=600,
                check=False,
            )
            said.append(f"$ {step}\n{done.stdout.decode()}[exit {done.returncode}, stderr]\n")
            said.append(done.stderr.decode())
        after = _files(folder)
        said += [f"[gone: {path}]\n" for path in sorted(before.keys() - after.keys())]
        for path in sorted(path for path, content in after.items() if before.get(path) != content):
            said.append(f"[file: {path}]\n{rendered(folder / path)}\n")
    text = "".join(said)
    for path, name in ((str(folder), "<case>"), (above, "<above>"), (str(source), "<source>")):
        text = text.replace(path, name)
    return normalised(text, bool(re.search("retriever?[( ]|grid|init|project", str(steps))))


def _script(step: str) -> str:
    """What the shell is given for one step of a case."""
    if step.startswith("="):
        return f"python look.py {shlex.quote(step[1:].strip())}"
    named = 'calipers() { python -m calipers "$@"; }\n'
    return named + (step[1:] if step.startswith("$") else f"calipers {step}")


def _files(folder: Path) -> dict[str, bytes]:
    """Every file below the folder with its content, without what Python keeps for itself."""
    found = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found if path.is_file()}


def rendered(path: Path) -> str:
    """A file as text: a table as its columns and rows, what is binary as its sum."""
    content = path.read_bytes()
    if path.suffix in {".parquet", ".arrow"}:
        is_parquet = path.suffix == ".parquet"
        table = pl.read_parquet(path) if is_parquet else pl.read_ipc(path)
        about = pl.read_parquet_metadata(path) if is_parquet else {}
        about.pop("ARROW:schema", None)
        lines = table.write_ndjson()
        whole = hashlib.sha256(lines.encode()).hexdigest()
        return f"{table.schema}\n{about}\n{lines[:100_000]}\n{table.height} rows, {whole}"
    if content.startswith(b"SQLite"):
        return "a database"
    try:
        return content.decode()
    except UnicodeDecodeError:
        return hashlib.sha256(content).hexdigest()


def normalised(text: str, is_live: bool) -> str:
    """The text without what may differ from one recording to the next."""
    for n in (-1, 0, 1):
        day = datetime.now(UTC) + timedelta(days=n)
        text = re.sub(rf"{day:%Y-%m-%d}((?: at|T)? ?\d\d:\d\d[\d:.]*(\+00:00|Z)?)?", "<now>", text)
        text = re.sub(rf"datetime\({day.year}, {day.month}, {day.day}, [\d, ]*", "<now>, ", text)
    for pattern, name in (REPLACED | REPLACED_LIVE if is_live else REPLACED).items():
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    return text


def record(folder: Path, source: Path, only: str, jobs: int) -> None:
    """Run the cases and write one file for each."""
    chosen = {name: steps for name, steps in cases().items() if re.search(only, name)}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as inputs, ThreadPoolExecutor(jobs) as pool:
        write_inputs(Path(inputs))
        run = partial(run_case, inputs=Path(inputs), source=source)
        for name, text in zip(chosen, pool.map(run, chosen.values()), strict=True):
            (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    print(f"{len(chosen)} cases recorded in {folder}")


def compare(old: Path, new: Path, only: str) -> int:
    """Print how the cases differ; how many do."""
    names = sorted({path.name for folder in (old, new) for path in folder.glob("*.txt")})
    chosen = [name for name in names if re.search(only, name.removesuffix(".txt"))]
    differing = 0
    for name in chosen:
        before, after = _pieces(old / name), _pieces(new / name)
        if before != after:
            differing += 1
            lines = difflib.unified_diff(before or [], after or [], "old", "new", n=1, lineterm="")
            is_in_both = before is not None and after is not None
            print(name, *(lines if is_in_both else ["is not in both folders"]), sep="\n")
    print(f"{differing} of {len(chosen)} cases differ")
    return differing


def _pieces(path: Path) -> list[str] | None:
    """The lines of a recording, long ones in pieces, so that a difference in one is seen."""
    # As bytes, so that no end of a line is taken for another.
    return re.findall(r".{1,200}|^$", path.read_bytes().decode(), re.M) if path.exists() else None


def main() -> int:
    """Record or compare; 1 if something differs, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    recording, comparing = actions.add_parser("record"), actions.add_parser("compare")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--source", type=Path, default=Path("src"))
    recording.add_argument("--jobs", type=int, default=2)
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    for action in (recording, comparing):
        action.add_argument("--only", default="", metavar="PATTERN")
    given = parser.parse_args()
    if given.action == "record":
        record(given.folder, given.source.resolve(), given.only, given.jobs)
        return 0
    return 1 if compare(given.old, given.new, given.only) else 0


if __name__ == "__main__":
    sys.exit(main())
