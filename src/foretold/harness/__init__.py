"""A coding agent built on all parts of foretold: `foretold.Harness`."""
