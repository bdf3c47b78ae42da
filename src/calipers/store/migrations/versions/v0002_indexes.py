"""Indexes for what is looked up: the latest of a name, of any, of a commit."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the indexes."""
    table = "calipers_evaluation"
    op.create_index("calipers_evaluation_by_name", table, ["name", "saved", "number"])
    op.create_index("calipers_evaluation_by_time", table, ["saved", "number"])
    op.create_index("calipers_evaluation_by_commit", table, ["git_commit"])
