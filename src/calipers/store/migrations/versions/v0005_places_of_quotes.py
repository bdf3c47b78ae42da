"""Where a quote stands in the text of its item; labels from before have no place."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column."""
    op.add_column("calipers_label", sa.Column("quote_start", sa.Integer()))
