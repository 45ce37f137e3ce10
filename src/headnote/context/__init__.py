"""What surrounds a turn: environment, attachments, compaction, attribution."""
