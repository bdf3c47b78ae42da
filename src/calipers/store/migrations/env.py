"""What Alembic runs: the missing steps, inside the transaction that the caller opened."""

from alembic import context

from calipers.store.schema import METADATA, VERSION_TABLE


def run() -> None:
    """Take the steps on the connection that the caller handed over."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


# Alembic loads this file under that name; anybody else only looks at it.
if __name__ == "env_py":
    run()
