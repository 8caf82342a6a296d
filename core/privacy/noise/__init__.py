"""The only place where noise is drawn: exact samplers on whole numbers, and the random bits that they use."""
