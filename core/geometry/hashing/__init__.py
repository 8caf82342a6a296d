"""Locality-sensitive hash families: one family a file, collision probability = kernel."""
