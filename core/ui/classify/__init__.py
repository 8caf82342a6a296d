"""The page Classify, one part a file."""
