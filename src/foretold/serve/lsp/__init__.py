"""`foretold lsp`: what `foretold check` finds and what becomes of a file, in an editor. Only `server` needs pygls."""
