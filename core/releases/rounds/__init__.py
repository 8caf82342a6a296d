"""Rounds: owners who do not trust each other make one release together, by files or over a network."""
