"""The wire formats of the model server."""
