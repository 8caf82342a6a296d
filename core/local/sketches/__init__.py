"""Sketches for domains too large to count every value: reports of hashed values, of which any candidate is asked."""
