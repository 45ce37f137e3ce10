"""What was said: conversations that agents keep on disk, and a writer for harnesses."""
