"""The privacy ledger: what was promised for each data set, and every release that spent some of it."""
