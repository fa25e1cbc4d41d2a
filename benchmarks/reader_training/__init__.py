"""How the reader of `core/adapters/reading` was trained: windows of question sets and manuals, the run, its weights."""
