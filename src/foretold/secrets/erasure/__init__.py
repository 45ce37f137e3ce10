"""Taking a text out of files: every way it may be spelled, and files of every format of ours."""
