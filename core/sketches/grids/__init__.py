"""Sketches that count on a grid and read the counts through a kernel."""
