"""Figures of the Learn page, one a lesson."""
