"""The tables of the history and of labels; docs/history.md is for people who query them."""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSIONS = ("0001",)
"""Every version the tables have had, oldest first: one migration each."""
HEAD = VERSIONS[-1]
VERSION_TABLE = "calipers_version"

# The names say whose they are: a team's database holds tables of others too.
METADATA = MetaData()

EVALUATION = Table(
    "calipers_evaluation",
    METADATA,
    # Grows with every save; the id is what people see, and stays the same in another store.
    Column("number", Integer, primary_key=True),
    Column("id", String(16), nullable=False, unique=True),
    Column("name", String(100), nullable=False),
    # UTC as 2026-01-31T06:00:00.000000Z: readable, sorts as it reads, the same in every database.
    Column("saved", String(27), nullable=False),
    Column("calipers", String(40), nullable=False),
    Column("git_commit", String(64)),
    Column("git_branch", Text),
    Column("git_dirty", Boolean),
    Column("queries", Integer, nullable=False),
    Column("ground_truth", String(64), nullable=False),
    Column("run", String(64), nullable=False),
    Column("corpus", String(64)),
    # What the result says of itself, as JSON.
    Column("facts", Text, nullable=False),
    # Of the other columns with the tags, then of the facts and the digests of the parts.
    Column("checksum", String(32), nullable=False),
)


def _of_evaluation() -> Column[int]:
    """The evaluation that a row belongs to and goes with."""
    owner = ForeignKey("calipers_evaluation.number", ondelete="CASCADE")
    return Column("evaluation", Integer, owner, primary_key=True)


TAG = Table(
    "calipers_tag",
    METADATA,
    _of_evaluation(),
    Column("name", String(100), primary_key=True),
    Column("value", Text, nullable=False),
)

SUMMARY = Table(
    "calipers_summary",
    METADATA,
    _of_evaluation(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    # Both null: over all queries.
    Column("slice_tag", Text),
    Column("slice_value", Text),
    Column("metric", Text, nullable=False),
    Column("mean", Double),
    Column("median", Double),
    Column("low", Double),
    Column("high", Double),
    Column("level", Double),
    Column("method", String(20)),
    Column("n", Integer, nullable=False),
    Column("undefined", Integer, nullable=False),
    Column("checksum", String(16), nullable=False),
)

# Contents by their SHA-256: what many evaluations share (questions, ground truth, definitions)
# is kept once.
CONTENT = Table(
    "calipers_content",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("bytes", LargeBinary, nullable=False),
)

PART = Table(
    "calipers_part",
    METADATA,
    _of_evaluation(),
    # definitions, queries, scores; where they were kept: targets, results, texts.
    Column("kind", String(20), primary_key=True),
    Column("digest", String(64), ForeignKey("calipers_content.digest"), nullable=False, index=True),
)

POOL = Table(
    "calipers_pool",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("created", String(27), nullable=False),
    # How it is judged, as JSON; fixed when the pool is made.
    Column("settings", Text, nullable=False),
    # Grows with every change of what it holds and whether it is open: whoever has it in memory
    # sees with the next reading of the log that it is another.
    Column("version", Integer, nullable=False, server_default="0"),
    # Fingerprints of its runs, its ground truth and its items when it was made, as JSON.
    Column("made_of", Text, nullable=False),
    Column("closed", String(27)),
    # What it held is gone then; its log stays.
    Column("deleted", String(27)),
    Column("items", Integer, nullable=False),
    Column("queries", Integer, nullable=False),
)

# What is judged, what the runs returned and what was known before. Texts of a corpus may hold
# anything, also characters that a database refuses in a text, so they are kept as bytes.
POOL_CONTENT = Table(
    "calipers_pool_content",
    METADATA,
    Column("pool", Integer, ForeignKey("calipers_pool.number"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    # items, targets, queries, run
    Column("kind", String(20), nullable=False),
    Column("name", Text),
    Column("digest", String(64), nullable=False),
    Column("bytes", LargeBinary, nullable=False),
)

LABEL = Table(
    "calipers_label",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("pool", Integer, ForeignKey("calipers_pool.number"), nullable=False),
    Column("item", Integer, nullable=False),
    Column("judge", String(100), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("grade", Double),
    Column("quote", Text),
    Column("quote_start", Integer),
    Column("note", Text),
    Column("undoes", Integer),
    Column("request", String(64), nullable=False),
    Column("saved", String(27), nullable=False),
    # A label that was sent twice, because the answer was lost, is one label.
    UniqueConstraint("pool", "judge", "request"),
)

# Who is signed in to the server of an address: cookies as their digests, which let nobody in.
SESSION = Table(
    "calipers_session",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("address", Text, nullable=False),
    Column("name", String(100), nullable=False),
    # Seconds since 1970.
    Column("until", Double, nullable=False),
)
# How evaluations are looked for: the latest of a name, of a branch, of a commit.
Index("calipers_evaluation_by_name", EVALUATION.c.name, EVALUATION.c.saved, EVALUATION.c.number)
Index("calipers_evaluation_by_time", EVALUATION.c.saved, EVALUATION.c.number)
Index("calipers_evaluation_by_commit", EVALUATION.c.git_commit)
Index("calipers_label_in_order", LABEL.c.pool, LABEL.c.number)
