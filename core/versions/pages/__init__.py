"""Pages of documents as they look, drawn when somebody looks at them."""
