"""What a question means: its words, dates, intent, the filters that it implies, its advanced syntax."""
