"""The page Compare, one part a file."""
