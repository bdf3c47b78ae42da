"""Tables in an object store, against a real server of the S3 protocol on this machine."""

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import without_secrets
from tests.command import calipers_command

SERVER = os.environ.get("CALIPERS_S3_SERVER") or shutil.which("moto_server") or ""
SECRET = "never-to-be-shown-4711"
TRUTH = {f"q{i}": [f"d{i}"] for i in range(9)}
ROWS = pl.DataFrame(
    {
        "query": [f"q{i % 9}" for i in range(27)],
        "item": [f"d{i % 7}" for i in range(27)],
        "score": [1.0 / (1 + i) for i in range(27)],
    }
)


@pytest.fixture(scope="module")
def store():
    """A bucket with a run in several forms; the server is ours, and ends with the tests."""
    if not Path(SERVER).is_file():
        pytest.skip("moto_server is installed by make object-stores")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [SERVER, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            if server.poll() is not None:
                # One that was only found on the path may be half installed; a named one may not.
                tell = pytest.fail if "CALIPERS_S3_SERVER" in os.environ else pytest.skip
                tell(f"{SERVER} ends before it answers, with code {server.returncode}")
            try:
                urllib.request.urlopen(address, timeout=2).close()
                break
            except OSError:
                time.sleep(0.25)
        _put(address, "bucket", b"")
        for i in range(3):
            _put(address, f"bucket/run/part-{i}.parquet", _parquet(ROWS[i * 9 : i * 9 + 9]))
        _put(address, "bucket/run.csv", ROWS.write_csv().encode())
        _put(address, "bucket/run.jsonl", ROWS.write_ndjson().encode())
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def _parquet(frame: pl.DataFrame) -> bytes:
    file = BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _put(address: str, key: str, content: bytes) -> None:
    kind = {"Content-Type": "application/octet-stream"}
    request = urllib.request.Request(f"{address}/{key}", content, kind, method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


@pytest.fixture(autouse=True)
def credentials(monkeypatch, request):
    address = request.getfixturevalue("store") if "store" in request.fixturenames else ""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": address,
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("key", ["run/", "run/part-*.parquet", "run.csv", "run.jsonl"])
def test_a_run_in_a_bucket_is_the_run_on_disk(store, key):
    found = calipers.evaluate(ground_truth=TRUTH, run=f"s3://bucket/{key}", metrics="mrr,recall@2")
    here = calipers.evaluate(ground_truth=TRUTH, run=ROWS, metrics="mrr,recall@2")
    assert found.to_dict()["summaries"] == here.to_dict()["summaries"]
    assert found.fingerprints["run"] == here.fingerprints["run"]


def test_what_is_not_there_is_a_sentence_without_credentials(store):
    with pytest.raises(UnreadableFile, match=r"The table s3://bucket/no\.parquet cannot be read"):
        calipers.evaluate(ground_truth=TRUTH, run="s3://bucket/no.parquet")
    done = calipers_command("eval", "-g", "s3://bucket/no.parquet", "-r", "s3://bucket/run/")
    assert done.code == 2
    assert "check the address" in done.err
    assert SECRET not in done.err + done.out


def test_credentials_are_taken_out_of_any_complaint():
    text = f"cannot sign with {SECRET} at az://me:pw@box/x?sig=abcdef"
    assert without_secrets(text) == "cannot sign with … at az://box/x"


def test_a_form_that_is_not_read_from_stores():
    with pytest.raises(InvalidInput, match=r"has the ending '\.trec'"):
        calipers.evaluate(ground_truth=TRUTH, run="s3://bucket/run.trec")
