"""Text formats: Markdown, frontmatter, globs, shell commands, diffs."""
