"""Which proposed memories may be kept, and why not the others."""
