"""Routes of the server itself: access, state, stores, backups."""
