"""Which files an agent would load: folders, names, rules, switches."""
