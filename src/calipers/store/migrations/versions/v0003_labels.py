"""Labels: pools to judge, their judges and contents, and the log of what was said."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "calipers_pool",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("created", sa.String(27), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
    )
    op.create_table(
        "calipers_pool_judge",
        _pool(key=True),
        sa.Column("position", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.UniqueConstraint("pool", "name"),
    )
    op.create_table(
        "calipers_pool_content",
        _pool(key=True),
        sa.Column("position", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "calipers_label",
        sa.Column("number", sa.Integer(), primary_key=True),
        _pool(key=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("judge", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("grade", sa.Double()),
        sa.Column("quote", sa.Text()),
        sa.Column("note", sa.Text()),
        sa.Column("undoes", sa.Integer()),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("saved", sa.String(27), nullable=False),
        sa.UniqueConstraint("pool", "judge", "request"),
    )
    op.create_index("calipers_label_in_order", "calipers_label", ["pool", "number"])


def _pool(*, key: bool) -> sa.Column[int]:
    owner = sa.ForeignKey("calipers_pool.number")
    return sa.Column("pool", sa.Integer(), owner, primary_key=key, nullable=False)
