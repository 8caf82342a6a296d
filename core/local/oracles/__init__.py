"""Frequency oracles: how one value of a public list is reported, and how reports become counts. One a file."""
