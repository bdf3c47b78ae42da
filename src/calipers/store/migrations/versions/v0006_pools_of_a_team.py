"""Pools know what they were made of, count their changes, are closed, and lend questions."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns and the table."""
    version = sa.Column("version", sa.Integer(), nullable=False, server_default="0")
    op.add_column("calipers_pool", version)
    op.add_column("calipers_pool", sa.Column("made_of", sa.Text()))
    op.add_column("calipers_pool", sa.Column("closed", sa.String(27)))
    op.add_column("calipers_pool", sa.Column("deleted", sa.String(27)))
    op.create_table(
        "calipers_pool_lease",
        sa.Column("pool", sa.Integer(), sa.ForeignKey("calipers_pool.number"), primary_key=True),
        sa.Column("share", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("judge", sa.String(100), nullable=False),
        sa.Column("until", sa.String(27), nullable=False),
    )
