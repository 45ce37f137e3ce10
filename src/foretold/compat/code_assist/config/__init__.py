"""The module paths of code-assist's `config` package."""
