"""Glob matchers, each equal to one program's."""
