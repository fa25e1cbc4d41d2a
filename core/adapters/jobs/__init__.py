"""Jobs on several machines: Celery's queue, and progress through Redis."""
