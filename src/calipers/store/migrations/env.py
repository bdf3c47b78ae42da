"""Run by Alembic: the missing migrations, inside the caller's transaction."""

from alembic import context

from calipers.store.schema import METADATA, VERSION_TABLE


def run() -> None:
    """Run the migrations on the caller's connection."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


# Alembic loads this file under that name; any other import runs nothing.
if __name__ == "env_py":
    run()
