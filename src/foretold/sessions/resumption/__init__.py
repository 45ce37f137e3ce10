"""resumption."""
