"""Rivals that choose which columns belong together, and make people up from their counts."""
