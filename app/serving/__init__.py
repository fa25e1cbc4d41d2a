"""What stands between an ASGI server and the WSGI application: threads, bodies, answers that go on, slow clients."""
