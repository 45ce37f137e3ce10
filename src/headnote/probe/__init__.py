"""Run a real agent against a model on the loopback interface, and read what it sends."""
