"""One module per event of a conversation, each with `handle(context)`."""
