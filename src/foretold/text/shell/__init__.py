"""Shell command lines."""
