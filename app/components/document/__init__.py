"""Elements of the pages Document, Documents, Audit, Upload and Home."""
