"""The page Learn: its lessons, and the course that they make."""
