"""Figures that set mechanisms side by side."""
