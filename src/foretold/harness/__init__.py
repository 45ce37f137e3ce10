"""An agent on all parts: one object per conversation. Importing this does nothing."""
