"""Rivals that take the curve at public points and draw it between them."""
