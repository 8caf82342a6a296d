"""How tables are filled: streams of batches, compiled loops, threads."""
