"""The page Approve, where others are served."""
