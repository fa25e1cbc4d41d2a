"""What an answer says is held against its passages."""
