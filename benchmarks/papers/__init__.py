"""The papers' experiments again, with every method as it should be: errors, times, and what came out."""
