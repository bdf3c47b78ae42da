"""The first tables: evaluations, their tags, summaries and contents."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "calipers_evaluation",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("id", sa.String(16), nullable=False, unique=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("saved", sa.String(27), nullable=False),
        sa.Column("calipers", sa.String(40), nullable=False),
        sa.Column("git_commit", sa.String(64)),
        sa.Column("git_branch", sa.Text()),
        sa.Column("git_dirty", sa.Boolean()),
        sa.Column("queries", sa.Integer(), nullable=False),
        sa.Column("ground_truth", sa.String(64), nullable=False),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("corpus", sa.String(64)),
        sa.Column("facts", sa.Text(), nullable=False),
    )
    op.create_table(
        "calipers_tag",
        _owner(),
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )
    op.create_table(
        "calipers_summary",
        _owner(),
        sa.Column("position", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("slice_tag", sa.Text()),
        sa.Column("slice_value", sa.Text()),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("mean", sa.Double()),
        sa.Column("median", sa.Double()),
        sa.Column("low", sa.Double()),
        sa.Column("high", sa.Double()),
        sa.Column("level", sa.Double()),
        sa.Column("method", sa.String(20)),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("undefined", sa.Integer(), nullable=False),
    )
    op.create_table(
        "calipers_content",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "calipers_part",
        _owner(),
        sa.Column("kind", sa.String(20), primary_key=True),
        sa.Column(
            "digest", sa.String(64), sa.ForeignKey("calipers_content.digest"), nullable=False
        ),
    )
    op.create_index("ix_calipers_part_digest", "calipers_part", ["digest"])


def _owner() -> sa.Column[int]:
    return sa.Column(
        "evaluation",
        sa.Integer(),
        sa.ForeignKey("calipers_evaluation.number", ondelete="CASCADE"),
        primary_key=True,
    )
