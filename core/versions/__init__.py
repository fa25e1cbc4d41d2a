"""What the versions of a document are to each other: which one is shown, and which one was shown before."""
