"""What is learned: memories from the turns of a conversation, and notes of it. Importing this does nothing."""
