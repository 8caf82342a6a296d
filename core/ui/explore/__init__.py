"""The page Explore, one view a file."""
