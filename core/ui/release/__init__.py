"""The page Release, one part a file."""
