"""What a change does to what each agent is given: the tree as it is, compared with an earlier commit."""
