"""What lies beneath everything: the data folder, child processes, polling, retries, failpoints, memory."""
