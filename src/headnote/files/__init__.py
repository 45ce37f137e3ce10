"""What an agent touched: which files it has read, and what they were before it changed them."""
