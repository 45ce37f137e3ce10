"""Writing memories: checks, transactions, history, inbox, team."""
