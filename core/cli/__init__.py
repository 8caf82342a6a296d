"""The command line: every command makes, reads or describes releases."""
