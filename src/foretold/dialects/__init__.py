"""What each agent does, as tables: `table` has the words, one file per agent fills them in, `registry` finds them."""
