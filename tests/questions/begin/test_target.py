"""How a target begins and ends: with the code that answers, and never with what leads elsewhere."""

import pytest

from calipers.io.documents.sections import as_document
from calipers.io.documents.walk import KINDS
from calipers.questions.begin.candidates import LONGEST_QUOTE
from calipers.questions.begin.drawing import SURE
from calipers.questions.begin.headings import from_headings
from calipers.questions.begin.languages import goes_on, languages
from calipers.questions.begin.library import Library
from calipers.questions.begin.target import (
    GLUED,
    GOES_ON,
    NO_PROSE_FIRST,
    NOTICE,
    ONLY_LEADS,
    STOPS_SHORT,
    find_target,
)
from calipers.text import normalise

PROSE = "The client waits for a while and then tries the same call again."
LEADS = "To make the client wait between two calls of one server, set this:"
CODE = "wait = 30\ntries = 5\nserver = 'a.example'"
ROWS = [("name", "what it does"), ("---", "---"), ("wait", "seconds between calls")]
TABLE = "\n".join(f"| {left} | {right} |" for left, right in ROWS)
INDENTED = "\n".join(f"    {line}" for line in CODE.splitlines())
FENCED = f"```\n{CODE}\n```"
OTHERS = "\n\n".join(f"{PROSE} So does server {number}." for number in range(30))


def target(text, ending="md", language="en"):
    document = as_document(f"a.{ending}", KINDS[f".{ending}"], text)
    found = find_target(document, 0, len(document.text), language)
    # A target stands in its document as it is: else nothing could find it.
    assert normalise(found.quote) in normalise(document.text)
    return found


def plain(text):
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("md", f"{LEADS}\n\n```toml\n{CODE}\n```"),
        ("md", f"{LEADS}\n```toml\n{CODE}\n```\n\n{PROSE}"),
        ("md", f"{LEADS}\n\n~~~\na\n\nb\n~~~"),
        ("md", f"{LEADS}\n\n{INDENTED}"),
        ("md", f"{LEADS}\n\n{TABLE}\n\n{PROSE}"),
        ("rst", f"{LEADS}:\n\n{INDENTED}\n\n{INDENTED}"),
        ("rst", f"{LEADS}\n\n.. code-block:: toml\n\n{INDENTED}\n\n{PROSE}"),
        ("md", f"Es genügt, dem Client diese Werte so zu geben:\n\n```\n{CODE}\n```"),
        ("md", f"在客户端的配置文件中这样写，失败的请求就会在等待之后重新发送：\n\n{FENCED}"),
        ("md", f"クライアントの設定ファイルに、このように待ち時間を書きます。\n\n{FENCED}"),
    ],
)
def test_code_and_tables_that_have_room_stand_in_the_target_whole(ending, text):
    found = target(text, ending)
    assert (found.quote, found.share) == (plain(text), 1)


LONG_CODE = "\n".join(f"value_{number} = {number}" for number in range(99))
LONG_FENCED = f"```\n{LONG_CODE}\n```"


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("md", f"{LEADS}\n\n```\n{LONG_CODE}\n```"),
        ("md", f"{PROSE}\n\n```\n{LONG_CODE}\n```"),
        ("md", f"{PROSE}\n\n<table><tr><td>{LONG_CODE}</td></tr></table>"),
        ("md", f"{PROSE}\n\n{TABLE}" + "\n| a | b |" * 99),
        ("md", f"{PROSE} Set it so:\n\n![a picture](a.png)"),
        ("rst", f"{PROSE} Set it so::\n\n{LONG_CODE.replace('value', '    value')}"),
        ("rst", f"{PROSE}\n\n.. list-table::\n\n   * - wait\n     - 30"),
        # Programs read the code of a page in different ways.
        ("html", f"<p>{PROSE} Set it so:</p><pre>{CODE}</pre>"),
        ("html", f"<p>{PROSE}</p><table><tr><td>wait</td><td>30</td></tr></table>"),
        ("md", f"Der Client wartet eine Weile und stellt die Anfrage erneut.\n\n{LONG_FENCED}"),
        ("md", f"客户端先等待一段时间，然后再次发送同一个请求，最多重试五次。\n\n{LONG_FENCED}"),
        ("md", f"クライアントはしばらく待ってから、同じリクエストを再送します。\n\n{LONG_FENCED}"),
    ],
)  # fmt: skip
def test_a_short_text_that_stops_before_its_answer_is_no_target(ending, text):
    assert target(text, ending).unfit == STOPS_SHORT


def test_a_longer_text_may_answer_without_the_code_below_it_but_not_surely():
    found = target(f"{' '.join([PROSE] * 5)}\n\n```\n{LONG_CODE}\n```\n")
    assert found.quote == " ".join([PROSE] * 5)
    assert found.share < SURE


def test_little_of_a_long_section_and_half_a_list_do_not_surely_answer():
    assert target(f"{PROSE}\n\n{PROSE}").share == 1
    assert target(f"{PROSE}\n\n![a](a.png)\n\n{OTHERS}").share < SURE
    entries = "\n".join(f"- {PROSE} {number}" for number in range(20))
    found = target(f"{PROSE}\n\n{entries}")
    assert len(found.quote) <= LONGEST_QUOTE
    assert found.share < SURE


@pytest.mark.parametrize(
    ("language", "back", "own"),
    [
        ("en", "This time {}", "This key {}"),
        ("en", "Another way is that {}", "Anothers {}"),
        ("de", "Außerdem {}", "Außen {}"),
        ("fr", "En revanche {}", "En France {}"),
        ("es", "Sin embargo {}", "Sin red {}"),
        ("it", "Inoltre {}", "Inoltrare {}"),
        ("pt", "Além disso {}", "Além da rede {}"),
        ("nl", "Bovendien {}", "Boven {}"),
        ("ru", "Кроме того {}", "Кроме сервера {}"),
        ("zh", "此外，{}", "此接口{}"),
        ("ja", "また、{}", "または{}"[1:]),
    ],
)
def test_a_text_that_goes_on_with_what_stands_above_it_is_no_target(language, back, own):
    said = {
        "zh": "客户端先等待一段时间，然后再次发送同一个请求，最多重试五次，之后报告错误。",
        "ja": "クライアントはしばらく待ってから、同じリクエストをもう一度送信します。",
    }
    words = said.get(language, "client 3 server 5 wait 30 call again and then give it up.")
    assert target(back.format(words), language=language).unfit == GOES_ON
    assert target(own.format(words), language=language).unfit != GOES_ON


def test_every_language_knows_how_a_text_goes_on():
    for language in languages().values():
        assert language.goes_on.pattern != "(?:)(?!\\w)"
    assert goes_on("However, it waits.")
    assert not goes_on("Butter is kept cold.")


@pytest.mark.parametrize(
    ("ending", "text", "language"),
    [
        ("md", "A client is made first. See also [how a client is made](b.md#made).", "en"),
        ("md", f"{PROSE}\n\n- [Make a client](b.md)\n- See [the rules](c.md)", "en"),
        ("rst", "Eine Gruppe braucht zuerst Personen, die ihr angehören.\n\n"
         "**→ Siehe dazu:** :ref:`Personen hinzufügen <personen>`.", "de"),
        ("md", "2.1. [An overview of all filters](a.md) 2.2. [How a filter is used](b.md) 2.3. "
         "[Filters that wrap a line](c.md).", "en"),
        ("rst", "To write a filter, please refer to :issue:`1633` and leave a post.", "en"),
        ("md", "Für mehr lies bitte in der [Kategorie der Filter](../filter.md) weiter.", "de"),
        ("md", "Follow [these instructions](b.md#made) to make a client.", "en"),
        ("md", "Für den Client gelten die im @sec-client beschriebenen Regeln.", "de"),
        ("md", "Clients are made in several ways. Sometimes you want to wait.", "en"),
        # The name of a page that is there to be read is as good as a link.
        ("md", "Clients are made in one step. More on it is found in README.clients.", "en"),
        ("md", "Clients werden zuerst gebaut. Mehr Hinweise finden Sie in der README.", "de"),
        ("md", "Le client se fait ainsi. Vous trouverez le reste dans docs/client.md.", "fr"),
        # One sentence, of which the link is much.
        ("md", "A [plan for the years to come is there](b.md) for whoever makes clients.", "en"),
        ("md", "Für alle Clients gilt auch die [Liste der erlaubten Adressen](b.md).", "de"),
        ("md", "Clients are removed just like servers, which is not repeated here.", "en"),
        ("md", "Gruppen löscht man wie Personen; das wird hier nicht wiederholt.", "de"),
        ("md", "Le client se supprime comme un serveur, ce qui n'est pas répété ici.", "fr"),
        ("md", "客户端的删除方法和服务器的删除方法一样简单，因此不再重复，也没有其他步骤。", "zh"),
        ("md", "With this server the client works just the same as on Plan 9.", "en"),
        ("md", "Der Client funktioniert auf diesem Server genauso wie unter Plan 9.", "de"),
        ("md", "This chapter has something for clients. Read on if clients or servers are yours, "
         "or if you would have some of them, and have the time that all of it takes.", "en"),
        ("rst", "A client is made by hand, before any server. See also the pages of Server_ and "
         "Wire_. Both of them wait for calls.", "en"),
    ],
)  # fmt: skip
def test_little_beside_what_leads_elsewhere_is_no_target(ending, text, language):
    assert target(text, ending, language).unfit == ONLY_LEADS


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("A list of all clients is found in [the wiki](b.md). This wiki is long, and nobody has "
         "had the time to make it shorter. What each client needs on a "
         "server stands there as well, next to its makers, its names and its own rules.", "en"),
        ("Eine Liste der Clients finden Sie im [Wiki](b.md). Diese Liste ist lang, und noch "
         "niemand hatte Zeit, sie kürzer zu machen. Was jeder Client auf einem Server braucht, "
         "steht dort ebenso, neben seinen Herstellern, seinen Namen und den Regeln.", "de"),
        ("所有客户端的完整列表请查看[列表](b.md)。这个列表很长，到现在还没有人有时间把它改短，"
         "里面的许多客户端早已没有人使用，也没有人维护，更没有人测试它们。"
         "大家都在等待新的版本。", "zh"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_place_elsewhere_answers_nothing_here(text, language):
    assert target(text, language=language).unfit == ONLY_LEADS
    # What begins with another thing is about that.
    for back, other in (
        ("This wiki", "A call"),
        ("Diese Liste", "Die Zeit"),
        ("这个列表", "服务器"),
    ):
        text = text.replace(back, other)
    assert not target(text, language=language).unfit


@pytest.mark.parametrize(
    ("leads", "more", "language"),
    [
        (
            "The list of all clients that ever were is found in [the wiki](b.md).",
            "tries to name what each of them needs of a server, of a wire and of its makers, and "
            "which of them wait, which of them try again and which do none of it.",
            "en",
        ),
        (
            "Die Liste aller Clients, die es je gab, finden Sie im [Wiki](b.md).",
            "versucht zu nennen, was jeder von ihnen von Servern und Leitungen braucht, "
            "und welche von ihnen warten, welche noch einmal fragen und welche nichts davon tun.",
            "de",
        ),
    ],
)
def test_a_paragraph_about_an_address_goes_on_about_what_stands_elsewhere(leads, more, language):
    page = f"{leads}\n\nhttps://a.example/b {more}"
    assert target(page, language=language).unfit == ONLY_LEADS
    own = page.replace("https://a.example/b", "Client 7")
    assert not target(own, language=language).unfit


def test_one_sentence_with_several_links_may_name_what_it_lists():
    text = "A client that waits for its server is made by [the maker](b.md) or [the server](c.md)."
    assert not target(text).unfit
    file = "The client writes what it has done to /var/log/client.log when it is done."
    assert not target(file).unfit


@pytest.mark.parametrize(
    ("notice", "language"),
    [
        ("Copyright (C) 2007-2021 The makers of clients and of servers.", "en"),
        ("Copyright © The makers of clients and of servers and others.", "en"),
        ("© 2021 Die Hersteller der Clients und alle anderen, die genannt sind.", "de"),
        ("版权所有 © 客户端的作者和本手册其他章节的全部作者以及译者。", "zh"),
    ],
)
def test_a_notice_of_copyright_is_no_target(notice, language):
    assert target(f"{notice} {PROSE}", language=language).unfit == NOTICE
    assert not target("Copyright is kept for each file that the client has read.").unfit


def test_a_page_whose_paragraphs_begin_with_a_blank_is_quoted_as_it_stands():
    # The end of a paragraph was said twice, so that the target stood nowhere.
    found = target(f"<p> {PROSE} </p>\n<p> {PROSE} </p>", "html")
    assert found.quote == f"{PROSE} {PROSE}"


def test_sentences_of_two_paragraphs_without_blanks_are_quoted_as_they_stand():
    text = "次のように待ちます、そしてもう一度、同じリクエストを送信します。\n\n`wait`を使います。"
    assert target("客户端先等待一段时间，然后再次发送同一个请求。\n\n`wait` 秒之后。", "md", "zh")
    assert target(text, "md", "ja").unfit in ("", ONLY_LEADS)


@pytest.mark.parametrize(
    "table",
    [
        "====  =======\nname  meaning\n====  =======\nwait  seconds\n====  =======",
        "+------+------+\n| name | what |\n+------+------+\n| wait | time |\n+------+------+",
        ".. list-table::\n\n   * - wait\n     - seconds",
    ],
)
def test_what_stands_below_a_table_of_restructuredtext_is_no_answer(table):
    assert target(f"{table}\n\n{PROSE}\n", "rst").unfit == NO_PROSE_FIRST


def test_words_without_blanks_of_a_pdf_are_no_target():
    glued = f"{PROSE} Afterwardsitanswersthecalloftheserver again."
    assert target(glued, "pdf").unfit == GLUED
    assert not target(glued, "md").unfit
    assert not target(f"{PROSE} The Krankenversicherungsbeiträge stay.", "pdf").unfit


def test_a_section_above_the_headings_of_its_parts_does_not_surely_answer():
    parts = f"## Calls of a server\n\n{PROSE}\n\n{PROSE} Yes.\n\n### Limits of calls\n\n{PROSE} No."
    library = Library([as_document("a.md", "markdown", f"# Client\n\n{PROSE}\n\n{parts}\n")])
    headings = [heading.answered() for heading in from_headings(library)]
    shares = {heading.line: heading.share for heading in headings if heading.quotes}
    assert shares[5] < 1


def test_a_line_that_begins_with_a_role_of_a_domain_is_prose():
    role = ":py:meth:`~client.Client.retry`"
    text = f"The client waits for a while in\n{role} and then tries the same call.\n\n{PROSE}"
    assert target(text, "rst").quote == plain(text)
    assert target(f":wait: the seconds to wait\n\n{PROSE}", "rst").quote == PROSE


def test_a_target_that_mostly_announces_does_not_surely_answer():
    scene = "In this section all filters are listed, with what each of them does to a line."
    assert target(f"{PROSE} {PROSE} {scene}\n\n{PROSE}").share == 1
    assert target(f"{scene} {scene} {PROSE} {PROSE}\n\n{scene} {PROSE}").share < SURE


def test_a_list_first_is_no_target():
    assert target(f"- one\n- two\n\n{PROSE}").unfit == NO_PROSE_FIRST


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        (f"{PROSE} It tries five times, and waits for longer each time.", True),
        # All that it says, it says of pages that are linked.
        ("The client waits as [its limits](limits.md) say, and tries a failed call again.", False),
        # Beside the link it says enough.
        (f"The client has [limits](limits.md). {PROSE} {PROSE[:-1]}, and no more.", True),
        (f"{PROSE} It tries five times, and no more.\n\n- [All of its limits](limits.md)\n", False),
        # What has its details elsewhere may be answered there.
        (f"{PROSE} {PROSE[:-1]} (see [its limits](limits.md)). {PROSE} {PROSE}", False),
        (f"{PROSE} {PROSE[:-1]} (for [all limits](limits.md)). {PROSE} {PROSE}", True),
    ],
)
def test_a_target_whose_links_say_the_rest_is_less_sure(text, is_sure):
    found = target(text)
    assert found.quote
    assert (found.share >= SURE) is is_sure


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Some drums have a pitch and are written so. This is treated in other sections."),
        ("de", "Einige Trommeln haben eine Tonhöhe. Das wird in anderen Abschnitten behandelt."),
        ("fr", "Les tambours ont une hauteur. Ceci est traité dans d’autres sections du manuel."),
    ],
)
def test_what_other_sections_treat_is_not_answered(language, text):
    assert target(text, language=language).unfit == ONLY_LEADS


@pytest.mark.parametrize(
    ("language", "more"),
    [
        ("en", "For more information, ask the owner of the server."),
        ("de", "Näheres weiß der Besitzer des Servers."),
        ("fr", "Pour plus de détails, demandez au propriétaire."),
        ("es", "Para más información, pregunte al dueño."),
        ("it", "Per ulteriori dettagli, chiedete al proprietario."),
        ("pt", "Para mais informações, pergunte ao dono."),
        ("nl", "Voor meer informatie: de eigenaar."),
        ("ru", "Подробнее расскажет владелец сервера."),
        ("zh", "详情请咨询服务器的所有者。"),
        ("ja", "詳しくはサーバーの管理者に聞いてください。"),
    ],
)
def test_a_target_whose_details_are_elsewhere_is_less_sure(language, more):
    prose = {"zh": "客户端先等待一段时间，然后再次发送同一个请求，最多重试五次。"}.get(
        language, PROSE
    )
    assert target(f"{prose} {prose}", language=language).share >= SURE
    found = target(f"{prose} {prose} {more}", language=language)
    assert found.unfit == ONLY_LEADS or found.share < SURE


STEPS = [
    "Open the settings of the client in its menu.",
    "Choose how long the client waits between two calls.",
    "Close the settings, and start the client again.",
]


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("md", "\n".join(f"{number}. {step}" for number, step in enumerate(STEPS, 1))),
        ("md", "\n".join(f"- {step}" for step in STEPS)),
        ("md", f"{'Do this:'}\n\n" + "\n".join(f"* {step}" for step in STEPS)),
        ("rst", "\n".join(f"- {step}" for step in STEPS)),
    ],
)
def test_a_list_that_is_all_of_its_section_is_its_target(ending, text):
    found = target(f"{text}\n", ending)
    assert (found.quote, found.share) == (plain(text), 1)
    # A part of a section, or a list of links, of short entries or of what is to be done is none.
    assert not target(f"{text}\n\n![a picture](a.png)\n\n{OTHERS}\n", ending).quote
    assert not target("\n".join(f"- [x] {step}" for step in STEPS), ending).quote
    assert not target("- wait\n- try\n- stop\n", ending).quote
    links = "\n".join(f"- [{step}](a{number}.md)" for number, step in enumerate(STEPS))
    assert not target(links, "md").quote


def test_a_list_of_a_page_of_html_is_no_target():
    items = "".join(f"<li>{step}</li>" for step in STEPS)
    assert target(f"<ul>{items}</ul>", "html").unfit == NO_PROSE_FIRST


def test_a_line_of_code_in_a_paragraph_of_its_own_belongs_to_the_target():
    text = f"{PROSE}\n\n``sudo apt-get install -y client``\n\n{PROSE} It is new.\n"
    assert target(text).quote == plain(text)
    # What stands below code that is indented further, or only says that it is "here", is none.
    assert target(f"      'project' : id\n\n{PROSE}\n").unfit == NO_PROSE_FIRST
    here = f"{PROSE[:-1]} too. An example [here](https://client.example)."
    assert target(here).unfit == ONLY_LEADS or target(here).share < SURE
    marked = '- [The limits](https://client.example){:target="_blank"}'
    assert target(f"{PROSE} It tries five times, and no more.\n\n{marked}\n").share < SURE
