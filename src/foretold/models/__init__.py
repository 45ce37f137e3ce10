"""Who answers: what a model is asked and what it replies, whoever makes it. Importing this does nothing."""
