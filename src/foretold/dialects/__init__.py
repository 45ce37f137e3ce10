"""What each agent does, as tables: `schema.py` has fields, a module per agent the values; `registry.py` finds it."""
