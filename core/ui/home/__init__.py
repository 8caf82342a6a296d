"""The page Home: what only it has."""
