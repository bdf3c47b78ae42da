"""The tables of the first release.

A new history gets the tables of ``calipers.store.schema`` and the latest version number;
only an existing one is migrated. To change the tables: change the schema, write the
migration from the previous version into a file here, and add the version to
``schema.VERSIONS``. Never change a migration once it was released.
"""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """There is nothing before the first version."""
