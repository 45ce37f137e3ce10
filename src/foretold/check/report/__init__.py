"""Reports of a check: one module per format. Data in, text out; nothing here prints or writes a file."""
