"""The tables of the first release.

A new history is made with the tables of ``calipers.store.schema`` and this or a later version
beside them; only one that exists is migrated. For a change of the tables: change the schema, write
the step from the version before into a file here, add the version to ``schema.VERSIONS``. A step
is never changed once it was released.
"""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """There is nothing before the first version."""
