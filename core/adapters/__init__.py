"""Technologies behind the ports of ``core``, one to a file; only ``core.bootstrap`` imports them."""
