"""Files that are written safely, and a read-only view of the file system."""
