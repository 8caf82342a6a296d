"""Auditing whole releases, through the doors that people use, by exact replay."""
