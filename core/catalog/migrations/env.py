"""Runs the migrations on the connection that the catalogue hands in."""

from alembic import context

from core.catalog.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
