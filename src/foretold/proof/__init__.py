"""Proof that the answers are right: recorded cases to run again, and probes of the real agents."""
