"""Finding the memories that a question is about: index, ranking, rendering."""
