"""Checksums of evaluations and summaries; rows from before have none."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("calipers_evaluation", sa.Column("checksum", sa.String(32)))
    op.add_column("calipers_summary", sa.Column("checksum", sa.String(16)))
