"""Records that a report is made from: a plain set, and one in which every text is hostile."""

import calipers

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "javascript:window.hacked=1",
    "<a href='javascript:window.hacked=1'>click</a>",
    "right \u202e to left",
    "null \x00 byte \x1b[31m",
    "{{ 7 * 7 }} {% include 'x' %} ${window.hacked = 1}",
    "<!-- <style>body { display: none }</style>",
    "\ud800 half a pair".encode("utf-8", "replace").decode(),
    "x" * 1_000_000,
    "line\u2028separator]]>",
)


def records(count=30):
    """Queries of which every third is found first, every third later, every third never."""
    made = []
    for number in range(count):
        chunks = [
            {"id": f"c{number}-{rank}", "score": 1 / rank, "text": f"chunk {rank} of {number}"}
            for rank in range(1, 13)
        ]
        wanted = {0: [f"c{number}-1"], 1: [f"c{number}-4", "nowhere"], 2: ["nowhere"]}[number % 3]
        made.append(
            {
                "id": f"q{number}",
                "query": f"What is number {number}?",
                "retrieved": chunks,
                "ground_truth": wanted,
                "tags": {"type": "even" if number % 2 == 0 else "odd"},
            }
        )
    return made


def hostile_records():
    """Every text, id, tag and quote that a page shows, made to break it."""
    made = []
    for number, text in enumerate(HOSTILE):
        short = text[:2000]
        made.append(
            {
                "id": f"{number} {short}",
                "query": text,
                "tags": {"kind <b>": short[:100]},
                "ground_truth": [{"quote": short}, {"quote": f"missing {short}"}],
                "retrieved": [
                    {"id": f"{rank}{short}", "document": short, "text": f"{rank} {text} end"}
                    for rank in range(3)
                ],
            }
        )
    return made


def reversed_records(count=30):
    """The same queries, answered the other way round."""
    made = records(count)
    for record in made:
        record["retrieved"].reverse()
    return made


def report_of(made, **settings):
    """A report of some records."""
    return calipers.report(made, **settings)
