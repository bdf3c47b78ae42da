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
"""Every version of the tables, oldest first, with one migration each."""
HEAD = VERSIONS[-1]
VERSION_TABLE = "calipers_version"

# The names are prefixed, because a team's database has other tables too.
METADATA = MetaData()

EVALUATION = Table(
    "calipers_evaluation",
    METADATA,
    # Grows with every save; users see the id, which stays the same in another store.
    Column("number", Integer, primary_key=True),
    Column("id", String(16), nullable=False, unique=True),
    Column("name", String(100), nullable=False),
    # UTC as 2026-01-31T06:00:00.000000Z: readable, sorts as it reads, the same in every
    # database.
    Column("saved", String(27), nullable=False),
    Column("calipers", String(40), nullable=False),
    Column("git_commit", String(64)),
    Column("git_branch", Text),
    Column("git_dirty", Boolean),
    Column("queries", Integer, nullable=False),
    Column("ground_truth", String(64), nullable=False),
    Column("run", String(64), nullable=False),
    Column("corpus", String(64)),
    # Facts of the result, as JSON.
    Column("facts", Text, nullable=False),
    # Two parts: over the other columns and the tags; over the facts and the digests of
    # the parts.
    Column("checksum", String(32), nullable=False),
)


def _of_evaluation() -> Column[int]:
    """The evaluation that a row belongs to and is removed with."""
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
    # Both null: the summary over all queries.
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

# Contents by their SHA-256, so that what evaluations share (questions, ground truth,
# definitions) is stored once.
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
    # definitions, queries, scores; if they were saved: targets, results, texts.
    Column("kind", String(20), primary_key=True),
    Column(
        "digest",
        String(64),
        ForeignKey("calipers_content.digest"),
        nullable=False,
        index=True,
    ),
)

POOL = Table(
    "calipers_pool",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("created", String(27), nullable=False),
    # PoolSettings as JSON; fixed when the pool is created.
    Column("settings", Text, nullable=False),
    # Grows whenever its content changes or it is closed or reopened, so that a reader of
    # the log notices that its copy in memory is out of date.
    Column("version", Integer, nullable=False, server_default="0"),
    # Fingerprints of its runs, its ground truth and its items at creation, as JSON.
    Column("made_of", Text, nullable=False),
    Column("closed", String(27)),
    # Its content is gone then; its log stays.
    Column("deleted", String(27)),
    Column("items", Integer, nullable=False),
    Column("queries", Integer, nullable=False),
)

# The items, the results of the runs and the earlier ground truth. Stored as bytes,
# because texts of a corpus may contain characters that a database refuses.
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
    # A label sent twice, because the reply was lost, is one label.
    UniqueConstraint("pool", "judge", "request"),
)

# Sign-in sessions by server address; cookies as digests, which cannot be used to sign in.
SESSION = Table(
    "calipers_session",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("address", Text, nullable=False),
    Column("name", String(100), nullable=False),
    # Seconds since 1970.
    Column("until", Double, nullable=False),
)
# For looking up the latest evaluation of a name.
Index(
    "calipers_evaluation_by_name",
    EVALUATION.c.name,
    EVALUATION.c.saved,
    EVALUATION.c.number,
)
Index("calipers_evaluation_by_time", EVALUATION.c.saved, EVALUATION.c.number)
Index("calipers_evaluation_by_commit", EVALUATION.c.git_commit)
Index("calipers_label_in_order", LABEL.c.pool, LABEL.c.number)
