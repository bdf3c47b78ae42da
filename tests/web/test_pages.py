"""Every page answers, and shows what the library says."""

import html
import re

import calipers
from tests.store.judged import BM25, DENSE, TRUTH
from tests.systems import keep
from tests.web.served import served, shelf_of

RUNS = {"dense": DENSE, "bm25": BM25}
"""The older first: the fixture saves bm25 a second time after dense."""


def test_an_evaluation_shows_the_numbers_of_the_library_and_its_address_holds_the_view(me, filled):
    _, ids, _ = filled
    scores = calipers.evaluate(ground_truth=TRUTH, run=BM25, metrics="ndcg@3")
    text = me.get(f"/evaluations/{ids['bm25']}?open=0").text
    assert f"{scores['ndcg@3'].mean:.3f}" in text
    # What was expected stands before what came.
    assert text.index("Expected") < text.index("Returned")
    assert "found at rank 1" in text
    path = f"/evaluations/{ids['dense']}"
    for asked, words in (
        ("", "4 of 4 queries"),
        ("?text=topic+2", "1 of 4 queries"),
        ("?failures=1", "0 of 4 queries"),
    ):
        assert words in me.get(path + asked).text
    for wrong in ("sort=nonsense", "page=x", "open=z", "failures=perhaps"):
        assert me.get(f"{path}?{wrong}").status == 400
    # A link of a header turns the order around.
    rows = re.findall(r'id="q(\d)"', me.get(f"{path}?sort=query").text)
    assert rows == ["0", "1", "2", "3"]
    assert re.findall(r'id="q(\d)"', me.get(f"{path}?sort=query&down=1").text) == rows[::-1]


def test_ground_truths_that_differ_are_refused_with_what_can_be_done(me, filled):
    store, ids, _ = filled
    other = [{**one, "ground_truth": [{"id": "d1"}]} for one in TRUTH]
    pair = calipers.read(ground_truth=other, run=BM25)
    scores = calipers.evaluate(pair, metrics="recall,ndcg", k=[2, 3])
    saved = calipers.save(scores, "other", store=store, ground_truth=other, run=BM25)
    path = f"/compare?of={ids['bm25']}&of={saved.id}"
    refused = me.get(path)
    assert refused.status == 409
    assert "Compare them anyway" in refused.text
    # The link does it here; the option of the command line does nothing on a page.
    assert "different ground truth" in refused.text
    assert "--anyway" not in refused.text
    assert me.get(f"{path}&anyway=1").status == 200


def test_no_page_names_an_option_outside_of_a_command(me, filled):
    _, ids, _ = filled
    one, other = ids["bm25"], ids["dense"]
    pages = ["/", "/pools", f"/compare?of={one}&of={other}", "/evaluations/none", "/compare"]
    pages += [f"/evaluations/{one}{part}" for part in ("", "?open=0", "/report", "/truth")]
    for address in (*pages, f"/compare?of={one}&of={other}&slices=none"):
        text = me.get(address).text
        shown = re.sub(r"<script.*?</script>|<style.*?</style>|<code>[^<]*</code>", " ", text)
        plain = html.unescape(re.sub(r"<[^>]+>", " ", shown))
        assert re.findall(r".*(?<![\w-])--[a-z].*", plain) == [], address


def test_a_comparison_shows_what_is_asked_for(me, filled):
    _, ids, _ = filled
    path = f"/compare?of={ids['bm25']}&of={ids['dense']}&metric=ndcg%403"
    runs = {name: calipers.read(ground_truth=TRUTH, run=run) for name, run in RUNS.items()}
    found = calipers.compare(runs, metrics="ndcg@3").difference("bm25", "ndcg@3")
    assert (found.wins, found.losses) != (0, 0)
    expected = {"": 4, "worse": found.losses, "better": found.wins, "different": 4 - found.ties}
    for only, left in expected.items():
        text = me.get(f"{path}&only={only}").text
        assert len(re.findall(r'class="row', text)) == left, only
    # An open query says how far each result moved.
    marks = re.findall(r'move-mark (\w+)">(\S+?)[ <]', me.get(f"{path}&open=q0").text)
    assert marks == [("up", "↑1"), ("down", "↓1"), ("new", "new")]


def test_a_baseline_that_is_not_compared_and_a_tag_that_is_not_there_are_refused(me, filled):
    _, ids, _ = filled
    path = f"/compare?of={ids['dense']}&of={ids['bm25']}"
    for wrong in ("baseline=other", "slice.no=x", "only=odd", "metric=odd"):
        assert me.get(f"{path}&{wrong}").status == 400


def test_the_list_tells_saves_of_one_minute_apart(me, filled):
    store, _, _ = filled
    text = me.get("/").text
    for one in calipers.history(store=store).evaluations:
        assert f"<code>@{one.short}</code>" in text
    ticks = re.findall(r'aria-label="Tick ([^"]+)"', text)
    assert len(ticks) == len(set(ticks)) > 1


def test_an_alarm_on_the_first_page_leads_to_its_comparison(tmp_path):
    store = str(tmp_path / "history.db")
    truth = {f"q{n}": [f"a{n}"] for n in range(12)}
    ids = []
    for lost in (0, 0, 9):
        run = {f"q{n}": ["x" if n < lost else f"a{n}"] for n in range(12)}
        pair = calipers.read(ground_truth=truth, run=run)
        ids.append(keep(pair, "nightly", store, "recall@1").id)
    with served(shelf_of(store)) as running:
        me = running.visitor()
        [link] = re.findall(
            r'href="(/compare[^"]+)">Compare it with the reference', me.get("/").text
        )
        page = me.get(html.unescape(link))
    assert page.status == 200
    assert ids[2] in link
    assert "is worse" in page.text


def test_an_empty_history_says_how_to_begin_unless_something_was_asked_for(
    own, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with served(shelf_of(None)) as running:
        me = own.visitor()
        for visitor in (me, running.visitor()):
            assert "calipers eval … --save" in visitor.get("/").text
        assert "No evaluation has this name" in me.get("/?since=1h").text


def test_a_refusal_shows_its_command_as_code_and_no_sign_of_markdown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with served(shelf_of(None)) as running:
        page = running.visitor("me").get("/evaluations/nightly")
    assert page.status == 400
    assert "<code>calipers eval … --save NAME</code>" in page.text
    assert "`" not in page.text
