"""What each source makes of a small set of documents, and what it leaves alone."""

import re
import time

import pytest

from calipers.io.documents.sections import as_document
from calipers.io.documents.walk import KINDS
from calipers.questions.begin.drawing import SURE
from calipers.questions.begin.faq import from_faq
from calipers.questions.begin.headings import SEVERAL, STEP, from_headings, why_no_question
from calipers.questions.begin.languages import languages
from calipers.questions.begin.library import Library
from calipers.questions.begin.links import clause_of, from_links

LINK = "\x00"
PROSE = "The client waits for a while and then tries the same call again."


def documents(**texts):
    found = []
    for name, text in texts.items():
        stem, _, ending = name.rpartition("_")
        found.append(as_document(f"{stem}.{ending}", KINDS[f".{ending}"], text))
    return Library(found)


def answered(candidates):
    return [candidate.answered() for candidate in candidates]


def fit(candidates):
    whole = answered(candidates)
    return [candidate for candidate in whole if not candidate.unfit and candidate.quotes]


def asked(candidates):
    return [(candidate.question, *candidate.quotes) for candidate in fit(candidates)]


def test_headings_are_asked_as_they_stand_and_answered_by_the_text_below():
    heading, code = "## 2. Retry a failed **request**", "```\ncode\n```"
    text = f"# Usage\n\n{PROSE}\n\n{heading}\n\n{PROSE} Yes.\n\n{code}\n"
    (one,) = fit(from_headings(documents(a_md=text)))
    assert (one.question, one.line) == ("Retry a failed request", 5)
    assert asked([one]) == [(one.question, f"{PROSE} Yes. ``` code ```")]
    # What stands below code, a list or a table is not the answer.
    for block in (code, "- one\n- two", "| a | b |"):
        assert not asked(from_headings(documents(a_md=f"{heading}\n\n{block}\n\n{PROSE}\n")))


@pytest.mark.parametrize(
    "heading",
    [
        "Introduction",
        "Getting started",
        "v1.2.0",
        "2024-01-31",
        "Changelog",
        "`get(url)`",
        "Why so?",
        "Every metric",
        "How far to trust it",
        "Welcome to the client!",
        "Willkommen zu MetaModels!",
        "欢迎使用客户端",
        "GNU Free Documentation License",
        "Revision History",
    ],
)
def test_headings_that_say_nothing_are_left_out(heading):
    assert not fit(from_headings(documents(a_md=f"# {heading}\n\n{PROSE}\n")))


def test_a_heading_of_many_pages_is_the_name_of_a_part():
    page = f"# The {{0}} client\n\n{PROSE}\n\n## Limits of a request\n\nWith {{0}}: {PROSE}\n"
    four = {f"{name}_md": page.format(name) for name in ("blue", "red", "green", "white")}
    assert "the name of a part of many pages" in {
        one.unfit for one in answered(from_headings(documents(**four)))
    }
    del four["blue_md"]
    headed = [one.question for one in fit(from_headings(documents(**four)))]
    assert "The red client: Limits of a request" in headed


def test_the_title_above_a_page_stands_before_a_heading_that_says_little():
    front = "---\ntitle: Asset modules\n---"
    text = f"{front}\n\n## Usage via CLI\n\n{PROSE}\n\n## Limits\n\nNo. {PROSE}\n"
    one, two = fit(from_headings(documents(a_md=text)))
    assert (one.question, two.question) == ("Asset modules: Usage via CLI", "Asset modules: Limits")


def test_two_forms_of_a_word_are_the_same_heading():
    titles = {"a_md": "Installing with a proxy", "b_md": "Installation with your proxy"}
    pages = {name: f"# {title}\n\n{PROSE}\n" for name, title in titles.items()}
    assert {one.unfit for one in answered(from_headings(documents(**pages)))} == {SEVERAL}


@pytest.mark.parametrize(
    ("heading", "is_code"),
    [
        ("T* get() const noexcept", True),
        ("template <class Rep> unique_lock(Lockable & m, const duration<Rep>& time)", True),
        ("onClose(instance: Server, done: (err?: Error) => void): Promise | void", True),
        ("retry(times: int = 5) -> Call", True),
        ("Send files & messages again (beta)", False),
        ("Call std::move() with a reference", False),
        ("Convert texts with std::to_string()", False),
        ("Ask why: wait(seconds) or tries", False),
    ],
)
def test_a_signature_in_code_asks_nothing(heading, is_code):
    assert (why_no_question(heading) == "a version, a number or code") == is_code


def test_code_as_a_heading_asks_nothing():
    code = "virtual void * construct(unsigned int count = 0, ...) const;"
    page = f"<h1>Types</h1><p>{PROSE}</p><h2><pre>{code}</pre></h2><p>{PROSE} Yes.</p>"
    assert [question for question, _ in asked(from_headings(documents(a_html=page)))] == []


def test_filler_text_answers_nothing():
    text = f"# Retry a request\n\nLorem ipsum dolor. {PROSE}\n"
    (one,) = answered(from_headings(documents(a_md=text)))
    assert one.unfit == "filler text"


def test_other_filler_text_answers_nothing():
    text = "Vestibulum lobortis laoreet nunc vel vulputate. In et augue non lectus."
    assert not asked(from_headings(documents(a_md=f"# Retry a request twice\n\n{text}\n")))


def test_a_paragraph_of_a_page_that_only_leads_elsewhere_is_no_answer():
    words = 'For the rules of a retry see the <a href="b">guide of retries</a>'
    page = f"<h1>Retry a failed request</h1><p>{words}.</p>"
    assert not asked(from_headings(documents(a_html=page)))
    without = page.replace("see the", "mind the")
    assert len(asked(from_headings(documents(a_html=without)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Type: a list of names or one name\nDefault: all names that are known here",
        "类型：`Array` 用于保存所有名称的列表\n默认值：支持的标签和属性列表，参见下面的说明",
        "`string` `RegExp` `function(name) => boolean` `[string, RegExp, function(name)]`",
    ],
)
def test_types_and_names_in_code_are_no_answer(text):
    assert not asked(from_headings(documents(a_md=f"## Retry a failed request\n\n{text}\n")))


def test_what_is_indented_below_a_box_is_no_answer():
    text = f'## Maps and places\n\n??? question "Where is it?"\n\n    {PROSE}\n'
    assert not asked(from_headings(documents(a_md=text)))


def test_no_heading_of_a_log_or_without_prose():
    text = f"# Retry a failed request\n\n{PROSE}\n"
    assert not [*from_headings(documents(CHANGELOG_md=text))]
    assert not asked(from_headings(documents(a_md="# Retry a failed request\n\n- one\n- two\n")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_md", "## {}\n\n{}\n"),
        ("a_md", "**Q:** {}\n\n**A:** {}\n\nMore.\n"),
        ("a_md", "Q1. {}\nA1. {}\n"),
        ("a_md", "<details>\n<summary>{}</summary>\n\n{}\n\n</details>\n"),
        ("a_html", "<details><summary>{}</summary><p>{}</p></details>"),
    ],
)
def test_questions_that_stand_in_the_documents(name, text):
    question = "How do I retry a call?"
    found = from_faq(documents(**{name: text.format(question, PROSE)}))
    assert asked(found) == [(question, PROSE)]


@pytest.mark.parametrize(
    ("sentence", "clause"),
    [
        (f"If you need to customize request instantiation, see {LINK}.",
         "customize request instantiation"),
        (f"See {LINK} for how to limit the rate of uploads.", "limit the rate of uploads"),
        (f"For more information on rotating signing keys, read {LINK}.", "rotating signing keys"),
        (f"The format of audit logs is described in {LINK}.", "The format of audit logs"),
        (f"For more information, see {LINK}.", None),
        (f"See {LINK}.", None),
        (f"Click {LINK} and {LINK}.", None),
        (f"See {LINK} for more details.", None),
        (f"Requests are sent in order, see {LINK}.", None),
    ],
)  # fmt: skip
def test_the_clause_beside_a_link(sentence, clause):
    assert clause_of(sentence) == clause


GUIDE = (
    f"# Guide\n\nIf you need to try a call several times, see [Retries](b.md#retries).\n\n{PROSE}\n"
)
BEGIN = "Nothing of interest stands at the beginning of this one."
OTHER = f"# Other\n\n{BEGIN}\n\n## Retries\n\n{PROSE} Yes.\n"


def test_a_link_asks_for_the_section_it_leads_to_and_its_own_passage_does_not_count():
    (one,) = answered(from_links(documents(a_md=GUIDE, b_md=OTHER)))
    assert one.question == "try a call several times"
    assert one.quotes == (f"{PROSE} Yes.",)
    assert one.excluded == "If you need to try a call several times, see [Retries](b.md#retries)."
    assert (one.document, one.target, one.line) == ("a.md", "b.md", 3)


@pytest.mark.parametrize(
    "href", ["b.html#retries", "./b#retries", "../b/#retries", "/b.md#Retries", 'b.md#retries "T"']
)
def test_links_as_sites_write_them(href):
    (one,) = fit(from_links(documents(a_md=GUIDE.replace("b.md#retries", href), b_md=OTHER)))
    assert one.target == "b.md"


@pytest.mark.parametrize("href", ["https://x.y/b.md#retries", "c.md", "b.md#gone", "mailto:a@b.c"])
def test_links_that_lead_nowhere_here(href):
    library = documents(a_md=GUIDE.replace("b.md#retries", href), b_md=OTHER)
    assert not fit(from_links(library))


PAGE = f"# Client\n\n{BEGIN}\n\n## Time limits\n\n{PROSE}\n\n## Retries of calls\n\n{PROSE} Yes.\n"


def test_a_link_to_a_page_goes_to_the_section_that_its_words_name_or_nowhere():
    text = "# Guide\n\nIf you need to {}, see [the client](b.md).\n"
    named = documents(a_md=text.format("set retries of calls higher"), b_md=PAGE)
    assert asked(from_links(named)) == [("set retries of calls higher", f"{PROSE} Yes.")]
    other = documents(a_md=text.format("open a connection twice"), b_md=PAGE)
    (one,) = answered(from_links(other))
    assert one.unfit == "the link names a page, no section"
    # The title of a page with sections is its introduction.
    titled = documents(
        a_md=text.format("open a connection twice").replace("b.md", "b.md#client"), b_md=PAGE
    )
    assert not fit(from_links(titled))
    # A page without sections is one.
    short = documents(a_md=text.format("open a connection twice"), b_md=f"# Client\n\n{PROSE}\n")
    assert asked(from_links(short)) == [("open a connection twice", PROSE)]


def test_a_heading_that_says_little_alone_is_joined_with_what_it_stands_under():
    page = "# {}\n\n{}\n\n## Event hooks\n\n{}\n"
    library = documents(
        a_md=page.format("Clients of a proxy", BEGIN, PROSE),
        b_md=page.format("Advanced usage", BEGIN, f"{PROSE} No."),
    )
    questions = asked(from_headings(library))
    assert ("Clients of a proxy: Event hooks", PROSE) in questions
    # The other is named by nothing that says something: two sections answer it.
    assert not [one for one, _ in questions if one.startswith(("Event", "Advanced"))]
    reasons = {one.unfit for one in answered(from_headings(library))}
    assert "several sections answer it" in reasons
    front = documents(README_md=f"# Carrier\n\n{PROSE}\n", a_md=f"# Event hooks\n\n{PROSE} No.\n")
    assert ("Carrier: Event hooks", f"{PROSE} No.") in asked(from_headings(front))


GERMAN = "Wer krank ist, meldet sich am ersten Tag bis neun Uhr bei der Leitung der Abteilung."
CHINESE = "员工生病时应在当天上午九点之前通知部门主管并提交证明。"
JAPANESE = "社員が病気のときは、当日の午前九時までに部門の責任者に連絡してください。"


@pytest.mark.parametrize(
    ("heading", "text", "question"),
    [
        ("Krankmeldung", GERMAN, "Krankmeldung"),
        ("Übersicht", GERMAN, None),
        ("病假申请流程", CHINESE, "病假申请流程"),
        ("简介", CHINESE, None),
        ("第三章 病假申请流程", CHINESE, "病假申请流程"),
        ("病気休暇の申請", JAPANESE, "病気休暇の申請"),
        ("はじめに", JAPANESE, None),
    ],
)
def test_headings_in_other_languages(heading, text, question):
    found = asked(from_headings(documents(a_md=f"# {heading}\n\n{text}\n")))
    assert found == ([] if question is None else [(question, text)])


@pytest.mark.parametrize(
    ("language", "sentence", "clause"),
    [
        ("de", "Weitere Informationen zur Abgabe einer Kündigung finden Sie unter {}.",
         "Abgabe einer Kündigung"),
        ("de", "Siehe {} für die Einrichtung eines Druckers.", "die Einrichtung eines Druckers"),
        ("fr", "Pour en savoir plus sur le stockage des sauvegardes, voir {}.",
         "le stockage des sauvegardes"),
        ("es", "Para más información sobre el cifrado de copias, véase {}.",
         "el cifrado de copias"),
        ("it", "Per maggiori informazioni sulla cifratura dei file, vedi {}.",
         "cifratura dei file"),
        ("pt", "Para mais informações sobre a cifragem de arquivos, veja {}.",
         "a cifragem de arquivos"),
        ("nl", "Voor meer informatie over het instellen van printers, zie {}.",
         "het instellen van printers"),
        ("ru", "Подробнее о настройке принтера см. в разделе {}.", "настройке принтера"),
        ("zh", "有关申请年度休假的更多信息，请参见{}。", "申请年度休假"),
        ("ja", "年次休暇の申請方法については、{}を参照してください。", "年次休暇の申請方法"),
        ("de", "Siehe {}.", None),
        ("zh", "更多信息请参见{}。", None),
    ],
)  # fmt: skip
def test_the_clause_beside_a_link_in_ten_languages(language, sentence, clause):
    assert clause_of(sentence.format(LINK), language) == clause


def test_a_paragraph_that_only_leads_elsewhere_or_is_short_is_no_answer():
    for first in ("For details on a call, see [the other page](b.md#x).", "Use it."):
        text = f"# Retry a failed request twice\n\n{first}\n\n{PROSE}\n"
        assert not asked(from_headings(documents(a_md=text)))


def test_references_of_restructuredtext():
    text = (
        "Guide\n=====\n\nTo try a call several times, see :ref:`retries <again>`.\n\n"
        f".. _again:\n\nMore\n----\n\n{PROSE}\n"
    )
    (one,) = from_links(documents(a_rst=text))
    assert asked([one]) == [("try a call several times", PROSE)]


def test_lists_of_links_are_navigation():
    text = "# Guide\n\n- To try a call several times, see [Retries](b.md#retries)\n"
    assert not [*from_links(documents(a_md=text, b_md=OTHER))]


@pytest.mark.parametrize(
    "text", ["[", "![", "<details><summary>a?", " *a", "# Retry a request\n\n"]
)
def test_a_hostile_file_takes_no_longer_than_any_other(text):
    begun = time.process_time()
    library = documents(a_md=text * (200_000 // len(text)))
    for source in (from_faq, from_links, from_headings):
        list(source(library))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_md", "To try the call of a client again after a while, write:\n\n![code](a.png)"),
        ("a_md", "To try the call of a client again after a while, write\n\n- one\n- two"),
        ("a_md", "The following table shows what the client does after a failed call."),
        ("a_md", f"{PROSE}\n\n```\n" + "retry(call, after=2)\n" * 40 + "```"),
        ("a_md", "Suppose that the first call of a client to its server fails once or twice."),
        ("a_md", "请假设客户端的第一个请求因为网络中断而失败，并且服务器没有返回任何结果。"),
        ("a_md", "**Hier erfährst du, was ein Client nach einer fehlgeschlagenen Anfrage tut.**"),
        ("a_md", "All that is known of a client that has sent its call two times"),
        ("a_md", "There are several ways to retry a failed request of a client at all."),
        ("a_md", "Have you ever asked yourself what a client does after a failed call?"),
        ("a_md", "In this chapter you learn how the client tries a failed call again."),
        ("a_html", "<p>Figure 3.1. A client that tries its call a second time</p>"),
        ("a_html", "<p>[a picture of a client that tries its call a second time]</p>"),
        ("a_md", "Der folgende Abschnitt zeigt, wie der Client die Anfrage wiederholt."),
        ("a_md", "以下の表に、失敗したリクエストを再送するときのクライアントの動作を示します。"),
        ("a_md", "本节介绍客户端在请求失败之后如何重新发送这个请求，以及需要等待多长时间。"),
        ("a_md", "See [the rules](b.md#x) for it. For more, read [the guide of the client](c.md)."),
    ],
)  # fmt: skip
def test_what_only_announces_or_leads_on_is_no_answer(name, text):
    head = "<h1>Retry a failed request</h1>" if name == "a_html" else "# Retry a failed request"
    assert not asked(from_headings(documents(**{name: f"{head}\n\n{text}\n"})))


def test_the_end_of_a_paragraph_that_leads_on_is_not_in_the_target():
    picture = "![a picture](a.png)"
    text = f"# Retry a failed request\n\n{' '.join([PROSE] * 5)} For example:\n\n{picture}\n"
    ((_, quote),) = asked(from_headings(documents(a_md=text)))
    assert quote == " ".join([PROSE] * 5)
    text = f"# Retry a failed request\n\nTable 3 shows the times. {PROSE}\n"
    assert len(asked(from_headings(documents(a_md=text)))) == 1


def test_numbers_before_a_heading_do_not_hide_that_many_pages_have_it():
    names = enumerate(("blue", "red", "green", "white"), 1)
    pages = {
        f"{name}_html": f"<h1>The {name} client</h1><p>{PROSE} {name}.</p>"
        f"<h2>{at}.2. Limits of a request</h2><p>With {name}: {PROSE}</p>"
        for at, name in names
    }
    reasons = [one.unfit for one in from_headings(documents(**pages)) if "Limits" in one.question]
    assert reasons == ["the name of a part of many pages"] * 4


@pytest.mark.parametrize(
    ("heading", "prose"),
    [
        ("Option B", PROSE),
        ("Example 2", PROSE),
        ("Donations", PROSE),
        (
            "Lösung 3",
            "Der Client wartet eine Weile und stellt dann die gleiche Anfrage noch einmal.",
        ),
        ("算法二", "客户端先等待一段时间，然后再次发送同一个请求，最多重试五次，之后报告错误。"),
    ],
)
def test_a_word_with_a_number_is_the_name_of_a_part(heading, prose):
    library = documents(a_md=f"# The client\n\n{prose}\n\n## {heading}\n\nABC {prose}\n")
    assert {one.unfit for one in from_headings(library) if one.line == 5} == {
        "the usual name of a part"
    }


def test_a_heading_of_a_collection_of_projects_names_its_project():
    pages = {
        f"{name}/README.md": f"# {name}: calls for everyone\n\n{PROSE} {name}.\n\n"
        f"## Use it behind a proxy server of a {name[::-1]} company\n\nWith {name}: {PROSE}\n\n"
        f"## Support {name}\n\nFor {name}: {PROSE}\n"
        for name in ("Gauge", "Ruler", "Scale", "Meter")
    }
    library = Library([as_document(name, "markdown", text) for name, text in pages.items()])
    headed = [one.question for one in fit(from_headings(library)) if one.line == 5]
    # "It" points to its page; without it the heading needs the name of what it is about.
    assert headed == []
    texts = {name: text.replace("Use it", "Work") for name, text in pages.items()}
    library = Library([as_document(name, "markdown", text) for name, text in texts.items()])
    questions = [one.question for one in fit(from_headings(library))]
    assert "Gauge: Work behind a proxy server of a eguaG company" in questions
    assert not [one for one in questions if "Support" in one]
    alone = Library([as_document("README.md", "markdown", texts["Gauge/README.md"])])
    assert "Work behind a proxy server of a eguaG company" in [
        one.question for one in fit(from_headings(alone))
    ]


def test_a_project_without_a_title_is_named_by_its_folder():
    text = f"# Contributions only\n\n{PROSE}\n\n# What it is\n\n{PROSE}\n\n## Define a schema twice"
    pages = {
        f"{name}/README": f"{text}\n\nIn {name}: {PROSE}\n" for name in ("a1", "b2", "c3", "d4")
    }
    library = Library([as_document(name, "markdown", text) for name, text in pages.items()])
    assert {library.title_of(one) for one in library.documents} == {"a1", "b2", "c3", "d4"}


def test_the_name_of_a_site_above_each_page_is_not_its_title():
    page = "<h1>Gauge</h1><h2>Chapter {0} - The {1} client</h2><p>{2} {1}.</p><h3>Limits</h3>"
    names = enumerate(("blue", "red", "green", "white"), 1)
    pages = {f"{name}_html": page.format(at, name, PROSE) for at, name in names}
    library = documents(**pages)
    assert library.title_of(library.documents[1]) == "Chapter 2 - The red client"
    headed = [one.question for one in fit(from_headings(library))]
    assert "The red client" in headed


@pytest.mark.parametrize(
    ("usual", "parts", "prose"),
    [
        ("Settings", ("Common values", "Network values"), PROSE),
        (
            "Bedienung",
            ("Allgemeine Werte", "Werte des Netzes"),
            "Der Client wartet eine Weile und stellt dann die gleiche Anfrage noch einmal.",
        ),
    ],
)
def test_a_section_is_never_joined_with_a_heading_beside_its_own(usual, parts, prose):
    common, network = parts
    page = f"# {usual}\n\n## {common} {{0}}\n\n### retry {{0}}\n\n{prose} {{0}}.\n"
    page += f"\n## {network} {{0}}\n\n### timeout {{0}}\n\n{{0}}: {prose}\n"
    pages = {f"{name}_md": page.format(name) for name in ("blue", "red", "green", "white")}
    library = documents(**pages)
    assert {library.title_of(one) for one in library.documents} == {""}
    questions = [question for question, _ in asked(from_headings(library))]
    assert f"{common} red: retry red" in questions
    assert f"{network} red: timeout red" in questions
    assert not [one for one in questions if "timeout" in one and common in one]


@pytest.mark.parametrize(
    ("usual", "words", "prose"),
    [
        ("Wires", ("broker", "cable", "relay", "switch"), PROSE),
        (
            "Leitungen",
            ("broker", "kabel", "relais", "weiche"),
            "Der Client wartet eine Weile und stellt dann die gleiche Anfrage noch einmal.",
        ),
    ],
)
def test_a_title_of_several_pages_is_joined_where_only_one_has_such_a_section(usual, words, prose):
    page = (
        f"# {usual}\n\n## The {{0}} in the box\n\n{prose} {{0}}.\n\n## {{0}}\n\nA {{0}}: {prose}\n"
    )
    pages = {f"{word}_md": page.format(word) for word in words}
    questions = {question for question, _ in asked(from_headings(documents(**pages)))}
    alone = {f"{usual}: {word}" for word in words}
    assert not alone & questions  # another section of the page holds these words as well
    page = page.replace("The {0} in the box", "Boxes of {1} sort")
    pages = {f"{word}_md": page.format(word, word[::-1]) for word in words}
    questions = {question for question, _ in asked(from_headings(documents(**pages)))}
    assert alone <= questions


@pytest.mark.parametrize("second", [f"No. {PROSE}", "- no\n- yes", ""])
def test_a_heading_twice_under_the_same_one_asks_nothing_unless_one_has_no_text(second):
    page = (
        f"# The client\n\n{PROSE}\n\n## Blue server\n\n### Over the wire\n\n#### Limits\n\n{{}}\n"
    )
    page += "\n## Red server\n\n### Over the wire\n\n#### Limits\n\n{}\n"
    library = documents(a_md=page.format(f"Yes. {PROSE}", second))
    candidates = answered(from_headings(library))
    limits = [one for one in candidates if one.question.endswith("Limits")]
    assert ({one.unfit for one in limits} == {SEVERAL}) == bool(second)
    # Under other headings they are two questions.
    apart = page.replace("Over the wire", "Over the air", 1).format(PROSE, f"No. {PROSE}")
    questions = [question for question, _ in asked(from_headings(documents(a_md=apart)))]
    assert [one for one in questions if one.endswith("Limits")] == [
        "The client, Over the air: Limits",
        "The client, Over the wire: Limits",
    ]


@pytest.mark.parametrize(
    "heading",
    ["Annexe A. Retry a call twice", "A.1. Retry a call twice", "Retry a call twice \\"],
)
def test_numbers_and_signs_are_no_part_of_a_heading(heading):
    (one,) = fit(from_headings(documents(a_md=f"# {heading}\n\n{PROSE}\n")))
    assert one.question == "Retry a call twice"


def test_lines_of_code_without_a_fence_are_no_answer():
    code = "Matrix (void) Matrix (int r, int c) Matrix (double val) operator (row, column)\n" * 3
    assert not asked(from_headings(documents(a_txt=f"# Invert a large matrix\n\n{code}\n")))


@pytest.mark.parametrize(
    ("welcome", "name"), [("Welcome to Gauge", "Gauge"), ("欢迎来到 OI Wiki！", "OI Wiki")]
)
def test_a_greeting_is_no_title(welcome, name):
    assert documents(index_md=f"# {welcome}\n\n{PROSE}\n").title == name


@pytest.mark.parametrize(
    ("title", "prose"),
    [
        ("Gauge Documentation Instructions", PROSE),
        ("Translating the docs", PROSE),
        ("Gauge README", PROSE),
        ("Gauge: Contributing", PROSE),
        ("Dokumentation übersetzen", GERMAN),
        ("Traduction de Gauge", "La traduction est dans le dossier des pages, avec les images."),
        ("Gauge 文档编写", CHINESE),
        ("Gauge の翻訳", JAPANESE),
        ("Gauge Documentation Guide", CHINESE),
    ],
)
def test_a_first_page_about_the_documentation_gives_the_library_no_title(title, prose):
    own = "Gauge" if title == "Gauge: Contributing" else ""
    assert documents(README_md=f"# {title}\n\n{prose}\n").title == own
    pages = documents(README_md=f"# {title}\n\n{prose}\n", index_md=f"# Gauge\n\n{prose}\n")
    assert pages.title == "Gauge"


@pytest.mark.parametrize(
    ("title", "prose", "name"),
    [
        ("Home", PROSE, ""),
        ("Home Gauge", PROSE, "Home Gauge"),
        ("Startseite", GERMAN, ""),
        ("首页", CHINESE, ""),
        ("ホーム", JAPANESE, ""),
    ],
)
def test_the_name_of_a_first_page_as_such_gives_the_library_no_title(title, prose, name):
    assert documents(index_md=f"# {title}\n\n{prose}\n").title == name


def test_the_letters_that_an_announcement_must_have_stand_in_it():
    # "a|b" outside of brackets would have no letters that always stand in it.
    for language in languages().values():
        for always, pattern in language.announces:
            assert "|" not in always
            assert always in re.sub(r"\(\?:|\)", "", pattern.pattern)


def test_a_target_that_begins_with_the_scene_holds_the_answer_as_well():
    scene = "Sometimes you want to know what becomes of a failed call."
    long = f"{PROSE} It gives up after the third time and says so in its log."
    for text in (f"{scene} {long}", f"{scene}\n\n{long}", f"{scene}\n\n- {PROSE}\n- {PROSE}"):
        library = documents(a_md=f"# Retry a failed request\n\n{text}\n")
        assert asked(from_headings(library)) == [("Retry a failed request", " ".join(text.split()))]
    # Alone, it answers nothing; nor does what stops before its conclusion.
    assert not asked(from_headings(documents(a_md=f"# Retry a failed request\n\n{scene}\n")))
    text = f"# Retry a failed request\n\n{PROSE}\n\nHowever, {PROSE} {long} {long} {long}\n"
    (one,) = fit(from_headings(documents(a_md=text)))
    assert "However" in one.quotes[0]
    text = f"# Retry a failed request\n\n{' '.join([PROSE] * 7)}\n\nHowever, {PROSE}\n"
    assert not asked(from_headings(documents(a_md=text)))


def test_the_paragraph_above_the_headings_of_parts_is_no_target():
    text = f"# Client\n\n{PROSE} Yes.\n\n## Retry a failed request\n\n{PROSE}\n\n### Limits of it\n"
    candidates = answered(from_headings(documents(a_md=f"{text}\n{PROSE} No.\n")))
    (heading,) = [
        candidate
        for candidate in candidates
        if candidate.question.endswith("Retry a failed request")
    ]
    assert heading.unfit == "its parts answer it, below their own headings"


@pytest.mark.parametrize(
    "heading",
    [
        "Acknowledgments",
        "Q&A",
        "License Information",
        "See the server",
        "Lizenzhinweise",
        "问答",
        "質問と回答",
    ],
)
def test_headings_that_nobody_asks(heading):
    prose = {
        "Lizenzhinweise": "Der Client wartet eine Weile und stellt dann die Anfrage noch einmal."
    }
    prose |= {"问答": "客户端先等待一段时间，然后再次发送同一个请求，最多重试五次，之后报告错误。"}
    prose |= {
        "質問と回答": "クライアントはしばらく待ってから、同じリクエストをもう一度送信します。"
    }
    text = prose.get(heading, PROSE)
    assert not asked(
        from_headings(documents(a_md=f"# Clients\n\n{text}\n\n## {heading}\n\nA {text}\n"))
    )


def test_a_list_of_links_alone_is_no_target():
    links = "- [Retry a call](a.md)\n- [Wait for a call](b.md)\n- [Give up a call](c.md)"
    text = f"# Retry a failed request\n\nDo you want the client to try a call again?\n\n{links}\n"
    assert not asked(from_headings(documents(a_md=text)))


def test_a_tag_in_code_stays_in_its_heading():
    (document,) = documents(a_md=f"# Scripts in `<body>` run again\n\n{PROSE}\n").documents
    (section,) = document.sections
    assert section.heading == "Scripts in <body> run again"


def test_a_link_to_a_section_above_the_headings_of_its_parts_asks_nothing():
    parts = OTHER.replace("Yes.\n", f"Yes.\n\n### How often\n\n{PROSE} Five times.\n")
    (one,) = from_links(documents(a_md=GUIDE, b_md=parts))
    assert one.unfit == "its parts answer it, below their own headings"


def questions_of(**texts):
    return [one.question for one in fit(from_headings(documents(**texts)))]


@pytest.mark.parametrize(
    ("title", "above", "heading", "question"),
    [
        ("Blue client", "Tables", "Order", "Blue client, Tables: Order"),
        # What the heading says itself is not said before it.
        ("Blue client", "Tables", "Order of tables", "Blue client: Order of tables"),
        ("Blue client", "Tables", "Notes", None),
        # A title that says little: the two headings above, where there are two.
        ("Usage", "Tables", "Order", "Tables: Order"),
        ("Old: Blue client", "Tables", "Order", "Old: Blue client, Tables: Order"),
        ("Blue client", "Tables", "Other uses of tables", None),
        # Long enough alone, but of what? One that names it needs no title.
        ("Blue client", "Tables", "Wait between two failed calls", "Blue client, Tables: {}"),
        ("Blue client", "Tables", "Why does it wait between two failed calls?", None),
        ("Blue client", "Tables", "Why wait between two failed calls?", "Blue client, Tables: {}"),
        ("Questions", "Tables", "Why wait between two failed calls?", "{}"),
        ("Blue client", "Tables", "Wait between two blue calls", "{}"),
        ("`<wait>` element", "Tables", "Order", "<wait> element, Tables: Order"),
    ],
)
def test_a_heading_stands_behind_what_tells_of_what_it_speaks(title, above, heading, question):
    page = f"# {title}\n\n{BEGIN}\n\n## {above}\n\n- one\n- two\n\n### {heading}\n\n{PROSE}\n"
    last = [one for one in questions_of(a_md=page) if one.endswith(heading)]
    assert last == ([question.format(heading)] if question else [])


def test_the_name_of_the_library_tells_no_two_sections_apart():
    page = "# {}\n\n{}\n\n## {}\n\n{}\n"
    front = page.format("Gauge", BEGIN, "Why it is here", PROSE)
    other = page.format("Usage", BEGIN, "Event hooks", f"Here: {PROSE}")
    assert "Gauge Usage: Event hooks" in questions_of(README_md=front, b_md=other)
    # A second section about them: no library's name in front says which is meant.
    named = page.format("Gauge", BEGIN, "Event hooks", f"Here: {PROSE}")
    twin = page.format("Advanced", BEGIN, "Event hooks of old", f"There: {PROSE}")
    assert "Gauge: Event hooks" in questions_of(README_md=front, b_md=named)
    both = questions_of(README_md=front, b_md=named, c_md=twin)
    assert not [question for question in both if question.endswith("Event hooks")]


def test_a_page_without_a_title_has_the_name_of_its_file():
    text = f"# Notes\n\n{BEGIN}\n\n# Conduct\n\n{PROSE}\n\n# Colours\n\nSo: {PROSE}\n"
    assert "team chat: Conduct" in questions_of(team_chat_md=text)
    assert "chat: Conduct" in questions_of(u_e_chat_md=text)
    assert not any(one.startswith("index") for one in questions_of(index_md=text))


def test_a_long_heading_of_two_pages_is_asked_of_neither():
    page = "# {0} client\n\n{1} {0}.\n\n## Why wait between two failed calls?\n\n{2} {0}.\n"
    pages = {f"{name}_md": page.format(name, BEGIN, PROSE) for name in ("blue", "red")}
    assert not [one for one in questions_of(**pages) if "failed" in one]
    (alone,) = (one for one in questions_of(blue_md=pages["blue_md"]) if "failed" in one)
    assert alone.startswith("blue client: Why wait")


@pytest.mark.parametrize(
    "heading",
    ["Otherwise the client waits for calls", "Du coup, mon client est-il bien protégé ?"],
)
def test_a_heading_that_goes_on_with_what_stands_above_it_is_none(heading):
    language = "fr" if heading.startswith("Du") else "en"
    assert why_no_question(heading, language) == "points to its page"


def test_a_text_that_is_not_written_yet_answers_nothing():
    text = f"# Retry a failed request\n\n{PROSE} FIXME: say how often.\n"
    (one,) = answered(from_headings(documents(a_md=text)))
    assert one.unfit == "filler text"


@pytest.mark.parametrize(
    ("heading", "is_step"),
    [
        ("Step 2: Start the blue server again", True),
        ("Schritt 1 – Den blauen Server starten", True),
        ("步骤 3：启动蓝色服务器", True),
        ("Step by step to a blue server", False),
        ("Steps of a blue server", False),
    ],
)
def test_a_step_of_several_is_not_asked_alone(heading, is_step):
    text = f"# The gateway\n\n{BEGIN}\n\n## {heading}\n\n{PROSE}\n"
    last = [*from_headings(documents(a_md=text))][-1]
    assert (last.unfit == STEP) is is_step


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        ("Order of the blue tables", True),  # all words of the one stand in the other
        ("Tables", False),  # one word is too few
        ("Order of red tables", False),
        ("Colours of the server", False),
    ],
)
def test_a_heading_that_another_of_its_page_repeats_is_less_sure(other, is_alike):
    heading = "Order of blue tables in a page"
    page = f"# The gateway\n\n{BEGIN}\n\n## {heading}\n\n{PROSE}\n\n## {other}\n\n- {PROSE}\n"
    (one,) = (one for one in fit(from_headings(documents(a_md=page))) if heading in one.question)
    assert (one.share < SURE) is is_alike
    # Two words in another order say the same in scripts without spaces.
    text = "客户端先等待一段时间，然后再次发送同一个请求。"
    page = f"# 网关\n\n## 告警规则管理\n\n{text}\n\n## {{}}\n\n- 客户端\n"
    for words, alike in (("管理告警规则", True), ("查看访问日志", False)):
        library = documents(a_md=page.format(words))
        (one,) = (one for one in fit(from_headings(library)) if "告警规则管理" in one.question)
        assert (one.share < SURE) is alike


@pytest.mark.parametrize(
    "name", ["GnuCopyright", "3_0_release_notes", "the-license", "ChangeLog", "whats-new"]
)
def test_licences_and_lists_of_changes_ask_nothing(name):
    page = as_document(f"{name}.md", "markdown", f"# Blue clients\n\n{PROSE}\n")
    assert not [*from_headings(Library([page]))]
