"""Releases: planned, paid for, sealed with noise, saved, and asked for ever."""
