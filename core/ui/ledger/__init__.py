"""The page Ledger, one part a file."""
