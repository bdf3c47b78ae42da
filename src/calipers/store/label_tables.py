"""The tables of labels: pools, their judges and contents, and the log that only grows."""

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from calipers.store.schema import METADATA

POOL = Table(
    "calipers_pool",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("created", String(27), nullable=False),
    # How it is judged, as JSON; fixed when the pool is made.
    Column("settings", Text, nullable=False),
)

POOL_JUDGE = Table(
    "calipers_pool_judge",
    METADATA,
    Column("pool", Integer, ForeignKey("calipers_pool.number"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", String(100), nullable=False),
    UniqueConstraint("pool", "name"),
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
    Column("note", Text),
    Column("undoes", Integer),
    Column("request", String(64), nullable=False),
    Column("saved", String(27), nullable=False),
    # A label that was sent twice, because the answer was lost, is one label.
    UniqueConstraint("pool", "judge", "request"),
)

Index("calipers_label_in_order", LABEL.c.pool, LABEL.c.number)
