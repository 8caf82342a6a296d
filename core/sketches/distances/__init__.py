"""Sketches for sums of distances and of vectors."""
