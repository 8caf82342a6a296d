"""The page Explore, one view or a few a file."""
