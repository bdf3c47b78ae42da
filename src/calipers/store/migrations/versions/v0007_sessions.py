"""Pools know how much they hold, and who is signed in stays so when the server is started again."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns and the table."""
    op.add_column("calipers_pool", sa.Column("items", sa.Integer()))
    op.add_column("calipers_pool", sa.Column("queries", sa.Integer()))
    op.create_table(
        "calipers_session",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
    )
