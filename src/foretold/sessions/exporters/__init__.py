"""A session as a document: Markdown, HTML or JSON."""
