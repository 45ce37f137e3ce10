"""What becomes of instructions when a conversation is compacted."""
