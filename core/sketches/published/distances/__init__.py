"""Rivals that sum distances: trees of counts, and few asked places."""
