"""Public random linear maps to fewer dimensions, which keep distances on average."""
