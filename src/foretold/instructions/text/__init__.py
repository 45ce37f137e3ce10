"""From the bytes of an instruction file to its text: decoding, cutting, imports, mentions."""
