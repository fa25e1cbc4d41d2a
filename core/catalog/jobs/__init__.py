"""The job ledger: jobs, their log, leases, and whose turn it is."""
