"""Sketches of random rows: hashed counts (RACE, MinHash) and random features."""
