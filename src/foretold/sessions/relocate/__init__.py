"""relocate."""
