import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import retrieve
from calipers.errors import InvalidInput, RetrieverFailed
from calipers.live.adapters.base import Secrets
from calipers.live.adapters.http import RequestTemplate, _retry_after, fill_address, from_address
from calipers.live.driver import Limits
from calipers.live.failures import AskFailed
from calipers.live.keywords import RetrieverOptions
from calipers.live.retrieve import retrieve_to_run
from calipers.live.run_file import meta_path
from tests.live.server import Handler, Server, answer_to
from tests.loopback import serving

SECRET = "tok-5f3c9a77d1"
RESULTS = "$.hits[*]"


def items(run: Any) -> list[str]:
    found: list[str] = run.frame["item"].to_list()
    return found


def test_headers_come_from_the_environment_and_stay_there(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", SECRET)
    output = tmp_path / "run.jsonl"
    run = retrieve_to_run(
        server.search,
        ["fine 1", "fail 2", "echo 3"],
        k=2,
        output=output,
        limits=Limits(retries=0),
        options=RetrieverOptions(
            results=RESULTS, headers={"Authorization": "Bearer $SEARCH_TOKEN"}
        ),
        cache=tmp_path / "cache.db",
    )
    assert {one["Authorization"] for one in server.headers} == {f"Bearer {SECRET}"}
    assert run.report.first_error is not None
    assert "seen ***" in run.report.first_error
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path
    assert b"headers" in meta_path(output).read_bytes()
    assert SECRET not in str(run.report)


def test_another_header_is_another_run_and_neither_is_written() -> None:
    def settings(**headers: str) -> Any:
        return from_address("http://host/?q={query}", headers=headers).settings

    assert settings(Index="small") == settings(Index="small") != settings(Index="large")
    assert "small" not in str(settings(Index="small"))
    assert settings(Authorization="Bearer a1b2") == settings(Authorization="Bearer c3d4")
    address = "http://host/?tag=a&tag=b&key=abcd&q={query}"
    assert from_address(address).name == "http://host/?tag=a&tag=b&key=***&q={query}"


def test_secrets_written_out_are_hidden_too(server: Server, tmp_path: Path) -> None:
    request = {"q": "{query}", "top": "{k}", "api_key": SECRET}
    options: list[Any] = [{"headers": {"X-Api-Key": SECRET}}, {"request": request}]
    for number, option in enumerate(options):
        address = server.search if number == 0 else f"{server.address}/search"
        output = tmp_path / f"{number}.jsonl"
        retrieve(address, ["fine", "fail"], k=1, output=output, retries=0, **option)
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "place", ["user:{}@127.0.0.1:1/s?q={{query}}", "127.0.0.1:1/s?q={{query}}&api_key={}"]
)
def test_secrets_in_an_address_are_hidden(place: str) -> None:
    retriever = from_address(f"http://{place.format(SECRET)}")
    assert SECRET not in retriever.name
    assert SECRET not in str(retriever.settings)
    assert retriever.secrets.redact(f"at {SECRET}") == "at ***"
    with pytest.raises(RetrieverFailed, match=r"127.0.0.1:1 cannot be reached") as failed:
        retrieve(f"http://{place.format(SECRET)}", ["a"], retries=0)
    assert SECRET not in str(failed.value)


@pytest.fixture
def behind_a_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address that only the proxy knows, which answers for it here."""
    monkeypatch.setenv("HTTP_PROXY", server.address)
    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    return "http://library.invalid/search?q={query}&k={k}"


def test_a_proxy_of_the_environment_is_asked(behind_a_proxy: str, server: Server) -> None:
    asked = ["one", "fail", "moved"]
    run = retrieve(behind_a_proxy, asked, k=2, workers=1, retries=0)
    assert items(run) == [one["id"] for one in answer_to("one", 2)]
    assert dict(run.report.errors) == {"http 500": 1, "redirect": 1}
    assert {one["Host"] for one in server.headers} == {"library.invalid"}
    slow = retrieve(behind_a_proxy, ["one", "hang"], k=2, workers=1, timeout=0.5, retries=0)
    assert dict(slow.report.errors) == {"timeout": 1}


def test_a_proxy_is_asked_only_where_it_can_and_should_be(
    behind_a_proxy: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(InvalidInput, match=r"HTTP_PROXY cannot be asked.*library.invalid in NO"):
        retrieve(behind_a_proxy, ["a"])
    assert retrieve(server.search, ["a"], k=1).report.answered == 1, "this machine needs no proxy"
    monkeypatch.setenv("NO_PROXY", "library.invalid")
    with pytest.raises(RetrieverFailed, match=r"library.invalid:http cannot be reached"):
        retrieve(behind_a_proxy, ["a"], retries=0)


def test_a_redirect_is_not_followed(server: Server) -> None:
    with pytest.raises(RetrieverFailed, match=r"302 and points to 'http://elsewhere.invalid/'"):
        retrieve(server.search, [f"moved {i}" for i in range(50)], results=RESULTS)
    assert server.asked.total() <= 8


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_a_certificate_nobody_vouches_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = tmp_path / "localhost.pem"
    made = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "
        "localhost.pem -out cert.pem -days 2 -subj /CN=localhost -addext "
        "subjectAltName=DNS:localhost"
    )
    subprocess.run(made.split(), check=True, capture_output=True, cwd=tmp_path)
    with certificate.open("ab") as both:
        both.write((tmp_path / "cert.pem").read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Server()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    address = server.search.replace("http://127.0.0.1", "https://localhost")
    with serving(server):
        with pytest.raises(RetrieverFailed, match=r"cannot be trusted.*SSL_CERT_FILE"):
            retrieve(address, ["a"], k=1, results=RESULTS)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert retrieve(address, ["a"], k=1, results=RESULTS).report.answered == 1


def test_an_idle_connection_that_the_server_closed_is_opened_again() -> None:
    class Closing(Handler):
        def answer(self, *args: Any) -> None:
            super().answer(*args)
            self.close_connection = True

    with_closing = Server()
    with_closing.RequestHandlerClass = Closing
    with serving(with_closing):
        run = retrieve(with_closing.search, [f"q{i}" for i in range(20)], k=1, workers=1, retries=0)
        assert (run.report.answered, run.report.failed) == (20, 0)


@pytest.mark.parametrize(
    ("address", "options", "words"),
    [
        ("http://host/search", {}, "where the question goes"),
        ("http:///search?q={query}", {}, "names no host"),
        ("http://host:x/?q={query}", {}, "cannot be read"),
        ("http://host/?q={query}", {"request": "{"}, "not JSON"),
        ("http://host/?q={query}", {"headers": {"X": "a\nb"}}, "control character"),
        (
            "http://host/?q={query}",
            {"headers": {"X": "$NOT_SET_ANYWHERE"}},
            "NOT_SET_ANYWHERE is not",
        ),
        ("http://host/?q={query}", {"results": "hits"}, "path 'hits' cannot be read"),
        ("http://host/?q={query}", {"params": {}}, "'params' means nothing for an address"),
    ],
)
def test_bad_settings_are_told_before_anything_is_sent(
    address: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        retrieve(address, ["a"], **options)


def test_retry_after_is_seconds() -> None:
    assert [_retry_after(one) for one in ("7", "-1", "soon", None)] == [7, 0, None, None]


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(texts)
def test_the_question_arrives_as_it_is(query: str) -> None:
    template = RequestTemplate.read(
        '{"a": {"q": ["{query}"]}, "n": "{k}", "s": "top {k}"}', Secrets({})
    )
    assert template.filled(query, 7) == {"a": {"q": [query]}, "n": 7, "s": "top 7"}
    filled = fill_address("/find?q={query}&k={k}&x=%20y", query, 7)
    assert filled.isascii()
    found = parse_qs(urlsplit(filled).query, keep_blank_values=True)
    assert found == {"q": [query], "k": ["7"], "x": [" y"]}


def test_places_in_a_question_are_not_filled() -> None:
    assert fill_address("q={query}", "{k}", 7) == "q=%7Bk%7D"
    template = RequestTemplate.read('["{query}"]', Secrets({}))
    assert template.filled("{k} {query}", 7) == ["{k} {query}"]


@pytest.mark.parametrize("word", ["busy", "overloaded"])
def test_a_server_that_asks_to_wait_is_asked_again_after_that_time(
    server: Server, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """429 and 503 with Retry-After: the pause is the server's, not ours."""
    pauses = []

    def no_pause(attempt: int, failed: AskFailed) -> float:
        pauses.append(failed.after)
        return 0.0

    monkeypatch.setattr("calipers.live.driver.pause_before", no_pause)
    run = retrieve(server.search, [f"{word} one"], k=2, results=RESULTS)
    assert (run.report.answered, run.report.failed) == (1, 0)
    assert server.asked[f"{word} one"] == 2
    assert pauses == [0.01]
