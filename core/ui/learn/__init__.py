"""The page Learn, one lesson a file."""
